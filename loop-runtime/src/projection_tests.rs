//! Tests of the projection: whatever a journal holds, the next request is valid.

use skill_core::{ContentBlock, StateDelta, StopReason, Usage};

use super::*;
use crate::journal::JournalEvent;

fn started() -> JournalEvent {
    JournalEvent::TurnStarted {
        turn: "turn".into(),
        profile: "agent".into(),
        model: "test".into(),
        agent: "default".into(),
        max_loaded: Some(8),
        input: Message::user("go"),
    }
}

fn replied(text: &str, calls: &[&str], stop: Option<StopReason>) -> JournalEvent {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(ContentBlock::text(text));
    }
    content.extend(calls.iter().map(|id| ContentBlock::ToolCall(call(id))));
    let message = Message {
        role: Role::Assistant,
        content,
    };
    JournalEvent::ModelReplied {
        step: 1,
        message,
        stop,
        usage: Usage::default(),
    }
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "open_skill".into(),
        arguments: "{}".into(),
    }
}

fn intent(id: &str) -> JournalEvent {
    JournalEvent::ToolStarted {
        call_id: id.into(),
        arguments_digest: "d".into(),
        has_effect: true,
    }
}

fn finished(id: &str, skill: Option<&str>) -> JournalEvent {
    let mut state = StateDelta::default();
    if let Some(skill) = skill {
        state.set(skill_core::state::loaded_key("default", skill), "1");
    }
    JournalEvent::ToolFinished {
        result: result(id, CallStatus::Success),
        state,
        opened: skill.map(|skill| OpenedRecord {
            id: skill.into(),
            version: None,
            digest: "d".into(),
        }),
        duration_ms: 1,
        denied: false,
    }
}

fn result(id: &str, status: CallStatus) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: "open_skill".into(),
        status,
        content: "ok".into(),
    }
}

fn ended(outcome: TurnOutcome) -> JournalEvent {
    JournalEvent::TurnFinished {
        outcome,
        usage: Usage::default(),
        denied: 0,
        failure: None,
    }
}

fn project(events: &[JournalEvent]) -> Projection {
    let mut projection = Projection::default();
    events.iter().for_each(|event| projection.push(event));
    projection
}

fn tool_calls() -> Option<StopReason> {
    Some(StopReason::ToolCalls)
}

#[test]
fn results_stand_in_call_order_whatever_the_order_of_finishing() {
    let projection = project(&[
        started(),
        replied("", &["a", "b"], tool_calls()),
        intent("a"),
        intent("b"),
        finished("b", None),
        finished("a", None),
    ]);
    let order: Vec<&str> = projection.messages[2]
        .results()
        .map(|result| result.call_id.as_str())
        .collect();
    assert_eq!(order, ["a", "b"]);
}

#[test]
fn two_skills_opened_in_one_step_are_loaded_in_call_order() {
    let events = [
        started(),
        replied("", &["a", "b"], tool_calls()),
        finished("b", Some("notes")),
        finished("a", Some("calc")),
    ];
    let projection = project(&events);
    assert_eq!(
        skill_state::loaded(&projection.state, "default"),
        ["calc", "notes"]
    );
    assert_eq!(projection.openings["a"].skill, "calc");
}

#[test]
fn a_call_with_an_intent_and_no_result_is_unknown_and_one_without_is_unstarted() {
    let projection = project(&[
        started(),
        replied("", &["a", "b"], tool_calls()),
        intent("a"),
    ]);
    let open: Vec<(&ToolCall, Progress)> = projection.open_calls().collect();
    assert_eq!(
        open,
        [
            (&call("a"), Progress::Acting),
            (&call("b"), Progress::NotStarted)
        ]
    );
    assert_eq!(projection.open_turn.as_deref(), Some("turn"));
}

#[test]
fn a_turn_that_ends_with_open_calls_gives_each_a_result() {
    let projection = project(&[
        started(),
        replied("", &["a", "b"], tool_calls()),
        intent("a"),
        ended(TurnOutcome::Aborted),
    ]);
    let statuses: Vec<CallStatus> = projection.messages[2]
        .results()
        .map(|result| result.status)
        .collect();
    assert_eq!(statuses, [CallStatus::Unknown, CallStatus::Aborted]);
    assert_eq!(projection.open_calls().count(), 0);
}

#[test]
fn a_turn_that_did_not_complete_says_so_to_the_model() {
    for outcome in [
        TurnOutcome::Aborted,
        TurnOutcome::MaxSteps,
        TurnOutcome::ContextLimit,
    ] {
        let projection = project(&[started(), ended(outcome.clone())]);
        let last = projection.messages.last().unwrap();
        assert_eq!(last.role, Role::Assistant);
        assert!(last.joined_text().contains(&outcome.to_string()));
        assert_eq!(projection.open_turn, None);
    }
}

#[test]
fn a_cut_answer_is_marked_in_its_own_message() {
    let projection = project(&[
        started(),
        replied("half an ans", &[], None),
        ended(TurnOutcome::Truncated),
    ]);
    assert_eq!(projection.messages.len(), 2);
    let text = projection.messages[1].joined_text();
    assert!(text.starts_with("half an ans[This turn ended without a complete answer: truncated"));
}

#[test]
fn a_completed_turn_is_left_as_the_model_ended_it() {
    let projection = project(&[
        started(),
        replied("done", &[], Some(StopReason::EndTurn)),
        ended(TurnOutcome::Completed),
    ]);
    assert_eq!(
        projection.messages,
        [Message::user("go"), Message::assistant("done")].map(Into::into)
    );
}

#[test]
fn a_second_result_for_one_call_changes_nothing() {
    let events = [
        started(),
        replied("", &["a", "b"], tool_calls()),
        finished("a", None),
        JournalEvent::ToolFinished {
            result: result("a", CallStatus::Error),
            state: StateDelta::default(),
            opened: None,
            duration_ms: 1,
            denied: false,
        },
        finished("b", None),
        finished("b", None),
    ];
    let projection = project(&events);
    let statuses: Vec<CallStatus> = projection.messages[2]
        .results()
        .map(|result| result.status)
        .collect();
    assert_eq!(statuses, [CallStatus::Success, CallStatus::Success]);
    assert_eq!(projection.messages.len(), 3);
}

#[test]
fn every_prefix_of_a_journal_leads_to_a_valid_request_after_settling() {
    let whole = [
        started(),
        replied("first", &["a", "b"], tool_calls()),
        intent("a"),
        finished("a", Some("calc")),
        intent("b"),
        finished("b", None),
        replied("", &["c"], tool_calls()),
        intent("c"),
        finished("c", None),
        replied("done", &[], Some(StopReason::EndTurn)),
        ended(TurnOutcome::Completed),
    ];
    for length in 0..=whole.len() {
        let mut projection = project(&whole[..length]);
        let open: Vec<(ToolCall, Progress)> = projection
            .open_calls()
            .map(|(call, progress)| (call.clone(), progress))
            .collect();
        for (call, progress) in open {
            projection.push(&settled(&call, progress));
        }
        if projection.open_turn.is_some() {
            projection.push(&ended(TurnOutcome::Aborted));
        }
        projection.push(&started());
        let request = skill_core::CompletionRequest {
            model: skill_core::ModelId::new("test"),
            system: Vec::new(),
            messages: projection.messages.clone(),
            tools: [skill_core::ToolDefinition {
                name: "write_file".into(),
                description: String::new(),
                parameters: serde_json::json!({"type": "object"}),
            }]
            .into(),
            max_output_tokens: None,
        };
        assert_eq!(
            prompt_compiler::validate(&request),
            Ok(()),
            "after {length} events"
        );
    }
}

fn settled(call: &ToolCall, progress: Progress) -> JournalEvent {
    JournalEvent::ToolFinished {
        result: missing_result(call, progress),
        state: StateDelta::default(),
        opened: None,
        duration_ms: 0,
        denied: false,
    }
}

#[test]
fn a_call_that_waits_for_a_decision_goes_on_waiting_after_its_turn() {
    let projection = project(&[
        started(),
        replied("", &["a", "b"], tool_calls()),
        JournalEvent::ApprovalAsked {
            call_id: "a".into(),
            action: "write".into(),
            reason: "rule".into(),
        },
        ended(TurnOutcome::AwaitingApproval),
    ]);
    assert!(projection.awaits_approval());
    let open: Vec<&ToolCall> = projection.open_calls().map(|(call, _)| call).collect();
    assert_eq!(open, [&call("a"), &call("b")]);
}

#[test]
fn a_read_that_was_interrupted_changed_nothing_and_says_so() {
    let reading = JournalEvent::ToolStarted {
        call_id: "a".into(),
        arguments_digest: "d".into(),
        has_effect: false,
    };
    let projection = project(&[
        started(),
        replied("", &["a"], tool_calls()),
        reading,
        ended(TurnOutcome::Aborted),
    ]);
    let result = projection.messages[2].results().next().unwrap();
    assert_eq!(result.status, CallStatus::Aborted);
    assert!(result.content.contains("nothing changed"));
}

#[test]
fn an_intent_of_which_a_journal_does_not_say_whether_it_acts_is_taken_at_its_worst() {
    let text = r#"{"kind":"tool_started","call_id":"a","arguments_digest":"d"}"#;
    assert_eq!(
        serde_json::from_str::<JournalEvent>(text).unwrap(),
        intent("a")
    );
}
