//! Calls and results live and die together: what no provider would accept is left out here.

use std::collections::BTreeSet;
use std::sync::Arc;

use skill_core::{ContentBlock, Message, Role, ToolCall, ToolResult, as_tool_name, is_arguments};

/// How calls of the past are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// As calls and results.
    #[default]
    Calls,
    /// As text: providers refuse calls in a request that offers no tools.
    Text,
}

/// An answer of the model with the results of its calls.
#[derive(Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) said: Vec<ContentBlock>,
    pub(crate) results: Vec<ContentBlock>,
}

/// Results that follow an answer.
pub(crate) struct Results<'a> {
    pub(crate) found: Vec<&'a ToolResult>,
    /// The number of messages they stand in.
    pub(crate) messages: usize,
}

/// Returns the results in the tool messages that begin at `position`.
pub(crate) fn following_results(messages: &[Arc<Message>], position: usize) -> Results<'_> {
    let following = messages
        .iter()
        .skip(position)
        .take_while(|message| message.role == Role::Tool);
    Results {
        messages: following.clone().count(),
        found: following.flat_map(|message| message.results()).collect(),
    }
}

/// Returns the calls of `message` that have a result, in a form that providers accept, with these
/// results in call order.
///
/// A call is left out with its result when it has no name or no id, when its id was used before, or
/// when it has not ended yet. Arguments that are no JSON object become `{}`.
pub(crate) fn group(
    message: &Message,
    results: &[&ToolResult],
    ids: &mut BTreeSet<String>,
    settle: &dyn Fn(&mut ToolResult),
) -> Group {
    let mut group = Group {
        said: Vec::new(),
        results: Vec::new(),
    };
    for block in &message.content {
        match block {
            ContentBlock::ToolCall(call) => {
                let Some(result) = results.iter().find(|result| result.call_id == call.id) else {
                    continue;
                };
                let usable = !call.name.is_empty() && !call.id.is_empty();
                if !usable || !result.status.is_terminal() || !ids.insert(call.id.clone()) {
                    continue;
                }
                let mut result = (*result).clone();
                settle(&mut result);
                group.said.push(ContentBlock::ToolCall(accepted(call)));
                group.results.push(ContentBlock::ToolResult(result));
            }
            block if is_shown(block) => group.said.push(block.clone()),
            _ => {}
        }
    }
    group
}

/// Returns the blocks of a user's message that a provider takes.
pub(crate) fn shown(message: &Message) -> Vec<ContentBlock> {
    let blocks = message
        .content
        .iter()
        .filter(|block| is_shown(block) && !matches!(block, ContentBlock::ToolCall(_)));
    blocks.cloned().collect()
}

/// Returns a group as text blocks: what was called, and what came of it.
pub(crate) fn as_text(group: Group) -> Vec<ContentBlock> {
    let mut results = group.results.into_iter();
    let text = |block| match block {
        ContentBlock::ToolCall(call) => {
            let came = match results.next() {
                Some(ContentBlock::ToolResult(result)) => {
                    format!("{}: {}", result.status.as_str(), result.content)
                }
                _ => String::new(),
            };
            ContentBlock::text(format!(
                "[called {} with {}; {came}]",
                call.name, call.arguments
            ))
        }
        other => other,
    };
    group.said.into_iter().map(text).collect()
}

fn is_shown(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Reasoning { .. } | ContentBlock::ToolResult(_) => false,
        ContentBlock::Text { text } => !text.trim().is_empty(),
        _ => true,
    }
}

fn accepted(call: &ToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        name: as_tool_name(&call.name),
        arguments: if is_arguments(&call.arguments) {
            call.arguments.clone()
        } else {
            "{}".to_owned()
        },
    }
}
