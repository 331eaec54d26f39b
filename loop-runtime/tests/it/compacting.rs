//! Long conversations: summed up when they run over, never losing what is active.

use std::sync::Arc;

use loop_runtime::{Compaction, EventKind, JournalEvent, Summariser, TurnOutcome, TurnRequest};
use prompt_compiler::{Budget, Residency};
use skill_core::ModelId;
use skill_core::testing::{Answer, ScriptedProvider};

use crate::bench::{Bench, again};

/// A bench with a small window.
fn small(answers: Vec<Answer>) -> Bench {
    Bench::new(answers).with_agent(|agent| {
        agent.budget = Budget {
            window: 8_000,
            reserve_output: 500,
            ..Budget::default()
        };
        agent.compaction = Compaction {
            summary_tokens: 400,
            ..Compaction::default()
        };
    })
}

fn long(word: &str) -> String {
    format!("{word} {}", "blah ".repeat(300))
}

/// Runs turns with long tasks until one compacts; returns its events and the report.
async fn until_compacted(bench: &Bench, turns: usize) -> (loop_runtime::TurnReport, usize) {
    let (mut report, _) = bench.run(TurnRequest::task(long("first"))).await;
    let mut compactions = 0;
    for number in 1..turns {
        let task = long(&format!("task-{number}"));
        let (next, events) = bench.run(again(&report, &task)).await;
        assert_eq!(next.outcome, TurnOutcome::Completed, "{:?}", next.failure);
        compactions += events
            .iter()
            .filter(|event| {
                matches!(&event.kind, EventKind::Notice { code, .. } if code == "compacted")
            })
            .count();
        report = next;
    }
    (report, compactions)
}

fn answers(count: usize) -> Vec<Answer> {
    (0..count)
        .map(|number| Answer::text(&format!("answer-{number}")))
        .collect()
}

#[tokio::test]
async fn a_conversation_over_the_high_water_goes_on_with_excerpts_and_the_journal_keeps_all() {
    let bench = small(answers(9));
    let (report, compactions) = until_compacted(&bench, 9).await;
    assert!(compactions > 0);
    let last = bench.provider.requests().pop().unwrap();
    let system = last.system.concat();
    assert!(
        system.contains("the conversation before this, in short"),
        "{system}"
    );
    assert!(system.contains("- user: first blah"), "{system}");
    assert!(!last.messages[0].joined_text().starts_with("first"));
    let record = bench.agent.store.load(&report.session).await.unwrap();
    let kept = serde_json::to_string(&record.entries).unwrap();
    assert!(kept.contains(&long("first")));
}

#[tokio::test]
async fn a_resumed_session_compacts_to_the_same_request_again() {
    let bench = small(answers(10));
    let (report, _) = until_compacted(&bench, 8).await;
    let record = bench.agent.store.load(&report.session).await.unwrap();
    let one = loop_runtime::Projection::of(&record.entries);
    let other = loop_runtime::Projection::of(&record.entries);
    assert_eq!(one, other);
    assert!(one.summary.is_some());
    let (report, _) = bench.run(again(&report, "short")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
}

#[tokio::test]
async fn a_smaller_model_writes_the_summary_and_its_cost_is_counted() {
    let summariser = ScriptedProvider::new(vec![
        Answer::text("NOTES OF WHAT WAS"),
        Answer::text("MORE NOTES"),
    ]);
    let bench = small(answers(9)).with_agent(|agent| {
        agent.compaction.summariser = Some(Summariser {
            provider: Arc::clone(&summariser) as _,
            model: ModelId::new("small"),
        });
    });
    let (report, _) = until_compacted(&bench, 6).await;
    let shown = |request: &skill_core::CompletionRequest| {
        request.system.concat().contains("NOTES OF WHAT WAS")
    };
    assert!(bench.provider.requests().iter().any(shown));
    let [request, ..] = &summariser.requests()[..] else {
        panic!("one request")
    };
    assert_eq!(request.model.as_str(), "small");
    assert!(request.tools.is_empty());
    let record = bench.agent.store.load(&report.session).await.unwrap();
    let written = record.entries.iter().any(|entry| {
        matches!(&entry.event, JournalEvent::Compacted { by, usage, .. } if by == "small" && usage.input == 10)
    });
    assert!(written);
}

#[tokio::test]
async fn a_summary_that_does_not_come_whole_is_replaced_by_excerpts() {
    let cut = Answer::Events(vec![skill_core::CompletionEvent::TextDelta("half".into())]);
    let summariser = ScriptedProvider::new(vec![cut]);
    let bench = small(answers(9)).with_agent(|agent| {
        agent.compaction.summariser = Some(Summariser {
            provider: summariser,
            model: ModelId::new("small"),
        });
    });
    let (_, compactions) = until_compacted(&bench, 6).await;
    assert!(compactions > 0);
    let last = bench.provider.requests().pop().unwrap();
    assert!(last.system.concat().contains("- user: first blah"));
}

#[tokio::test]
async fn an_open_skill_is_placed_whole_after_its_call_was_compacted_away() {
    let mut script = vec![Answer::calls(&[(
        "c1",
        "open_skill",
        "{\"id\":\"weekly\"}",
    )])];
    script.extend(answers(9));
    let bench = small(script);
    until_compacted(&bench, 9).await;
    let last = bench.provider.requests().pop().unwrap();
    let text = serde_json::to_string(&last).unwrap();
    assert!(!text.contains("c1\""), "the call is still there");
    assert_eq!(text.matches("STEP ONE").count(), 1);
}

#[tokio::test]
async fn a_skill_that_expired_does_not_come_back_with_compaction() {
    let mut script = vec![Answer::calls(&[(
        "c1",
        "open_skill",
        "{\"id\":\"weekly\"}",
    )])];
    script.extend(answers(9));
    let bench = small(script).with_agent(|agent| agent.preset.residency = Residency::Turn);
    until_compacted(&bench, 9).await;
    let last = bench.provider.requests().pop().unwrap();
    assert!(!serde_json::to_string(&last).unwrap().contains("STEP ONE"));
}

#[tokio::test]
async fn a_long_turn_compacts_its_own_closed_steps_and_keeps_the_task() {
    let mut script: Vec<Answer> = (0..12)
        .map(|number| {
            let arguments = format!("{{\"text\":\"{}\"}}", long(&format!("step-{number}")));
            Answer::calls(&[(&format!("c{number}"), "note", &arguments)])
        })
        .collect();
    script.push(Answer::text("done"));
    let bench = small(script);
    let (report, events) = bench.run(TurnRequest::task("THE TASK")).await;
    assert_eq!(
        report.outcome,
        TurnOutcome::Completed,
        "{:?}",
        report.failure
    );
    let compacted = events.iter().filter(
        |event| matches!(&event.kind, EventKind::Notice { code, .. } if code == "compacted"),
    );
    assert!(compacted.count() > 0);
    let last = bench.provider.requests().pop().unwrap();
    assert_eq!(last.messages[0].joined_text(), "THE TASK");
}

#[tokio::test]
async fn l05_what_cannot_be_made_smaller_is_not_compacted_over_and_over() {
    let huge = "x".repeat(4_000);
    let script = vec![
        Answer::calls(&[("c1", "note", "{\"text\":\"a\"}")]),
        Answer::calls(&[("c2", "note", "{\"text\":\"b\"}")]),
        Answer::calls(&[("c3", "note", "{\"text\":\"c\"}")]),
        Answer::text("done"),
    ];
    let bench = small(script);
    let (report, events) = bench.run(TurnRequest::task(huge)).await;
    assert_eq!(
        report.outcome,
        TurnOutcome::Completed,
        "{:?}",
        report.failure
    );
    let compacted = events.iter().filter(
        |event| matches!(&event.kind, EventKind::Notice { code, .. } if code == "compacted"),
    );
    assert_eq!(compacted.count(), 0);
}
