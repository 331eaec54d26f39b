//! What a tool gets to know and what comes back from it.

use serde_json::json;
use skill_core::StateDelta;
use tool_gateway::{
    Access, Gateway, MAX_OUTPUT_BYTES, Mode, SkillOpened, ToolContext, ToolError, ToolOutput,
};

use crate::support::*;

#[tokio::test]
async fn every_result_and_every_error_is_capped() {
    let gateway = open_gateway(vec![
        tool("long", vec![], |_, _| async {
            Ok(ToolOutput::text("中".repeat(100_000)))
        }),
        tool("fails", vec![], |_, _| async {
            Err(ToolError::failed("é".repeat(100_000)))
        }),
    ]);
    for name in ["long", "fails"] {
        let record = dispatch_one(&gateway, call("c1", name, json!({}))).await;
        assert!(record.result.content.len() <= MAX_OUTPUT_BYTES);
        assert!(
            record.result.content.contains("[cut: these are the first "),
            "{name}"
        );
    }
    let unknown = dispatch_one(&gateway, call("c1", &"x".repeat(100_000), json!({}))).await;
    assert!(unknown.result.content.len() <= MAX_OUTPUT_BYTES);
}

#[tokio::test]
async fn state_and_opened_skill_come_back_with_the_record() {
    let output = || {
        let mut state = StateDelta::default();
        state.set("key", "value");
        let opened = SkillOpened {
            id: "s".into(),
            version: None,
            digest: "d".into(),
        };
        ToolOutput {
            content: "ok".into(),
            state,
            opened: Some(opened),
        }
    };
    let gateway = open_gateway(vec![tool(
        "t",
        vec![],
        move |_, _| async move { Ok(output()) },
    )]);
    let record = dispatch_one(&gateway, call("c1", "t", json!({}))).await;
    assert_eq!(
        (record.state, record.opened),
        (output().state, output().opened)
    );
    assert!(
        record
            .arguments_digest
            .is_some_and(|digest| digest.len() == 64)
    );
}

#[tokio::test]
async fn a_tool_knows_its_call_and_what_was_granted_and_nothing_more() {
    let look = |context: ToolContext, _| async move {
        let granted = context.is_granted(&Access::read("a"));
        let other = context.is_granted(&Access::read("b"));
        Ok(ToolOutput::text(format!(
            "{} {granted} {other} {}",
            context.call_id(),
            context.may_read("secret/x")
        )))
    };
    let gateway = Gateway::builder()
        .tool(tool("t", vec![Access::read("a")], look))
        .policy(policy(Mode::Headless, &["deny read(secret/**)"]))
        .build()
        .unwrap();
    let record = dispatch_one(&gateway, call("c1", "t", json!({}))).await;
    assert_eq!(record.result.content, "c1 true false false");
}
