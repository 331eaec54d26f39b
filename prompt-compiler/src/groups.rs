//! Calls and results live and die together: what no provider would accept is left out here.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use serde_json::Value;
use skill_core::{ContentBlock, Message, Role, ToolResult};

/// Returns the messages a provider accepts after a first one of the user: every call has one
/// result, every result its call, every id is used once, and roles take turns.
///
/// Reasoning, calls without a name and messages of the system, which has its own place, are left
/// out; arguments that are no JSON object become `{}`; messages that are empty afterwards
/// disappear, and what then stands side by side in one role becomes one message.
pub(crate) fn paired<M: Borrow<Message>>(messages: &[M]) -> Vec<Message> {
    let mut kept = Vec::with_capacity(messages.len());
    let mut seen = BTreeSet::new();
    let mut position = 0;
    while let Some(message) = messages.get(position).map(Borrow::borrow) {
        position += 1;
        match message.role {
            Role::Assistant => {
                let results = following_results(messages, &mut position);
                push_group(&mut kept, message, &results, &mut seen);
            }
            // A result with no call before it has nothing to belong to.
            Role::Tool | Role::System => {}
            Role::User => push(&mut kept, message.role, visible_blocks(message)),
        }
    }
    kept
}

/// Takes the tool messages right after `position` and returns their results.
fn following_results<'a, M: Borrow<Message>>(
    messages: &'a [M],
    position: &mut usize,
) -> Vec<&'a ToolResult> {
    let mut results = Vec::new();
    while let Some(message) = messages
        .get(*position)
        .map(Borrow::borrow)
        .filter(|next| next.role == Role::Tool)
    {
        results.extend(message.results());
        *position += 1;
    }
    results
}

fn push_group(
    kept: &mut Vec<Message>,
    message: &Message,
    results: &[&ToolResult],
    seen: &mut BTreeSet<String>,
) {
    let mut answered = Vec::new();
    let blocks = visible_blocks(message)
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall(mut call) => {
                let result = results.iter().find(|result| result.call_id == call.id)?;
                if call.name.is_empty() || !seen.insert(call.id.clone()) {
                    return None;
                }
                answered.push((*result).clone());
                call.arguments = object_or_empty(&call.arguments);
                Some(ContentBlock::ToolCall(call))
            }
            other => Some(other),
        })
        .collect();
    push(kept, Role::Assistant, blocks);
    if !answered.is_empty() {
        kept.push(Message::tool_results(answered));
    }
}

fn visible_blocks(message: &Message) -> Vec<ContentBlock> {
    message
        .content
        .iter()
        .filter(|block| match block {
            ContentBlock::Reasoning { .. } => false,
            ContentBlock::Text { text } => !text.is_empty(),
            _ => true,
        })
        .cloned()
        .collect()
}

fn push(kept: &mut Vec<Message>, role: Role, content: Vec<ContentBlock>) {
    match kept.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => last.content.extend(content),
        _ => kept.push(Message { role, content }),
    }
}

/// Returns `arguments` if it is a JSON object, else an empty one.
fn object_or_empty(arguments: &str) -> String {
    if is_object(arguments) {
        arguments.to_owned()
    } else {
        "{}".to_owned()
    }
}

/// Tells whether `text` is a JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skill_core::{CallStatus, ToolCall};

    fn call(id: &str, arguments: &str) -> ContentBlock {
        ContentBlock::ToolCall(ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments: arguments.into(),
        })
    }

    fn result(id: &str) -> ToolResult {
        ToolResult {
            call_id: id.into(),
            name: "read_file".into(),
            status: CallStatus::Success,
            content: "ok".into(),
        }
    }

    fn assistant(content: Vec<ContentBlock>) -> Message {
        Message {
            role: Role::Assistant,
            content,
        }
    }

    #[test]
    fn a_call_without_a_result_is_left_out_with_its_empty_message() {
        let messages = [Message::user("hi"), assistant(vec![call("1", "{}")])];
        assert_eq!(paired(&messages), [Message::user("hi")]);
    }

    #[test]
    fn a_result_without_its_call_is_left_out() {
        let messages = [
            Message::tool_results(vec![result("1")]),
            Message::user("hi"),
        ];
        assert_eq!(paired(&messages), [Message::user("hi")]);
    }

    #[test]
    fn half_answered_calls_keep_only_the_answered_half() {
        let messages = [
            assistant(vec![call("1", "{}"), call("2", "{}")]),
            Message::tool_results(vec![result("2"), result("9")]),
        ];
        let expected = [
            assistant(vec![call("2", "{}")]),
            Message::tool_results(vec![result("2")]),
        ];
        assert_eq!(paired(&messages), expected);
    }

    #[test]
    fn whatever_a_history_holds_the_request_is_one_a_provider_accepts() {
        let text = |text: &str| assistant(vec![ContentBlock::text(text)]);
        let answered = || Message::tool_results(vec![result("1")]);
        let mut nameless = call("2", "{}");
        if let ContentBlock::ToolCall(call) = &mut nameless {
            call.name.clear();
        }
        let histories = [
            vec![assistant(vec![call("1", "{}")])],
            vec![Message::user("more")],
            vec![text("a"), text("b")],
            vec![
                assistant(vec![call("1", "{}")]),
                answered(),
                assistant(vec![call("1", "{}")]),
                answered(),
            ],
            vec![
                assistant(vec![nameless]),
                Message::tool_results(vec![result("2")]),
            ],
            vec![
                assistant(vec![call("1", "{}")]),
                Message::user("between"),
                answered(),
            ],
            vec![Message {
                role: Role::System,
                ..Message::user("obey")
            }],
        ];
        for history in histories {
            let mut messages = vec![Message::user("first")];
            messages.extend(history.clone());
            messages.push(Message::user("last"));
            let request = skill_core::CompletionRequest {
                model: skill_core::ModelId::new("test"),
                system: Vec::new(),
                messages: paired(&messages).into_iter().map(Into::into).collect(),
                tools: [].into(),
                max_output_tokens: None,
            };
            assert_eq!(crate::validate::validate(&request), Ok(()), "{history:#?}");
        }
    }

    #[test]
    fn malformed_arguments_become_an_empty_object() {
        for arguments in ["{\"a\":", "[1]", "\"x\"", ""] {
            let messages = [
                assistant(vec![call("1", arguments)]),
                Message::tool_results(vec![result("1")]),
            ];
            assert_eq!(
                paired(&messages)[0],
                assistant(vec![call("1", "{}")]),
                "{arguments}"
            );
        }
    }
}
