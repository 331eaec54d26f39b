//! What compiling gives: the request, and a ledger of every token in it.

use serde::{Deserialize, Serialize};
use skill_core::CompletionRequest;

/// A request with its ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPrompt {
    /// What goes to the provider.
    pub request: CompletionRequest,
    /// What each section asked for and got.
    pub report: Report,
    /// Marks of this request's blocks, for the next one's [`Report::stable_prefix`].
    pub marks: Vec<BlockMark>,
}

/// The ledger of a request. All figures are tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The model's window.
    pub window: u64,
    /// Tokens kept free for the answer.
    pub reserve_output: u64,
    /// Tokens of the request.
    pub total: u64,
    /// Whether counts are exact; else they are upper bounds or estimates.
    pub exact: bool,
    /// Tokens at the start of the request that equal the previous request of the session; for a
    /// first request, the sections that stay the same for the session.
    pub stable_prefix: u64,
    /// One line a section, in the order of the request.
    pub sections: Vec<SectionReport>,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionReport {
    /// The section.
    pub name: String,
    /// Tokens of all there was to show.
    pub asked: u64,
    /// Tokens shown.
    pub given: u64,
    /// What was shortened or left out, and why.
    pub cut: Vec<String>,
}

/// Size and fingerprint of one block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMark {
    /// A 64-bit fingerprint (FNV-1a) of the block's text.
    pub fingerprint: u64,
    /// Its tokens.
    pub tokens: u64,
}

impl BlockMark {
    pub(crate) fn new(bytes: &[u8], tokens: u64) -> Self {
        Self {
            fingerprint: Self::fingerprint(bytes),
            tokens,
        }
    }

    /// Returns the FNV-1a hash: the same on every machine and in every version.
    pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// A request that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{total} tokens do not fit into {limit} (window {window}, {reserve_output} reserved for the answer); the largest parts are {}", largest.join(", "))]
pub struct ContextLimit {
    /// Tokens of what can't be left out.
    pub total: u64,
    /// Tokens there are.
    pub limit: u64,
    /// The window.
    pub window: u64,
    /// Tokens kept for the answer.
    pub reserve_output: u64,
    /// The largest parts with their tokens, largest first.
    pub largest: Vec<String>,
}
