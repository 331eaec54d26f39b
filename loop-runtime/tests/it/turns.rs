//! Turns that go as they should.

use std::sync::Arc;

use loop_runtime::{
    AgentEvent, EventKind, JournalEvent, MemoryStore, Profile, Projection, TurnOutcome, TurnRequest,
};
use skill_core::testing::{Answer, finished};
use skill_core::{CompletionEvent, Role, StopReason};
use tokio_util::sync::CancellationToken;
use tool_gateway::Approval;

use crate::bench::{Bench, again, kinds};

#[tokio::test]
async fn a_turn_opens_a_skill_follows_a_tool_and_answers() {
    let bench = Bench::new(vec![
        Answer::calls(&[("c1", "open_skill", "{\"id\":\"weekly\"}")]),
        Answer::calls(&[("c2", "note", "{\"text\":\"x\"}")]),
        Answer::text("done"),
    ]);
    let (report, events) = bench.run(TurnRequest::task("review the week")).await;
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (TurnOutcome::Completed, "done")
    );
    assert_eq!(report.usage.input, 30);
    assert_eq!(
        kinds(&events),
        [
            "session.started",
            "turn.started",
            "prompt.compiled",
            "model.started",
            "model.finished",
            "tool.pending",
            "tool.running",
            "tool.finished",
            "skill.opened",
            "state.delta",
            "prompt.compiled",
            "model.started",
            "model.finished",
            "tool.pending",
            "tool.running",
            "tool.finished",
            "prompt.compiled",
            "model.started",
            "text.delta",
            "model.finished",
            "turn.finished",
        ]
    );
    let requests = bench.provider.requests();
    let body = |request: &skill_core::CompletionRequest| {
        serde_json::to_string(request)
            .unwrap()
            .matches("STEP ONE")
            .count()
    };
    assert_eq!(requests.iter().map(body).collect::<Vec<_>>(), [0, 1, 1]);
    assert!(
        requests[0]
            .system
            .iter()
            .any(|block| block.contains("BE BRIEF"))
    );
}

#[tokio::test]
async fn the_fast_path_makes_one_call_without_tools_and_writes_once() {
    let bench = Bench::new(vec![Answer::text("42")]).profile(Profile::QUICK_ASK);
    let (report, events) = bench.run(TurnRequest::task("what?")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    let [request] = &bench.provider.requests()[..] else {
        panic!("one request")
    };
    assert!(request.tools.is_empty());
    assert!(matches!(
        events[1].kind,
        EventKind::TurnStarted {
            fast_path: true,
            ..
        }
    ));
    let record = bench.agent.store.load(&report.session).await.unwrap();
    assert_eq!(record.header.title, "what?");
    assert!(matches!(
        record.entries.last().unwrap().event,
        JournalEvent::TurnFinished { .. }
    ));
}

#[tokio::test]
async fn a_resumed_session_sends_the_whole_conversation_and_keeps_skills_open() {
    let bench = Bench::new(vec![
        Answer::calls(&[("c1", "open_skill", "{\"id\":\"weekly\"}")]),
        Answer::text("first"),
        Answer::text("second"),
    ]);
    let (first, _) = bench.run(TurnRequest::task("one")).await;
    let (second, events) = bench.run(again(&first, "two")).await;
    assert_eq!(second.session, first.session);
    assert_eq!(events[0].kind, EventKind::SessionStarted { resumed: true });
    let last = bench.provider.requests().pop().unwrap();
    let roles: Vec<Role> = last.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [
            Role::User,
            Role::Assistant,
            Role::Tool,
            Role::Assistant,
            Role::User
        ]
    );
    assert!(serde_json::to_string(&last).unwrap().contains("STEP ONE"));
}

#[tokio::test]
async fn at_the_step_limit_tools_run_and_the_turn_can_be_continued() {
    let bench = Bench::new(vec![
        Answer::calls(&[("c1", "note", "{\"text\":\"x\"}")]),
        Answer::text("continued"),
    ])
    .profile(Profile {
        max_steps: 1,
        ..Profile::AGENT
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::MaxSteps);
    assert_eq!(bench.effects(), 1);
    let (report, _) = bench.run(again(&report, "go on")).await;
    assert_eq!(report.text, "continued");
}

fn asks(answers: Vec<Answer>) -> Bench {
    Bench::with(answers, Arc::new(MemoryStore::new()), "ask tool(note)")
}

fn asked_then(text: &str) -> Vec<Answer> {
    vec![
        Answer::calls(&[("c1", "note", "{\"text\":\"x\"}")]),
        Answer::text(text),
    ]
}

#[tokio::test]
async fn a_deferred_approval_ends_the_turn_and_never_acts() {
    let bench = asks(asked_then("never"));
    let (report, events) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::AwaitingApproval);
    assert!(kinds(&events).contains(&"tool.approval".to_owned()));
    let (report, _) = bench.run(again(&report, "still nobody there")).await;
    assert_eq!(report.outcome, TurnOutcome::AwaitingApproval);
    assert_eq!(bench.effects(), 0);
    assert_eq!(bench.provider.requests().len(), 1);
}

#[tokio::test]
async fn a_pending_approval_is_asked_afresh_on_resume_and_counts_once() {
    for (approval, effects) in [
        (Approval::Allow, 1),
        (
            Approval::Deny {
                reason: "no".into(),
            },
            0,
        ),
    ] {
        let bench = asks(asked_then("done"));
        let (report, _) = bench.run(TurnRequest::task("go")).await;
        bench.decide(approval);
        let (report, events) = bench.run(again(&report, "go on")).await;
        assert_eq!(report.outcome, TurnOutcome::Completed);
        assert_eq!(bench.effects(), effects);
        assert!(kinds(&events).contains(&"tool.approval".to_owned()));
        let (report, _) = bench.run(again(&report, "and now?")).await;
        assert_ne!(report.outcome, TurnOutcome::AwaitingApproval);
        assert_eq!(bench.effects(), effects);
    }
}

#[tokio::test]
async fn a_denied_call_is_counted_and_the_turn_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let answers = vec![
        Answer::calls(&[("c1", "note", "{\"text\":\"x\"}")]),
        Answer::text("left it out"),
    ];
    let bench = Bench::with(answers, store, "deny tool(note)");
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!((report.outcome, report.denied), (TurnOutcome::Completed, 1));
    assert_eq!(bench.effects(), 0);
}

#[tokio::test]
async fn a_turn_without_tools_runs_no_call_that_waited_for_a_decision() {
    let bench = asks(asked_then("an answer"));
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    bench.decide(Approval::Allow);
    let bench = bench.profile(Profile::QUICK_ASK);
    let (report, events) = bench.run(again(&report, "what was that?")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    assert_eq!(bench.effects(), 0);
    assert!(!kinds(&events).contains(&"tool.approval".to_owned()));
}

#[tokio::test]
async fn a_resumed_turn_tells_only_what_it_changed_itself() {
    let bench = Bench::new(vec![
        Answer::calls(&[("c1", "open_skill", "{\"id\":\"weekly\"}")]),
        Answer::text("first"),
        Answer::calls(&[("c2", "note", "{\"text\":\"x\"}")]),
        Answer::text("second"),
    ]);
    let deltas = |events: &[AgentEvent]| {
        let is_delta = |event: &&AgentEvent| matches!(event.kind, EventKind::StateDelta { .. });
        events.iter().filter(is_delta).count()
    };
    let (first, events) = bench.run(TurnRequest::task("one")).await;
    assert_eq!(deltas(&events), 1);
    let (_, events) = bench.run(again(&first, "two")).await;
    assert_eq!(deltas(&events), 0);
}

#[tokio::test]
async fn d_086_text_comes_as_it_is_said_and_calls_run_after_the_reply_is_whole() {
    let said = |text: &str| CompletionEvent::TextDelta(text.into());
    let call = CompletionEvent::ToolCallDelta {
        index: 0,
        id: Some("c1".into()),
        name: Some("note".into()),
        arguments: "{\"text\":\"x\"}".into(),
    };
    let first = vec![
        said("check"),
        said("ing"),
        call,
        finished(StopReason::ToolCalls),
    ];
    let second = vec![said("do"), said("ne"), finished(StopReason::EndTurn)];
    let bench = Bench::new(vec![Answer::Events(first), Answer::Events(second)]);
    let (report, events) = bench.run(TurnRequest::task("go")).await;
    let told = |kind: &String| {
        [
            "text.delta",
            "model.finished",
            "tool.running",
            "tool.finished",
        ]
        .contains(&kind.as_str())
    };
    let kinds: Vec<String> = kinds(&events).into_iter().filter(told).collect();
    assert_eq!(
        kinds,
        [
            "text.delta",
            "text.delta",
            "model.finished",
            "tool.running",
            "tool.finished",
            "text.delta",
            "text.delta",
            "model.finished",
        ]
    );
    let record = bench.agent.store.load(&report.session).await.unwrap();
    assert_eq!(Projection::of(&record.entries).messages.len(), 4);
}

#[tokio::test]
async fn d_084_however_often_it_is_cancelled_a_turn_ends_once() {
    let bench = Bench::new(vec![Answer::Hang(Vec::new())]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let (report, events) = bench
        .run_with(TurnRequest::task("go"), cancel, move |event| {
            if matches!(event.kind, EventKind::ModelStarted { .. }) {
                stop.cancel();
                stop.cancel();
            }
        })
        .await;
    assert_eq!(report.outcome, TurnOutcome::Aborted);
    let ends = kinds(&events)
        .into_iter()
        .filter(|kind| kind == "turn.finished");
    assert_eq!(ends.count(), 1);
}
