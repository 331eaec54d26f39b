//! No effect without a record of the intent to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_gateway::{Access, ToolOutput};

use crate::support::*;

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
