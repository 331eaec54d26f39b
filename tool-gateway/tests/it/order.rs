//! Which calls run together, and that nobody can tell from the results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tool_gateway::{Access, DynTool, ToolOutput};

use crate::support::*;

fn contents(records: &[tool_gateway::CallRecord]) -> Vec<&str> {
    records
        .iter()
        .map(|record| record.result.content.as_str())
        .collect()
}

/// A tool that ends only when `together` calls of it run at the same time.
fn meeting(name: &'static str, access: Vec<Access>, barrier: &Arc<Barrier>) -> Arc<dyn DynTool> {
    let barrier = barrier.clone();
    tool(name, access, move |_, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(ToolOutput::text(name))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn calls_that_do_not_touch_each_other_run_together() {
    let barrier = Arc::new(Barrier::new(3));
    let gateway = open_gateway(vec![
        meeting("a", vec![Access::read("x")], &barrier),
        meeting("b", vec![Access::read("x")], &barrier),
        meeting("c", vec![Access::write("y")], &barrier),
    ]);
    let calls = ["a", "b", "c"].map(|name| call(name, name, json!({})));
    let records = gateway
        .dispatch(&calls, &context(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(contents(&records), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn results_stand_in_call_order_whatever_ends_first() {
    let wait = tool(
        "wait",
        vec![Access::read("x")],
        |_, arguments: Value| async move {
            let ms = arguments["ms"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(ToolOutput::text(ms.to_string()))
        },
    );
    let gateway = open_gateway(vec![wait]);
    let calls = [30, 10, 20].map(|ms| call(&format!("c{ms}"), "wait", json!({"ms": ms})));
    let log = Recorder::default();
    let records = gateway.dispatch(&calls, &context(), &log).await.unwrap();
    assert_eq!(contents(&records), ["30", "10", "20"]);
    assert_eq!(
        log.steps()[3..],
        [
            "running c30",
            "running c10",
            "running c20",
            "finished c10 success",
            "finished c20 success",
            "finished c30 success",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_touch_each_other_run_one_after_the_other_in_call_order() {
    for access in [
        Access::write("same"),
        Access::Tool("t".into()),
        Access::Run(vec!["make".into()]),
    ] {
        let trace: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = trace.clone();
        let step = tool("t", vec![access.clone()], move |context, _| {
            let seen = seen.clone();
            async move {
                let id = context.call_id().to_owned();
                seen.lock().unwrap().push(format!("{id} begins"));
                tokio::time::sleep(Duration::from_millis(10)).await;
                seen.lock().unwrap().push(format!("{id} ends"));
                Ok(ToolOutput::text(id))
            }
        });
        let gateway = open_gateway(vec![step]);
        let calls = ["c1", "c2", "c3"].map(|id| call(id, "t", json!({})));
        gateway
            .dispatch(&calls, &context(), &Recorder::default())
            .await
            .unwrap();
        let expected = [
            "c1 begins",
            "c1 ends",
            "c2 begins",
            "c2 ends",
            "c3 begins",
            "c3 ends",
        ];
        assert_eq!(*trace.lock().unwrap(), expected, "{access}");
    }
}

#[tokio::test]
async fn many_dispatches_at_once_keep_their_calls_apart() {
    let who = tool(
        "who",
        vec![Access::read("x")],
        |context, arguments: Value| async move {
            tokio::task::yield_now().await;
            Ok(ToolOutput::text(format!(
                "{} {}",
                context.call_id(),
                arguments["n"]
            )))
        },
    );
    let gateway = Arc::new(open_gateway(vec![who]));
    let dispatches = (0..10).map(|n| {
        let gateway = gateway.clone();
        tokio::spawn(async move {
            let calls: Vec<_> = (0..10)
                .map(|i| call(&format!("{n}-{i}"), "who", json!({"n": n})))
                .collect();
            let records = gateway
                .dispatch(&calls, &context(), &Recorder::default())
                .await
                .unwrap();
            let expected: Vec<String> = (0..10).map(|i| format!("{n}-{i} {n}")).collect();
            assert_eq!(contents(&records), expected);
        })
    });
    for dispatch in dispatches.collect::<Vec<_>>() {
        dispatch.await.unwrap();
    }
}
