//! What becomes of one call: every way it can end, each with one terminal state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use skill_core::CallStatus::{Aborted, Error, Rejected, Success, TimedOut};
use skill_core::StateDelta;
use tool_gateway::{
    Access, ErrorKind, Gateway, Limits, MAX_OUTPUT_BYTES, Mode, RegistryError, SkillOpened,
    ToolContext, ToolError, ToolOutput, function,
};

use crate::support::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema matters")]
struct Mail {
    to: String,
    copies: u8,
    priority: Option<Priority>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    High,
}

fn mail_gateway() -> Gateway {
    open_gateway(vec![function(
        "send_mail",
        "Sends mail.",
        |_: Mail| async { Ok(ToolOutput::text("sent")) },
    )])
}

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
async fn arguments_that_are_no_json_object_are_an_error_that_says_where() {
    let gateway = mail_gateway();
    for (text, problem) in [
        (
            r#"{"to": "a", copies: 1}"#,
            "the arguments are not JSON: key must be a string at line 1 column 13; send one JSON object",
        ),
        (
            r#"{"to": "a", "cop"#,
            "the arguments are cut off: EOF while parsing a string at line 1 column 16; send the whole JSON object again, in smaller pieces if it is long",
        ),
        ("[1]", "the arguments must be a JSON object, got an array"),
        ("\"x\"", "the arguments must be a JSON object, got \"x\""),
        (
            r#"{"to":"a","copies":1} trailing"#,
            "the arguments are not JSON: trailing characters at line 1 column 23; send one JSON object",
        ),
    ] {
        let record = dispatch_one(&gateway, raw_call("c1", "send_mail", text)).await;
        assert_eq!(brief(&record), (Error, Some("invalid_arguments"), problem));
        assert_eq!(record.arguments_digest, None);
    }
}

#[tokio::test]
async fn one_error_names_every_problem_of_the_arguments() {
    let arguments = json!({"copies": 300, "priority": "urgent", "tu": "a"});
    let record = dispatch_one(&mail_gateway(), call("c1", "send_mail", arguments)).await;
    assert_eq!(
        (record.result.status, record.error_kind),
        (Error, Some("invalid_arguments"))
    );
    let mut lines: Vec<&str> = record.result.content.lines().collect();
    assert_eq!(
        lines.remove(0),
        "the arguments of `send_mail` are not valid:"
    );
    lines.sort_unstable();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[0].starts_with("- `to` is missing (expected string)"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("- at `/copies`: "), "{lines:?}");
    assert!(lines[2].starts_with("- at `/priority`: "), "{lines:?}");
    assert_eq!(lines[3], "- unknown field `tu`; did you mean `to`?");
}

#[tokio::test]
async fn arguments_beyond_the_bound_are_refused_unread() {
    let limits = Limits {
        arguments_bytes: 10,
        ..Limits::default()
    };
    let gateway = Gateway::builder()
        .tool(echo("t", vec![]))
        .limits(limits)
        .build()
        .unwrap();
    let record = dispatch_one(&gateway, call("c1", "t", json!({"long": "text"}))).await;
    assert_eq!(
        brief(&record),
        (
            Error,
            Some("invalid_arguments"),
            "the arguments have 15 bytes; at most 10 are taken"
        )
    );
}

#[tokio::test]
async fn a_call_without_argument_text_is_a_call_without_arguments() {
    let gateway = open_gateway(vec![echo("t", vec![])]);
    assert_eq!(
        brief(&dispatch_one(&gateway, raw_call("c1", "t", "")).await),
        (Success, None, "t")
    );
}

#[tokio::test]
async fn a_panic_in_a_tool_ends_its_call_and_nothing_else() {
    let gateway = open_gateway(vec![
        tool("bad", vec![Access::read("a")], |_, _| async {
            panic!("the secret cause")
        }),
        echo("good", vec![Access::read("a")]),
    ]);
    let calls = [call("c1", "bad", json!({})), call("c2", "good", json!({}))];
    let records = gateway
        .dispatch(&calls, &context(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(
        brief(&records[0]),
        (
            Error,
            Some("panic"),
            "`bad` failed inside; the fault is the tool's, not that of the arguments"
        )
    );
    assert_eq!(records[0].detail.as_deref(), Some("the secret cause"));
    assert_eq!(brief(&records[1]), (Success, None, "good"));
}

#[tokio::test]
async fn what_an_operator_reads_of_a_failure_the_model_does_not() {
    let gateway = open_gateway(vec![tool("t", vec![], |_, _| async {
        let cause = std::io::Error::other("token abc was refused");
        Err(ToolError::new(ErrorKind::NotFound, "no such account").with_source(cause))
    })]);
    let record = dispatch_one(&gateway, call("c1", "t", json!({}))).await;
    assert_eq!(
        brief(&record),
        (Error, Some("not_found"), "no such account")
    );
    assert_eq!(record.detail.as_deref(), Some("token abc was refused"));
}

#[tokio::test(start_paused = true)]
async fn a_call_past_its_deadline_is_stopped_and_its_late_result_discarded() {
    let finished = Arc::new(AtomicUsize::new(0));
    let counter = finished.clone();
    let slow = tool("slow", vec![], move |_, _| {
        let counter = counter.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(ToolOutput::text("late"))
        }
    });
    let gateway = open_gateway(vec![slow]);
    let record = dispatch_one(&gateway, call("c1", "slow", json!({}))).await;
    assert_eq!(
        brief(&record),
        (
            TimedOut,
            None,
            "`slow` did not finish within 30s and was stopped; part of its effect may have happened"
        )
    );
    assert_eq!(record.duration_ms, 30_000);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(finished.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_within_fifty_milliseconds() {
    let hang = tool("hang", vec![], |_, _| std::future::pending());
    let gateway = open_gateway(vec![hang]);
    let context = context();
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let started = tokio::time::Instant::now();
    let log = Recorder::default();
    let calls = [call("c1", "hang", json!({})), call("c2", "hang", json!({}))];
    let records = gateway.dispatch(&calls, &context, &log).await.unwrap();
    assert!(
        started.elapsed() < Duration::from_millis(1050),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(
        brief(&records[0]),
        (
            Aborted,
            None,
            "`hang` was cancelled while it ran; part of its effect may have happened"
        )
    );
    assert_eq!(
        brief(&records[1]),
        (Aborted, None, "cancelled before it ran; nothing happened")
    );
    assert_eq!(
        log.steps(),
        [
            "pending c1",
            "pending c2",
            "running c1",
            "finished c1 aborted",
            "finished c2 aborted"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_cannot_hold_up_a_cancellation() {
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Arc::new(std::sync::Mutex::new(blocked));
    let (entered, waiting) = std::sync::mpsc::channel();
    let gateway = open_gateway(vec![tool("block", vec![], move |_, _| {
        let blocked = blocked.clone();
        let entered = entered.clone();
        async move {
            entered.send(()).unwrap();
            let _ = blocked.lock().unwrap().recv();
            Ok(ToolOutput::text("late"))
        }
    })]);
    let context = context();
    let cancel = context.cancel.clone();
    let canceller = std::thread::spawn(move || {
        waiting.recv().unwrap();
        cancel.cancel();
    });
    let calls = [call("c1", "block", json!({}))];
    let records = gateway
        .dispatch(&calls, &context, &Recorder::default())
        .await
        .unwrap();
    canceller.join().unwrap();
    // The tool is blocked still: only now it may go on.
    assert_eq!(records[0].result.status, Aborted);
    drop(release);
}

#[tokio::test]
async fn a_cancelled_context_runs_nothing() {
    let gateway = open_gateway(vec![echo("t", vec![])]);
    let context = context();
    context.cancel.cancel();
    let log = Recorder::default();
    gateway
        .dispatch(&[call("c1", "t", json!({}))], &context, &log)
        .await
        .unwrap();
    assert_eq!(log.steps(), ["pending c1", "finished c1 aborted"]);
}

#[tokio::test]
async fn dropping_the_dispatch_stops_the_tools_it_started() {
    struct Alive(Option<tokio::sync::oneshot::Sender<()>>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.take().map(|gone| gone.send(()));
        }
    }
    let (gone, dropped) = tokio::sync::oneshot::channel();
    let (entered, started) = tokio::sync::oneshot::channel();
    let parts = std::sync::Mutex::new(Some((Alive(Some(gone)), entered)));
    let gateway = open_gateway(vec![tool("hang", vec![], move |_, _| {
        let (alive, entered) = parts.lock().unwrap().take().unwrap();
        async move {
            entered.send(()).unwrap();
            let _alive = alive;
            std::future::pending().await
        }
    })]);
    let (context, log, calls) = (
        context(),
        Recorder::default(),
        [call("c1", "hang", json!({}))],
    );
    tokio::select! {
        _ = gateway.dispatch(&calls, &context, &log) => unreachable!("the tool never ends"),
        started = started => started.unwrap(),
    }
    dropped.await.unwrap();
}

#[tokio::test]
async fn nothing_runs_whose_intent_could_not_be_recorded() {
    for step in ["pending", "running"] {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        let gateway = open_gateway(vec![tool("t", vec![], move |_, _| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok(ToolOutput::text("ran")) }
        })]);
        let log = Recorder::failing_at(step);
        let calls = [call("c1", "t", json!({})), call("c2", "t", json!({}))];
        let error = gateway
            .dispatch(&calls, &context(), &log)
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "call event not recorded: no space left");
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{step}");
    }
}

#[tokio::test]
async fn calls_that_run_when_the_log_fails_are_waited_for() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let gateway = open_gateway(vec![tool("t", vec![Access::read("a")], move |_, _| {
        let counter = counter.clone();
        async move {
            tokio::task::yield_now().await;
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(ToolOutput::text("ran"))
        }
    })]);
    let log = Recorder::failing_at("running c2");
    let calls = [
        call("c1", "t", json!({})),
        call("c2", "t", json!({})),
        call("c3", "t", json!({})),
    ];
    gateway
        .dispatch(&calls, &context(), &log)
        .await
        .unwrap_err();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(
        log.steps(),
        [
            "pending c1",
            "pending c2",
            "pending c3",
            "running c1",
            "finished c1 success"
        ]
    );
}

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
