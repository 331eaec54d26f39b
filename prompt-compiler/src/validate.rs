//! The strictest reader there is: rejects what any real provider rejects.

use std::collections::BTreeSet;
use std::sync::Arc;

use skill_core::{CompletionRequest, ContentBlock, Message, Role};
use thiserror::Error;

use crate::groups::is_object;

/// Why a provider would reject a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestFault {
    /// There is nothing to answer.
    #[error("the request has no messages")]
    Empty,
    /// A message of a role that cannot stand there.
    #[error("message {position} is of a role that cannot stand there")]
    Order {
        /// Its position, from 0.
        position: usize,
    },
    /// A message or text without content.
    #[error("message {position} has an empty block or none")]
    EmptyBlock {
        /// Its position, from 0.
        position: usize,
    },
    /// Calls and results do not match one to one.
    #[error("calls of message {position} and their results do not match")]
    Unpaired {
        /// The position of the message with the calls.
        position: usize,
    },
    /// An id used twice.
    #[error("call id `{id}` is used twice")]
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
    /// A call with no name.
    #[error("a call without a tool name")]
    NamelessCall,
}

/// Checks a request against what every provider demands.
///
/// # Errors
///
/// The first [`RequestFault`].
pub fn validate(request: &CompletionRequest) -> Result<(), RequestFault> {
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
    }
    match messages.last() {
        Some(last) if last.role == Role::Assistant => Err(RequestFault::Order {
            position: messages.len() - 1,
        }),
        _ => Ok(()),
    }
}

fn blocks(position: usize, message: &Message) -> Result<(), RequestFault> {
    let blank = |block: &ContentBlock| block.as_text().is_some_and(str::is_empty);
    if message.content.is_empty() || message.content.iter().any(blank) {
        return Err(RequestFault::EmptyBlock { position });
    }
    Ok(())
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
        if call.name.is_empty() {
            return Err(RequestFault::NamelessCall);
        }
        if !is_object(&call.arguments) {
            return Err(RequestFault::Arguments {
                id: call.id.clone(),
            });
        }
        if !ids.insert(call.id.clone()) {
            return Err(RequestFault::DuplicateId {
                id: call.id.clone(),
            });
        }
        called.push(call.id.as_str());
    }
    if message.role == Role::Tool {
        return Ok(());
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
