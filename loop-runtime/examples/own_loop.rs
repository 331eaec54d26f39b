//! Drives the turn machine with I/O of its own: a model in a closure, tools in a match, and a turn
//! that is written down after every action, as a program would that may be stopped at any time.
//!
//! Run it with `cargo run -p loop-runtime --example own_loop`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use loop_runtime::{Reply, Turn, TurnAction, TurnOutcome};
use skill_core::{CallStatus, ContentBlock, Message, Role, StopReason, ToolCall, ToolResult};

/// Everything of this program that outlives a stop.
#[derive(Debug)]
struct Saved {
    turn: String,
    messages: Vec<Message>,
}

fn main() -> Result<(), serde_json::Error> {
    let mut saved = Saved {
        turn: serde_json::to_string(&Turn::new(true, 8))?,
        messages: vec![Message::user("How many words are in `to be or not to be`?")],
    };
    let outcome = loop {
        // Nothing but what was saved is used: the program could have been stopped before this.
        let mut turn: Turn = serde_json::from_str(&saved.turn)?;
        match turn.next_action() {
            TurnAction::CallModel { step } => {
                let reply = model(step, &saved.messages);
                saved.messages.push(reply.message.clone());
                turn.on_reply(&reply);
            }
            TurnAction::CallTools(calls) => {
                let results = calls.iter().map(run_tool).collect();
                saved.messages.push(Message::tool_results(results));
                turn.on_tool_results();
            }
            TurnAction::Finish(outcome) => break outcome,
        }
        saved.turn = serde_json::to_string(&turn)?;
    };
    assert_eq!(outcome, TurnOutcome::Completed);
    for message in &saved.messages {
        println!("{:?}: {}", message.role, shown(message));
    }
    Ok(())
}

/// Stands for a model: it counts with a tool, then says what came back.
fn model(step: u32, messages: &[Message]) -> Reply {
    let results = messages.iter().flat_map(Message::results);
    let (block, stop) = match results.last() {
        Some(result) => (
            ContentBlock::text(format!("{} words.", result.content)),
            StopReason::EndTurn,
        ),
        None => (
            ContentBlock::ToolCall(ToolCall {
                id: format!("call-{step}"),
                name: "count_words".to_owned(),
                arguments: "\"to be or not to be\"".to_owned(),
            }),
            StopReason::ToolCalls,
        ),
    };
    Reply {
        message: Message {
            role: Role::Assistant,
            content: vec![block],
        },
        stop: Some(stop),
        malformed: false,
    }
}

fn run_tool(call: &ToolCall) -> ToolResult {
    let (status, content) = match call.name.as_str() {
        "count_words" => (
            CallStatus::Success,
            call.arguments
                .trim_matches('"')
                .split_whitespace()
                .count()
                .to_string(),
        ),
        name => (CallStatus::Rejected, format!("no tool named `{name}`")),
    };
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status,
        content,
    }
}

fn shown(message: &Message) -> String {
    let calls = message
        .tool_calls()
        .map(|call| format!("calls {} {}", call.name, call.arguments));
    let results = message.results().map(|result| result.content.clone());
    let text = message.joined_text();
    let parts = std::iter::once(text).chain(calls).chain(results);
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}
