//! The other kinds of entries.

use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Rejected, Success};
use tool_gateway::{
    Access, Approval, NativeSkill, SkillFailure, SkillJob, SkillResult, ToolOutput,
};

use super::{Trusting, World, value};
use crate::support::*;

#[tokio::test]
async fn a_command_gets_its_parameters_as_json_and_its_secrets_by_name() {
    let world = World::new();
    let yaml = "parameters: {n: {type: integer}}\npolicies: {secrets: [TICKET_TOKEN]}\nentry: {command: [./run.sh, fixed]}\n";
    let script = "#!/bin/sh\ninput=$(cat)\necho \"log line\" >&2\nprintf '{\"argument\": \"%s\", \"input\": %s, \"token\": \"%s\", \"other\": \"%s\"}' \"$1\" \"$input\" \"$TICKET_TOKEN\" \"$OTHER\"\n";
    world.skill("cmd", yaml, &[("run.sh", script)]);
    let record = world.run("cmd", json!({"n": 3})).await;
    assert_eq!(
        value(&record),
        json!({"argument": "fixed", "input": {"n": 3}, "token": "[redacted]", "other": ""})
    );
}

#[tokio::test]
async fn how_a_command_ends_decides_what_is_said() {
    let world = World::new();
    let yaml = "entry: {command: [./run.sh]}\n";
    world.skill("text", yaml, &[("run.sh", "#!/bin/sh\necho just text\n")]);
    assert_eq!(value(&world.run("text", json!({})).await), "just text\n");
    world.skill(
        "fails",
        yaml,
        &[("run.sh", "#!/bin/sh\necho why >&2\nexit 3\n")],
    );
    let record = world.run("fails", json!({})).await;
    assert_eq!(
        brief(&record),
        (Error, Some("tool"), "`fails` failed: exit status: 3: why")
    );
    world.skill("busy", yaml, &[("run.sh", "#!/bin/sh\nexit 75\n")]);
    let record = world.run("busy", json!({})).await;
    assert_eq!(record.error_kind, Some("unavailable"));
}

#[tokio::test]
async fn a_request_carries_parameters_and_secrets_in_their_places() {
    let world = World::new();
    let yaml = r#"
parameters: {id: {type: string}, n: {type: integer}}
policies: {secrets: [TICKET_TOKEN]}
entry:
  http:
    method: POST
    url: "https://api.example.com/v1/{id}/200"
    headers: {authorization: "Bearer {secret:TICKET_TOKEN}"}
    body: {n: "{n}", text: "n is {n}"}
"#;
    world.skill("http", yaml, &[]);
    let record = world.run("http", json!({"id": "../x", "n": 3})).await;
    assert_eq!(
        value(&record),
        json!({
            "method": "POST", "url": "https://api.example.com/v1/..%2Fx/200",
            "headers": {"authorization": "Bearer [redacted]"},
            "body": {"n": 3, "text": "n is 3"},
        })
    );
    for (status, kind) in [("404", "tool"), ("503", "unavailable")] {
        world.skill("status", &yaml.replace("/200", &format!("/{status}")), &[]);
        let record = world.run("status", json!({"id": "a", "n": 1})).await;
        assert_eq!(record.error_kind, Some(kind), "{}", record.result.content);
    }
    // What forbids the host forbids the skill.
    let gateway = world.gateway(
        &["allow skill(*)", "deny http(* api.example.com/**)"],
        Answers::allow(),
    );
    let record = world
        .call(&gateway, "http", json!({"id": "a", "n": 3}))
        .await;
    assert_eq!(record.result.status, Rejected);
}

#[derive(Debug)]
struct Doubles;

#[async_trait::async_trait]
impl NativeSkill for Doubles {
    async fn run(&self, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        match job.params.get("n").and_then(Value::as_i64) {
            Some(n) => Ok(SkillResult::ok(n * 2)),
            None => Err(SkillFailure::new(SkillFailure::BUSINESS, "no n")),
        }
    }
}

#[tokio::test]
async fn a_function_of_the_program_and_a_tool_of_the_gateway_are_entries_too() {
    let mut world = World::new();
    world
        .host
        .native
        .insert("double".to_owned(), Arc::new(Doubles));
    world.host.tools.push(tool(
        "shout",
        vec![Access::write("loud")],
        |context, arguments| async move {
            assert!(context.is_granted(&Access::write("loud")));
            Ok(ToolOutput::text(
                arguments["word"].as_str().unwrap().to_uppercase(),
            ))
        },
    ));
    world.skill(
        "native",
        "parameters: {n: {type: integer}}\nentry: {native: double}\n",
        &[],
    );
    assert_eq!(value(&world.run("native", json!({"n": 21})).await), 42);
    world.skill(
        "tooled",
        "parameters: {word: {type: string}}\nentry: {tool: shout}\n",
        &[],
    );
    assert_eq!(
        value(&world.run("tooled", json!({"word": "hey"})).await),
        "HEY"
    );
    let gateway = world.gateway(&["allow skill(*)", "deny write(loud)"], Answers::allow());
    let record = world.call(&gateway, "tooled", json!({"word": "hey"})).await;
    assert_eq!(record.result.status, Rejected);
    world.skill("missing", "entry: {native: none}\n", &[]);
    let record = world.run("missing", json!({})).await;
    assert_eq!(record.result.status, Error);
}

#[tokio::test]
async fn what_is_not_trusted_or_has_nothing_to_run_does_not_run() {
    let mut world = World::new();
    world.skill(
        "cmd",
        "entry: {command: [./run.sh]}\n",
        &[("run.sh", "#!/bin/sh\ntouch ran\n")],
    );
    world.host.trust = Arc::new(Trusting(Some("not trusted; see `tekne trust`")));
    let record = world.run("cmd", json!({})).await;
    assert_eq!(
        brief(&record),
        (Rejected, Some("denied"), "not trusted; see `tekne trust`")
    );
    world.host.trust = Arc::new(Trusting(None));
    let record = world.run("nothing", json!({})).await;
    assert_eq!(record.error_kind, Some("not_found"));
    assert_eq!(record.result.content, "skill not found: test.nothing");
    assert!(!world.folder("cmd").join("ran").exists());
}

#[tokio::test]
async fn a_deny_of_the_program_holds_for_the_skill_and_an_allow_does_not_replace_its_own() {
    let world = World::new();
    world.skill("cmd", "entry: {command: [sh, -c, 'echo hi']}\n", &[]);
    let denied = world.gateway(&["allow skill(*)", "deny run(sh)"], Answers::allow());
    let record = world.call(&denied, "cmd", json!({})).await;
    assert_eq!(record.result.status, Rejected);
    let no = Answers::always(Approval::Deny {
        reason: "no".into(),
    });
    let asked = world.gateway(&["allow run(**)"], no.clone());
    let record = world.call(&asked, "cmd", json!({})).await;
    assert_eq!((record.result.status, no.count()), (Rejected, 1));
    let record = world.run("cmd", json!({})).await;
    assert_eq!(record.result.status, Success);
}

#[tokio::test]
async fn a_package_that_changes_between_question_and_yes_does_not_run() {
    #[derive(Debug)]
    struct Swapping(std::path::PathBuf);
    #[async_trait::async_trait]
    impl tool_gateway::Approver for Swapping {
        async fn decide(&self, _request: &tool_gateway::ApprovalRequest) -> Approval {
            std::fs::write(&self.0, "#!/bin/sh\ntouch swapped\n").unwrap();
            Approval::Allow
        }
    }
    let world = World::new();
    world.skill(
        "cmd",
        "entry: {command: [./run.sh]}\n",
        &[("run.sh", "#!/bin/sh\necho good\n")],
    );
    let script = world.folder("cmd").join("run.sh");
    let gateway = world.gateway(&[], Arc::new(Swapping(script)));
    let record = world.call(&gateway, "cmd", json!({})).await;
    assert_eq!(record.result.status, Rejected, "{}", record.result.content);
    assert!(!world.folder("cmd").join("swapped").exists());
}
