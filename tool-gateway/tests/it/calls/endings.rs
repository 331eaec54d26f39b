//! Calls that do not end by themselves, or not well: failures, deadlines, cancellations.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use skill_core::CallStatus::{Aborted, Error, Success, TimedOut};
use tool_gateway::{Access, ErrorKind, ToolError, ToolOutput};

use crate::support::*;

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
