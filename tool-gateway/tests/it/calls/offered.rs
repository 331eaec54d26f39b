//! Which tools can be called at all: known, allowed, not restricted away.

use std::sync::Arc;

use serde_json::json;
use skill_core::CallStatus::{Rejected, Success};
use tool_gateway::{Access, Gateway, Mode, RegistryError};

use crate::support::*;

#[tokio::test]
async fn an_unknown_tool_is_rejected_with_the_nearest_name_and_nobody_is_asked() {
    let answers = Answers::allow();
    let log = Recorder::default();
    let gateway = Gateway::builder()
        .tool(echo("read_file", vec![]))
        .approver(answers.clone())
        .build()
        .unwrap();
    let records = gateway
        .dispatch(&[call("c1", "raed_file", json!({}))], &context(), &log)
        .await
        .unwrap();
    assert_eq!(
        brief(&records[0]),
        (
            Rejected,
            Some("not_found"),
            "no tool named `raed_file`; did you mean `read_file`?"
        )
    );
    assert_eq!(log.steps(), ["pending c1", "finished c1 rejected"]);
    assert_eq!(answers.count(), 0);
}

#[tokio::test]
async fn a_tool_outside_the_whitelist_is_rejected_and_no_approval_can_run_it() {
    let answers = Answers::allow();
    let gateway = Gateway::builder()
        .tools([echo("read", vec![]), echo("erase", vec![])])
        .allow_only(["read"])
        .policy(policy(Mode::Interactive, &["allow tool(*)"]))
        .approver(answers.clone())
        .build()
        .unwrap();
    let record = dispatch_one(&gateway, call("c1", "erase", json!({}))).await;
    assert_eq!(
        brief(&record),
        (
            Rejected,
            Some("denied"),
            "`erase` is not available here and did not run; go on without it"
        )
    );
    assert!(record.denied);
    assert_eq!(answers.count(), 0);
    assert_eq!(
        gateway
            .definitions()
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["read"]
    );
}

#[tokio::test]
async fn what_an_active_skill_restricts_is_outside_the_whitelist() {
    let gateway = open_gateway(vec![echo("read", vec![]), echo("erase", vec![])]);
    let mut context = context();
    context.restrict = Some(Arc::new(["read".to_owned()].into()));
    let calls = [
        call("c1", "read", json!({})),
        call("c2", "erase", json!({})),
    ];
    let records = gateway
        .dispatch(&calls, &context, &Recorder::default())
        .await
        .unwrap();
    assert_eq!(
        records
            .iter()
            .map(|record| record.result.status)
            .collect::<Vec<_>>(),
        [Success, Rejected]
    );
}

#[test]
fn tools_that_cannot_be_told_apart_or_called_are_refused_when_the_gateway_is_built() {
    let build = |names: &[&'static str], allowed: &[&str]| {
        let tools = names.iter().map(|name| echo(name, vec![]));
        Gateway::builder()
            .tools(tools)
            .allow_only(allowed.iter().copied())
            .build()
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        build(&["a", "a"], &[]),
        RegistryError::Duplicate("a".into())
    );
    assert_eq!(build(&["a b"], &[]), RegistryError::Name("a b".into()));
    assert_eq!(
        build(&["read_file"], &["raed_file"]).to_string(),
        "no tool named `raed_file` to allow; did you mean `read_file`?"
    );
}

#[tokio::test]
async fn explaining_a_call_names_the_rule_and_runs_nothing() {
    let gateway = Gateway::builder()
        .tool(tool("t", vec![Access::write("a")], |_, _| async {
            panic!("it must not run")
        }))
        .policy(policy(Mode::Headless, &["deny write(*)"]))
        .build()
        .unwrap();
    let decision = gateway
        .explain(&call("c1", "t", json!({})), &context())
        .unwrap();
    assert_eq!(
        decision.explain(),
        "deny write(a): rule `deny write(*)` (user)"
    );
    assert_eq!(
        gateway
            .explain(&call("c1", "u", json!({})), &context())
            .unwrap_err(),
        "no tool named `u`; did you mean `t`?"
    );
}
