//! The conversation: whole rounds of the past, the current user message, its tool groups.

use skill_core::{Message, Role};

/// A conversation cut at its seams.
#[derive(Debug)]
pub(crate) struct Conversation<'a> {
    /// Rounds before the current one, oldest first; each begins with a user message.
    pub(crate) rounds: Vec<&'a [Message]>,
    /// The current user message.
    pub(crate) user: Option<&'a Message>,
    /// The tool groups of the current turn, oldest first: an assistant message and its results.
    pub(crate) groups: Vec<&'a [Message]>,
}

impl<'a> Conversation<'a> {
    /// Cuts `messages` at user messages; the last one begins the current turn.
    pub(crate) fn split(messages: &'a [Message]) -> Self {
        let starts = positions(messages, Role::User);
        let (history, turn) = messages.split_at(starts.last().copied().unwrap_or(0));
        let (user, rest) = match turn.split_first() {
            Some((first, rest)) if first.role == Role::User => (Some(first), rest),
            _ => (None, turn),
        };
        Self {
            rounds: pieces(history, &positions(history, Role::User)),
            user,
            groups: pieces(rest, &positions(rest, Role::Assistant)),
        }
    }
}

fn positions(messages: &[Message], role: Role) -> Vec<usize> {
    messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == role)
        .map(|(position, _)| position)
        .collect()
}

/// Cuts in front of each start; what stands before the first start is a piece of its own.
fn pieces<'a>(messages: &'a [Message], starts: &[usize]) -> Vec<&'a [Message]> {
    let mut cuts: Vec<usize> = vec![0];
    cuts.extend(starts.iter().copied().filter(|start| *start > 0));
    cuts.push(messages.len());
    cuts.windows(2)
        .filter_map(|pair| messages.get(*pair.first()?..*pair.last()?))
        .filter(|piece| !piece.is_empty())
        .collect()
}
