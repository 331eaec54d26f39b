//! Where a conversation is cut: between rounds, or between the tool groups of the last one.

use std::sync::Arc;

use skill_core::{Message, Role};

/// A cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The number of messages, from the oldest, that the summary stands for. The user message of
    /// the current round stays, even where it is one of them.
    pub(crate) upto: usize,
    /// The tokens of the messages that stay.
    pub(crate) remaining: u64,
}

/// Chooses the smallest cut that brings the messages down to `room` tokens, else the largest one.
///
/// `sizes` are the tokens of each message. `None` when there is nothing that could be cut: the
/// newest round keeps its user message and its newest tool group.
pub(crate) fn plan(messages: &[Arc<Message>], sizes: &[u64], room: u64) -> Option<Plan> {
    let last_user = messages
        .iter()
        .rposition(|message| message.role == Role::User)?;
    let cuts = messages.iter().enumerate().filter_map(|(at, message)| {
        let between_rounds = message.role == Role::User && at > 0;
        let between_groups = message.role == Role::Assistant && at > last_user + 1;
        (between_rounds || between_groups).then_some(at)
    });
    let tail = |from: usize| {
        sizes
            .iter()
            .skip(from)
            .copied()
            .fold(0, u64::saturating_add)
    };
    let mut best = None;
    for upto in cuts {
        let kept_user = if upto > last_user {
            sizes.get(last_user).copied().unwrap_or(0)
        } else {
            0
        };
        let remaining = tail(upto).saturating_add(kept_user);
        best = Some(Plan { upto, remaining });
        if remaining <= room {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a conversation from letters: u(ser), a(ssistant), t(ool).
    fn messages(letters: &str) -> Vec<Arc<Message>> {
        letters
            .chars()
            .map(|letter| {
                let role = match letter {
                    'u' => Role::User,
                    'a' => Role::Assistant,
                    _ => Role::Tool,
                };
                Arc::new(Message::text(role, "x"))
            })
            .collect()
    }

    fn cut(letters: &str, room: u64) -> Option<usize> {
        let messages = messages(letters);
        plan(&messages, &vec![10; messages.len()], room).map(|plan| plan.upto)
    }

    #[test]
    fn cuts_lie_between_whole_rounds() {
        assert_eq!(cut("uatatauau", 60), Some(6));
        assert_eq!(cut("uatatauau", 20), Some(8));
        assert_eq!(cut("uatauau", 10), Some(6));
    }

    #[test]
    fn in_the_current_round_cuts_lie_between_whole_tool_groups_and_the_user_message_stays() {
        let messages = messages("uauatatat");
        let plan = plan(&messages, &[10; 9], 50).unwrap();
        assert_eq!((plan.upto, plan.remaining), (5, 50));
    }

    #[test]
    fn the_newest_tool_group_stays_however_large() {
        assert_eq!(cut("uatat", 0), Some(3));
        assert_eq!(cut("uat", 0), None);
        assert_eq!(cut("u", 0), None);
    }
}
