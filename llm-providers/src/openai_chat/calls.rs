//! Puts the pieces of tool calls together, whatever a server leaves out; pure.

use std::collections::BTreeSet;

use serde_json::Value;
use skill_core::CompletionEvent;

use crate::openai_chat::wire::CallDelta;

/// The most calls one answer may hold; a server that sends more has lost its way.
pub(super) const MOST: usize = 1_024;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    ids: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Call {
    /// The server's number of this call, where it gives one.
    wire_index: Option<u64>,
    /// The server's id, as it stands on the wire.
    wire_id: Option<String>,
    /// The id handed out: the server's, or ours where that is missing or taken.
    id: Option<String>,
    id_sent: bool,
    /// The name; it may come in pieces, so it is held back until arguments begin.
    name: String,
    name_sent: bool,
}

impl Calls {
    /// Tells whether no call was seen.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Tells whether there are more than any answer may hold.
    pub(super) fn are_too_many(&self) -> bool {
        self.calls.len() > MOST
    }

    /// Takes one piece and returns the event it makes, if any.
    pub(super) fn push(&mut self, piece: CallDelta) -> Option<CompletionEvent> {
        let function = piece.function.unwrap_or_default();
        let wire_id = piece.id.filter(|id| !id.is_empty());
        let name = function.name.unwrap_or_default();
        let arguments = function.arguments.map(arguments_text).unwrap_or_default();

        let position = self
            .find(piece.index, wire_id.as_deref(), &name)
            .unwrap_or_else(|| self.open(piece.index));
        let id = wire_id
            .as_ref()
            .map(|wire_id| self.unique_id(position, wire_id));
        let call = self.calls.get_mut(position)?;
        if call.wire_id.is_none() && wire_id.is_some() {
            call.wire_id = wire_id;
            call.id.clone_from(&id);
            self.ids.extend(id);
        }
        // A name comes whole, in pieces, or whole again with every piece.
        if !call.name_sent && call.name != name {
            call.name.push_str(&name);
        }
        (!arguments.is_empty()).then(|| call.delta(position, arguments))
    }

    /// Returns what is still held back, with an id for each call that got none.
    pub(super) fn finish(&mut self) -> Vec<CompletionEvent> {
        let mut events = Vec::new();
        for position in 0..self.calls.len() {
            let generated = self.unused_id(position);
            let Some(call) = self.calls.get_mut(position) else {
                continue;
            };
            if call.id.is_none() {
                self.ids.insert(generated.clone());
                call.id = Some(generated);
            }
            if !call.id_sent || (!call.name_sent && !call.name.is_empty()) {
                events.push(call.delta(position, String::new()));
            }
        }
        events
    }

    /// Returns the position of the call that a piece belongs to, or `None` for a new one.
    fn find(&self, index: Option<u64>, id: Option<&str>, name: &str) -> Option<usize> {
        let mut calls = self.calls.iter().enumerate();
        let (position, call) = match (index, id) {
            (Some(_), _) => calls.rfind(|(_, call)| call.wire_index == index)?,
            (None, Some(_)) => calls.rfind(|(_, call)| call.wire_id.as_deref() == id)?,
            // Without number and id, a name begins a call and anything else goes on with the last.
            (None, None) if !name.is_empty() => return None,
            (None, None) => calls.next_back()?,
        };
        // Some servers give every call the number 0; another id with a name is another call.
        let other_id = matches!((id, &call.wire_id), (Some(id), Some(known)) if id != known);
        (!other_id || name.is_empty()).then_some(position)
    }

    fn open(&mut self, wire_index: Option<u64>) -> usize {
        self.calls.push(Call {
            wire_index,
            ..Call::default()
        });
        self.calls.len().saturating_sub(1)
    }

    fn unique_id(&self, position: usize, wire_id: &str) -> String {
        if self.ids.contains(wire_id) {
            self.unused_id(position)
        } else {
            wire_id.to_owned()
        }
    }

    /// Returns `call_<n>` for the first free `n` from `position` on.
    fn unused_id(&self, position: usize) -> String {
        (position..)
            .map(|number| format!("call_{number}"))
            .find(|id| !self.ids.contains(id))
            .unwrap_or_default()
    }
}

impl Call {
    /// Returns the event for more `arguments`, with id and name where they were not sent yet.
    fn delta(&mut self, index: usize, arguments: String) -> CompletionEvent {
        let id = self.id.clone().filter(|_| !self.id_sent);
        self.id_sent |= id.is_some();
        let name = Some(self.name.clone()).filter(|name| !self.name_sent && !name.is_empty());
        self.name_sent |= name.is_some();
        CompletionEvent::ToolCallDelta {
            index,
            id,
            name,
            arguments,
        }
    }
}

fn arguments_text(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => String::new(),
        object => object.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use skill_core::CompletionEvent;

    use super::Calls;

    /// Feeds pieces and prints each call as `id name arguments`.
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut calls = Calls::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(calls.push(serde_json::from_str(piece).unwrap()));
        }
        events.extend(calls.finish());
        let mut merged: Vec<[String; 3]> = Vec::new();
        for event in events {
            let CompletionEvent::ToolCallDelta {
                index,
                id,
                name,
                arguments,
            } = event
            else {
                panic!("{event:?}");
            };
            merged.resize(merged.len().max(index + 1), Default::default());
            let [all_ids, all_names, all_arguments] = &mut merged[index];
            all_ids.push_str(&id.unwrap_or_default());
            all_names.push_str(&name.unwrap_or_default());
            all_arguments.push_str(&arguments);
        }
        let merged: Vec<String> = merged.iter().map(|parts| parts.join(" ")).collect();
        assert_eq!(merged, expected);
    }

    #[test]
    fn pieces_are_merged_by_index_with_the_id_on_the_first_only() {
        check(
            &[
                r#"{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{\"p\":"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"list","arguments":"{}"}}"#,
                r#"{"index":0,"function":{"arguments":"1}"}}"#,
            ],
            &[r#"a read {"p":1}"#, "b list {}"],
        );
    }

    #[test]
    fn a_missing_id_is_made_up() {
        check(
            &[
                r#"{"index":0,"id":null,"function":{"name":"read","arguments":"{}"}}"#,
                r#"{"index":1,"id":"","function":{"name":"list"}}"#,
            ],
            &["call_0 read {}", "call_1 list "],
        );
    }

    #[test]
    fn a_made_up_id_avoids_those_of_the_server() {
        check(
            &[
                r#"{"index":0,"function":{"name":"read"}}"#,
                r#"{"index":1,"id":"call_0","function":{"name":"list"}}"#,
            ],
            &["call_1 read ", "call_0 list "],
        );
    }

    #[test]
    fn an_id_given_twice_is_made_unique() {
        check(
            &[
                r#"{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}"#,
                r#"{"index":1,"id":"x","function":{"name":"list","arguments":"{}"}}"#,
            ],
            &["x read {}", "call_1 list {}"],
        );
    }

    #[test]
    fn an_id_that_comes_late_is_taken() {
        check(
            &[
                r#"{"index":0,"function":{"name":"read","arguments":"{"}}"#,
                r#"{"index":0,"id":"late","function":{"arguments":"}"}}"#,
            ],
            &["late read {}"],
        );
    }

    #[test]
    fn a_name_split_over_pieces_is_joined() {
        check(
            &[
                r#"{"index":0,"id":"a","function":{"name":"read_"}}"#,
                r#"{"index":0,"function":{"name":"file","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{}"}}"#,
            ],
            &["a read_file {}"],
        );
    }

    #[test]
    fn a_name_and_an_id_repeated_with_every_piece_are_taken_once() {
        check(
            &[
                r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}"#,
            ],
            &["a read {}"],
        );
    }

    #[test]
    fn calls_that_all_say_index_zero_are_told_apart_by_id() {
        check(
            &[
                r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}"#,
                r#"{"index":0,"id":"b","function":{"name":"read","arguments":"[]"}}"#,
                r#"{"index":0,"function":{"arguments":" "}}"#,
            ],
            &["a read {}", "b read [] "],
        );
    }

    #[test]
    fn calls_without_index_are_told_apart_by_id_or_name() {
        check(
            &[
                r#"{"id":"a","function":{"name":"read","arguments":"{"}}"#,
                r#"{"function":{"arguments":"}"}}"#,
                r#"{"id":"b","function":{"name":"read","arguments":"{}"}}"#,
                r#"{"function":{"name":"list","arguments":"{}"}}"#,
            ],
            &["a read {}", "b read {}", "call_2 list {}"],
        );
    }

    #[test]
    fn arguments_sent_as_an_object_become_text() {
        check(
            &[r#"{"index":0,"id":"a","function":{"name":"read","arguments":{"b":1,"a":[2]}}}"#],
            &[r#"a read {"b":1,"a":[2]}"#],
        );
    }

    #[test]
    fn numbers_of_calls_need_not_begin_at_zero() {
        check(
            &[
                r#"{"index":7,"id":"a","function":{"name":"read","arguments":"{}"}}"#,
                r#"{"index":3,"id":"b","function":{"name":"list","arguments":"{}"}}"#,
            ],
            &["a read {}", "b list {}"],
        );
    }
}
