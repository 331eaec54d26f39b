//! Events and answers of the model, small enough to be compared a million times.

use loop_runtime::{JournalEntry, JournalEvent, Reply as TurnReply, TurnOutcome};
use skill_core::{
    CallStatus, ContentBlock, Message, Role, StopReason, ToolCall, ToolResult, Usage,
};

/// What the policy says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Free,
    Ask,
    Deny,
}

/// What the model of language answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reply {
    Text,
    /// Calls, numbered from the next number on.
    Calls([Option<Kind>; 2]),
    /// A call, and then the stream is cut.
    Cut,
}

/// An event of the journal; calls by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Event {
    Begun,
    /// The first number of its calls, and what it was.
    Replied(u8, Reply),
    Asked(u8),
    Intent(u8),
    Finished(u8, CallStatus),
    Ended(&'static str),
}

impl Reply {
    /// Returns the kinds of its calls.
    pub(super) fn kinds(self) -> impl Iterator<Item = Kind> {
        let kinds = match self {
            Self::Text => [None, None],
            Self::Calls(kinds) => kinds,
            Self::Cut => [Some(Kind::Free), None],
        };
        kinds.into_iter().flatten()
    }

    /// Returns what the machine reads of it.
    pub(super) fn reply(self, first: u8) -> TurnReply {
        let mut content: Vec<ContentBlock> = (first..)
            .zip(self.kinds())
            .map(|(number, _)| ContentBlock::ToolCall(call(number)))
            .collect();
        if content.is_empty() {
            content.push(ContentBlock::text("done"));
        }
        let stop = match self {
            Self::Text => Some(StopReason::EndTurn),
            Self::Calls(_) => Some(StopReason::ToolCalls),
            Self::Cut => None,
        };
        let message = Message {
            role: Role::Assistant,
            content,
        };
        TurnReply {
            message,
            stop,
            malformed: false,
        }
    }
}

fn call(number: u8) -> ToolCall {
    ToolCall {
        id: number.to_string(),
        name: "act".to_owned(),
        arguments: "{}".to_owned(),
    }
}

impl Event {
    /// Returns the journal's own form.
    pub(super) fn entry(self, seq: u64) -> JournalEntry {
        let event = match self {
            Self::Begun => JournalEvent::TurnStarted {
                turn: "t".to_owned(),
                profile: "agent".to_owned(),
                model: "m".to_owned(),
                agent: "a".to_owned(),
                max_loaded: None,
                input: Message::user("go"),
            },
            Self::Replied(first, reply) => {
                let reply = reply.reply(first);
                // A stream that was cut brings no whole call: only complete ones are recorded.
                let message = match reply.stop {
                    Some(_) => reply.message,
                    None => Message::assistant("half"),
                };
                JournalEvent::ModelReplied {
                    step: 1,
                    message,
                    stop: reply.stop,
                    usage: Usage::default(),
                }
            }
            Self::Asked(number) => JournalEvent::ApprovalAsked {
                call_id: number.to_string(),
                action: "act".to_owned(),
                reason: "asked".to_owned(),
            },
            Self::Intent(number) => JournalEvent::ToolStarted {
                call_id: number.to_string(),
                arguments_digest: String::new(),
                has_effect: true,
            },
            Self::Finished(number, status) => JournalEvent::ToolFinished {
                result: ToolResult {
                    call_id: number.to_string(),
                    name: "act".to_owned(),
                    status,
                    content: status.as_str().to_owned(),
                },
                state: Default::default(),
                opened: None,
                duration_ms: 0,
                denied: status == CallStatus::Rejected,
            },
            Self::Ended(outcome) => JournalEvent::TurnFinished {
                outcome: TurnOutcome::try_from(outcome.to_owned()).unwrap(),
                usage: Usage::default(),
                denied: 0,
                failure: None,
            },
        };
        JournalEntry {
            seq,
            at_ms: 0,
            event,
        }
    }
}
