//! Turns that a guard ends: limits hold before the spend, loops end with a name.

use std::time::Duration;

use loop_runtime::{Prices, TurnLimits, TurnOutcome, TurnRequest};
use prompt_compiler::Budget;
use skill_core::testing::Answer;
use skill_core::{CompletionEvent, StopReason, Usage};

use crate::bench::{Bench, again};

fn note(id: &str, text: &str) -> Answer {
    let arguments = format!("{{\"text\":\"{text}\"}}");
    Answer::calls(&[(id, "note", &arguments)])
}

#[tokio::test]
async fn p22_a_token_budget_holds_before_the_call_and_the_turn_goes_on_when_resumed() {
    let usage = Usage {
        input: 3_000,
        output: 10,
        cached: 0,
    };
    let expensive = Answer::Events(vec![
        CompletionEvent::ToolCallDelta {
            index: 0,
            id: Some("c0".into()),
            name: Some("note".into()),
            arguments: "{\"text\":\"x\"}".into(),
        },
        CompletionEvent::Finished {
            stop: StopReason::ToolCalls,
            usage,
        },
    ]);
    let bench = Bench::new(vec![expensive, Answer::text("done")]).limits(TurnLimits {
        tokens: Some(4_000),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::Budget);
    assert_eq!(report.usage, usage);
    assert_eq!((bench.effects(), bench.provider.requests().len()), (1, 1));
    let (report, _) = bench.run(again(&report, "go on")).await;
    assert_eq!(report.text, "done");
}

#[tokio::test]
async fn p22_the_longest_answer_is_narrowed_to_what_the_budget_leaves() {
    let cut = Answer::Events(vec![
        CompletionEvent::TextDelta("half".into()),
        skill_core::testing::finished(StopReason::MaxTokens),
    ]);
    let bench = Bench::new(vec![cut]).limits(TurnLimits {
        tokens: Some(6_000),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let most = bench.provider.requests()[0].max_output_tokens.unwrap();
    assert!(u64::from(most) < Budget::default().reserve_output, "{most}");
    assert_eq!(report.outcome, TurnOutcome::Budget);
}

#[tokio::test]
async fn p22_money_without_known_prices_sends_nothing() {
    let bench = Bench::new(vec![Answer::text("never")]).limits(TurnLimits {
        usd: Some(1.0),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::Budget);
    assert!(bench.provider.requests().is_empty());
}

#[tokio::test]
async fn what_a_turn_cost_is_reported_where_prices_are_known() {
    let prices = Prices {
        input: 1.0,
        cached: 0.1,
        output: 2.0,
    };
    let bench = Bench::new(vec![Answer::text("done")]).limits(TurnLimits {
        prices: Some(prices),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let cost = report.cost_usd.unwrap();
    assert!((cost - 20.0e-6).abs() < 1e-12, "{cost}");
}

#[tokio::test]
async fn p22_tool_calls_beyond_the_limit_do_not_run_and_the_model_reads_that_they_did_not() {
    let batch = Answer::calls(&[
        ("c2", "note", "{\"text\":\"b\"}"),
        ("c3", "note", "{\"text\":\"c\"}"),
    ]);
    let answers = vec![note("c1", "a"), batch, Answer::text("done")];
    let bench = Bench::new(answers).limits(TurnLimits {
        tool_calls: Some(2),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(
        (report.outcome.clone(), bench.effects()),
        (TurnOutcome::Budget, 1)
    );
    let (report, _) = bench.run(again(&report, "go on")).await;
    assert_eq!(report.text, "done");
    let request = bench.provider.requests().pop().unwrap();
    let told = serde_json::to_string(&request.messages).unwrap();
    assert_eq!(told.matches("was not started").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn p22_when_the_time_is_up_a_model_that_hangs_is_not_waited_for() {
    let bench = Bench::new(vec![Answer::Hang(vec![CompletionEvent::TextDelta(
        "so far".into(),
    )])])
    .with_agent(|agent| {
        agent.clock = std::sync::Arc::new(crate::bench::TokioClock::new());
    })
    .limits(TurnLimits {
        wall: Some(Duration::from_secs(600)),
        ..TurnLimits::default()
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (TurnOutcome::Budget, "so far")
    );
    assert!(report.failure.unwrap().message.contains("600s"));
}

#[tokio::test]
async fn p23_a_repeated_call_is_advised_against_and_then_ends_the_turn_unrun() {
    let answers = (1..=9).map(|number| note(&format!("c{number}"), "same"));
    let bench = Bench::new(answers.collect());
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::RepeatedCall);
    assert_eq!(bench.effects(), 3);
    let last = bench.provider.requests().pop().unwrap();
    let results: Vec<&str> = last
        .messages
        .iter()
        .flat_map(|message| message.results())
        .map(|result| result.content.as_str())
        .collect();
    assert!(
        results[2].contains("Once more ends the turn"),
        "{results:?}"
    );
    assert!(!results[1].contains("Once more"), "{results:?}");
}

#[tokio::test]
async fn p23_repeated_failures_end_the_turn_with_their_own_name() {
    let answers = (1..=9).map(|number| {
        let arguments = format!("{{\"wrong\":{number}}}");
        Answer::calls(&[(&format!("c{number}"), "note", &arguments)])
    });
    let bench = Bench::new(answers.collect());
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::RepeatedFailure);
    assert_eq!(bench.provider.requests().len(), 4);
}

#[tokio::test]
async fn p23_a_batch_over_many_files_is_left_alone() {
    let mut answers: Vec<Answer> = (0..40)
        .map(|number| note(&format!("c{number}"), &format!("file {number}")))
        .collect();
    answers.push(Answer::text("done"));
    let (report, _) = Bench::new(answers).run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
}
