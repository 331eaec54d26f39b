//! Turns that are cut, cancelled, refused or too large.

use std::sync::Arc;
use std::time::Duration;

use loop_runtime::{ErrorKind, EventKind, JournalEvent, TurnOutcome, TurnRequest};
use skill_core::testing::Answer;
use skill_core::{CompletionEvent, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, again};

#[tokio::test]
async fn a_stream_that_is_cut_runs_no_tool_and_is_truncated() {
    let call = CompletionEvent::ToolCallDelta {
        index: 0,
        id: Some("c1".into()),
        name: Some("note".into()),
        arguments: "{\"text\":\"x\"}".into(),
    };
    let text = CompletionEvent::TextDelta("half".into());
    let cuts = [
        Answer::Events(vec![text.clone(), call.clone()]),
        Answer::Cut(vec![text, call], ProviderErrorKind::Unavailable),
    ];
    for cut in cuts {
        let bench = Bench::new(vec![cut, Answer::text("next")]);
        let (report, _) = bench.run(TurnRequest::task("go")).await;
        assert_eq!(report.outcome, TurnOutcome::Truncated);
        assert_eq!(bench.effects(), 0);
        let (report, _) = bench.run(again(&report, "again")).await;
        assert_eq!(report.text, "next");
    }
}

#[tokio::test]
async fn a_provider_error_names_its_kind() {
    let kinds = [
        (ProviderErrorKind::Unauthorized, ErrorKind::Unauthorized),
        (ProviderErrorKind::RateLimited, ErrorKind::RateLimited),
        (ProviderErrorKind::Protocol, ErrorKind::Protocol),
        (ProviderErrorKind::Timeout, ErrorKind::Timeout),
    ];
    for (given, expected) in kinds {
        let bench = Bench::new(vec![Answer::Error(given)]);
        let (report, _) = bench.run(TurnRequest::task("go")).await;
        assert_eq!(report.outcome, TurnOutcome::Error(expected));
        assert!(report.failure.unwrap().message.contains("scripted failure"));
    }
}

#[tokio::test]
async fn cancelling_while_the_answer_streams_keeps_what_was_said_and_ends_aborted() {
    let bench = Bench::new(vec![
        Answer::Hang(vec![CompletionEvent::TextDelta("so far".into())]),
        Answer::text("next"),
    ]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let (report, _) = bench
        .run_with(TurnRequest::task("go"), cancel, move |event| {
            if matches!(event.kind, EventKind::TextDelta { .. }) {
                stop.cancel();
            }
        })
        .await;
    assert_eq!(
        (report.outcome.clone(), report.text.as_str()),
        (TurnOutcome::Aborted, "so far")
    );
    let (report, _) = bench.run(again(&report, "again")).await;
    assert_eq!(report.text, "next");
    let request = bench.provider.requests().pop().unwrap();
    assert!(request.messages[1].joined_text().contains("aborted"));
}

#[tokio::test]
async fn cancelling_before_the_turn_sends_nothing_at_all() {
    let bench = Bench::new(vec![Answer::text("never")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (report, _) = bench
        .run_with(TurnRequest::task("go"), cancel, |_| {})
        .await;
    assert_eq!(report.outcome, TurnOutcome::Aborted);
    assert!(bench.provider.requests().is_empty());
}

#[tokio::test]
async fn a_task_that_cannot_fit_is_a_context_limit_with_no_call() {
    let bench = Bench::new(vec![Answer::text("never")]);
    let (report, _) = bench.run(TurnRequest::task("x".repeat(300_000))).await;
    assert_eq!(report.outcome, TurnOutcome::ContextLimit);
    assert!(report.failure.unwrap().message.contains("the task with"));
    assert!(bench.provider.requests().is_empty());
}

#[tokio::test]
async fn dropping_the_run_stops_the_worker() {
    let bench = Bench::new(vec![Answer::Hang(Vec::new())]);
    let agent = Arc::clone(&bench.agent);
    let run = async move {
        let mut sink = |_| {};
        agent
            .run(TurnRequest::task("go"), CancellationToken::new(), &mut sink)
            .await
    };
    assert!(
        tokio::time::timeout(Duration::from_millis(20), run)
            .await
            .is_err()
    );
    let ended = async {
        loop {
            let session = bench.agent.store.list(1).await.unwrap().pop().unwrap();
            let record = bench.agent.store.load(&session.header.id).await.unwrap();
            if let Some(JournalEvent::TurnFinished { outcome, .. }) =
                record.entries.last().map(|entry| entry.event.clone())
            {
                return outcome;
            }
            tokio::task::yield_now().await;
        }
    };
    let outcome = tokio::time::timeout(Duration::from_secs(5), ended)
        .await
        .unwrap();
    assert_eq!(outcome, TurnOutcome::Aborted);
}
