//! The conversation in short, for whoever chooses a call from a user's words.

use std::sync::Arc;

use prompt_compiler::ByteBound;
use skill_core::Message;

use crate::compact::excerpts;

/// After how many turns it is made anew.
pub(crate) const EVERY: u32 = 2;

/// The messages it looks back on.
const RECENT: usize = 12;

/// The longest digest, in bytes.
const LONGEST: u64 = 1_200;

/// Returns the digest of a conversation.
pub(crate) fn digest(messages: &[Arc<Message>]) -> String {
    let start = messages.len().saturating_sub(RECENT);
    let recent = messages.get(start..).unwrap_or_default();
    excerpts(recent, None, LONGEST, &ByteBound)
}
