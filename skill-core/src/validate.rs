//! The strictest reader there is: rejects what any real provider rejects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::de::IgnoredAny;
use thiserror::Error;

use crate::message::{ContentBlock, Message, Role};
use crate::model::CompletionRequest;
use crate::tool::ToolDefinition;

/// The longest name of a tool, in bytes.
const NAME_BYTES: usize = 64;

/// Why a provider would reject a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestFault {
    /// There is nothing to answer.
    #[error("the request has no messages")]
    Empty,
    /// A system block without text.
    #[error("system block {position} is blank")]
    BlankSystem {
        /// Its position, from 0.
        position: usize,
    },
    /// A message of a role that cannot stand there.
    #[error("message {position} is of a role that cannot stand there")]
    Order {
        /// Its position, from 0.
        position: usize,
    },
    /// A message or text without content.
    #[error("message {position} has a blank block or none")]
    EmptyBlock {
        /// Its position, from 0.
        position: usize,
    },
    /// A block that a message of this role cannot have.
    #[error("message {position} has a block that its role cannot have")]
    Misplaced {
        /// Its position, from 0.
        position: usize,
    },
    /// Calls and results do not match one to one.
    #[error("calls of message {position} and their results do not match")]
    Unpaired {
        /// The position of the message with the calls.
        position: usize,
    },
    /// An id used twice, or none.
    #[error("call id `{id}` is empty or used twice")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// Arguments that are no JSON object.
    #[error("arguments of call `{id}` are no JSON object")]
    Arguments {
        /// The call's id.
        id: String,
    },
    /// A call with a name that no tool can have.
    #[error("`{name}` is no name of a tool")]
    Name {
        /// The name.
        name: String,
    },
    /// Two tools of one name.
    #[error("tool `{name}` is offered twice")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// A schema that is not one of an object.
    #[error("the parameters of tool `{name}` are no schema of an object")]
    Parameters {
        /// The name of the tool.
        name: String,
    },
    /// Calls of the past where no tools are on offer.
    #[error("message {position} has calls, but the request offers no tools")]
    CallsWithoutTools {
        /// Its position, from 0.
        position: usize,
    },
    /// A call that has not ended.
    #[error("call `{id}` has a result, but has not ended")]
    NotEnded {
        /// The call's id.
        id: String,
    },
}

/// Checks a request against what every provider demands.
///
/// # Errors
///
/// The first [`RequestFault`].
pub fn validate(request: &CompletionRequest) -> Result<(), RequestFault> {
    system(&request.system)?;
    tools(&request.tools)?;
    let messages = &request.messages;
    match messages.first() {
        None => return Err(RequestFault::Empty),
        Some(first) if first.role != Role::User => return Err(RequestFault::Order { position: 0 }),
        Some(_) => {}
    }
    let mut ids = BTreeSet::new();
    for (position, message) in messages.iter().enumerate() {
        blocks(position, message)?;
        let next = messages.get(position + 1).map(Arc::as_ref);
        order(position, message, next)?;
        calls(position, message, next, &mut ids)?;
        if request.tools.is_empty() && message.tool_calls().next().is_some() {
            return Err(RequestFault::CallsWithoutTools { position });
        }
    }
    match messages.last() {
        Some(last) if last.role == Role::Assistant => Err(RequestFault::Order {
            position: messages.len() - 1,
        }),
        _ => Ok(()),
    }
}

/// Tells whether a tool can have this name: 1 to 64 ASCII letters, digits, `_` and `-`.
pub fn is_tool_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(fits_tool_name)
}

/// Returns the nearest name that a tool can have, to what a model wrote; empty only for nothing.
pub fn as_tool_name(name: &str) -> String {
    let letter = |letter| if fits_tool_name(letter) { letter } else { '_' };
    name.chars().take(NAME_BYTES).map(letter).collect()
}

fn fits_tool_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Tells whether `text` can be the arguments of a call: a JSON object.
pub fn is_arguments(text: &str) -> bool {
    serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).is_ok()
}

fn system(blocks: &[String]) -> Result<(), RequestFault> {
    match blocks.iter().position(|block| block.trim().is_empty()) {
        Some(position) => Err(RequestFault::BlankSystem { position }),
        None => Ok(()),
    }
}

fn tools(tools: &[ToolDefinition]) -> Result<(), RequestFault> {
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = || tool.name.clone();
        if !is_tool_name(&tool.name) {
            return Err(RequestFault::Name { name: name() });
        }
        if !names.insert(&tool.name) {
            return Err(RequestFault::DuplicateTool { name: name() });
        }
        if tool.parameters.get("type").and_then(|kind| kind.as_str()) != Some("object") {
            return Err(RequestFault::Parameters { name: name() });
        }
    }
    Ok(())
}

fn blocks(position: usize, message: &Message) -> Result<(), RequestFault> {
    let blank = |block: &ContentBlock| block.as_text().is_some_and(|text| text.trim().is_empty());
    if message.content.is_empty() || message.content.iter().any(blank) {
        return Err(RequestFault::EmptyBlock { position });
    }
    let fits = |block: &ContentBlock| match block {
        ContentBlock::ToolCall(_) => message.role == Role::Assistant,
        ContentBlock::ToolResult(_) => message.role == Role::Tool,
        ContentBlock::Reasoning { .. } => false,
        _ => message.role != Role::Tool,
    };
    if message.content.iter().all(fits) {
        Ok(())
    } else {
        Err(RequestFault::Misplaced { position })
    }
}

fn order(position: usize, message: &Message, next: Option<&Message>) -> Result<(), RequestFault> {
    let Some(next) = next else { return Ok(()) };
    let fits = match (message.role, next.role) {
        (_, Role::System) | (Role::System, _) => false,
        (Role::User, next) => next == Role::Assistant,
        (Role::Assistant, next) => next != Role::Assistant,
        (Role::Tool, next) => next != Role::Tool,
    };
    if fits {
        Ok(())
    } else {
        Err(RequestFault::Order {
            position: position + 1,
        })
    }
}

fn calls(
    position: usize,
    message: &Message,
    next: Option<&Message>,
    ids: &mut BTreeSet<String>,
) -> Result<(), RequestFault> {
    let mut called = Vec::new();
    for call in message.tool_calls() {
        let id = || call.id.clone();
        if !is_tool_name(&call.name) {
            return Err(RequestFault::Name {
                name: call.name.clone(),
            });
        }
        if !is_arguments(&call.arguments) {
            return Err(RequestFault::Arguments { id: id() });
        }
        if call.id.is_empty() || !ids.insert(id()) {
            return Err(RequestFault::DuplicateId { id: id() });
        }
        called.push(call.id.as_str());
    }
    if message.role == Role::Tool {
        return match message
            .results()
            .find(|result| !result.status.is_terminal())
        {
            Some(result) => Err(RequestFault::NotEnded {
                id: result.call_id.clone(),
            }),
            None => Ok(()),
        };
    }
    let answered: Vec<&str> = match next.filter(|next| next.role == Role::Tool) {
        Some(next) => next
            .results()
            .map(|result| result.call_id.as_str())
            .collect(),
        None => Vec::new(),
    };
    if called == answered {
        Ok(())
    } else {
        Err(RequestFault::Unpaired { position })
    }
}
