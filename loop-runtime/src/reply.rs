//! A stream of events becomes one reply; a stream without its terminal event was cut.

use std::collections::{BTreeMap, BTreeSet};

use skill_core::{CompletionEvent, ContentBlock, Message, Role, StopReason, ToolCall, Usage};

use crate::turn::Reply;

/// Gathers the events of one answer.
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, PartialCall>,
    finished: Option<(StopReason, Usage)>,
}

#[derive(Debug, Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
}

impl ReplyBuilder {
    /// Returns a builder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one event.
    pub fn push(&mut self, event: &CompletionEvent) {
        match event {
            CompletionEvent::TextDelta(text) => self.text.push_str(text),
            CompletionEvent::ReasoningDelta(text) => self.reasoning.push_str(text),
            CompletionEvent::ToolCallDelta {
                index,
                id,
                name,
                arguments,
            } => {
                let call = self.calls.entry(*index).or_default();
                fill_once(&mut call.id, id.as_deref());
                fill_once(&mut call.name, name.as_deref());
                call.arguments.push_str(arguments);
            }
            CompletionEvent::Finished { stop, usage } => {
                self.finished = Some((stop.clone(), *usage));
            }
            // Events of a newer contract carry nothing this version could lose.
            _ => {}
        }
    }

    /// Returns the reply and its cost.
    ///
    /// Call ids are kept where they are new to the session; `used` are the ids it has seen.
    /// Calls without a name are left out. A cut reply carries no calls at all.
    pub fn finish(self, used: &BTreeSet<String>) -> (Reply, Usage) {
        let mut content = Vec::new();
        if !self.reasoning.is_empty() {
            content.push(ContentBlock::Reasoning {
                text: self.reasoning,
            });
        }
        if !self.text.is_empty() {
            content.push(ContentBlock::Text { text: self.text });
        }
        let (stop, usage) = match self.finished {
            Some((stop, usage)) => (Some(stop), usage),
            None => (None, Usage::default()),
        };
        let malformed = self.calls.values().any(|call| call.name.is_empty());
        if stop.is_some() {
            // The session's ids are only looked at: they grow with it, and a reply's are few.
            let mut taken = BTreeSet::new();
            content.extend(
                self.calls
                    .into_values()
                    .filter(|call| !call.name.is_empty())
                    .map(|call| {
                        ContentBlock::ToolCall(ToolCall {
                            id: unused(call.id, used, &mut taken),
                            name: call.name,
                            arguments: call.arguments,
                        })
                    }),
            );
        }
        (
            Reply {
                message: Message {
                    role: Role::Assistant,
                    content,
                },
                stop,
                malformed,
            },
            usage,
        )
    }
}

fn fill_once(field: &mut String, value: Option<&str>) {
    if field.is_empty() {
        field.push_str(value.unwrap_or_default());
    }
}

/// Returns `id`, or the first variant of it that the session has not seen.
fn unused(id: String, used: &BTreeSet<String>, taken: &mut BTreeSet<String>) -> String {
    let base = if id.is_empty() { "call".to_owned() } else { id };
    let mut candidate = base.clone();
    let mut number = 2_u64;
    while used.contains(&candidate) || taken.contains(&candidate) {
        candidate = format!("{base}_{number}");
        number += 1;
    }
    taken.insert(candidate.clone());
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(
        index: usize,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> CompletionEvent {
        CompletionEvent::ToolCallDelta {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    fn finished() -> CompletionEvent {
        CompletionEvent::Finished {
            stop: StopReason::ToolCalls,
            usage: Usage::default(),
        }
    }

    fn calls(events: &[CompletionEvent], used: &[&str]) -> Vec<(String, String, String)> {
        let mut builder = ReplyBuilder::new();
        events.iter().for_each(|event| builder.push(event));
        let used = used.iter().map(|id| (*id).to_owned()).collect();
        let (reply, _) = builder.finish(&used);
        let tuple = |call: &ToolCall| (call.id.clone(), call.name.clone(), call.arguments.clone());
        reply.message.tool_calls().map(tuple).collect()
    }

    #[test]
    fn parts_of_calls_merge_by_index() {
        let events = [
            delta(1, Some("b"), Some("write_file"), "{\"p"),
            delta(0, Some("a"), Some("read_file"), "{}"),
            delta(1, None, None, "\":1}"),
            finished(),
        ];
        let expected = [("a", "read_file", "{}"), ("b", "write_file", "{\"p\":1}")]
            .map(|(id, name, arguments)| (id.into(), name.into(), arguments.into()));
        assert_eq!(calls(&events, &[]), expected);
    }

    #[test]
    fn an_id_the_session_has_seen_gets_a_new_one() {
        let events = [
            delta(0, Some("call_1"), Some("x"), "{}"),
            delta(1, Some("call_1"), Some("x"), "{}"),
            delta(2, None, Some("x"), "{}"),
            finished(),
        ];
        let ids: Vec<String> = calls(&events, &["call_1"])
            .into_iter()
            .map(|call| call.0)
            .collect();
        assert_eq!(ids, ["call_1_2", "call_1_3", "call"]);
    }

    #[test]
    fn a_cut_reply_carries_no_calls_and_no_stop() {
        let mut builder = ReplyBuilder::new();
        builder.push(&CompletionEvent::TextDelta("so far".into()));
        builder.push(&delta(0, Some("a"), Some("write_file"), "{}"));
        let (reply, _) = builder.finish(&BTreeSet::new());
        assert_eq!(
            reply,
            Reply {
                message: Message::assistant("so far"),
                stop: None,
                malformed: false
            }
        );
    }
}
