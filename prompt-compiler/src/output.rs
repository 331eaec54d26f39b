//! What compiling gives: the request, and a ledger of every token in it.

use serde::{Deserialize, Serialize};
use skill_core::{CompletionRequest, ContentBlock, Message};

/// A request with its ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPrompt {
    /// What goes to the provider.
    pub request: CompletionRequest,
    /// What each section asked for and got.
    pub report: Report,
    /// Marks of this request's blocks, for the next one's [`Report::stable_prefix`].
    pub marks: Vec<BlockMark>,
    /// Where a provider that takes cache breakpoints is to put them.
    pub breakpoints: Vec<Breakpoint>,
}

/// A place behind which a provider's cache may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breakpoint {
    /// Behind this system block: all before it is the same for the whole session.
    System(usize),
    /// Behind this message: all before it is the same until the window moves.
    Message(usize),
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
    /// What counts were made with.
    #[serde(default)]
    pub basis: String,
    /// Tokens at the start of the request that equal the previous request of the session; for a
    /// first request, the sections that stay the same for the session.
    pub stable_prefix: u64,
    /// Where the request parts from the previous one, unless it goes on where that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parted: Option<Parting>,
    /// What the request is expected to cost, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
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
    /// Who put it there and from where, as far as it was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Where and why two requests of a session part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parting {
    /// The section of the first block that differs.
    pub section: String,
    /// Blocks that both have.
    pub blocks: usize,
    /// Tokens that both have.
    pub tokens: u64,
    /// Why.
    pub reason: String,
}

/// What a request is expected to cost, in millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The part that the provider's cache has, and the rest, at their prices.
    pub input: u64,
    /// What the input would cost without a cache.
    pub input_uncached: u64,
    /// The longest answer allowed.
    pub output_most: u64,
}

/// Section, size and fingerprint of one block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMark {
    /// The section it belongs to.
    pub section: &'static str,
    /// A 64-bit fingerprint of the block.
    pub fingerprint: u64,
    /// Its tokens.
    pub tokens: u64,
}

impl BlockMark {
    /// Compares the marks of two requests; `None` when the later one goes on where the other ended.
    pub fn parting(before: &[Self], after: &[Self]) -> Option<Parting> {
        let same = common(before, after);
        let (gone, new) = (before.get(same), after.get(same));
        gone?;
        Some(Parting {
            section: new.or(gone).map_or("", |mark| mark.section).to_owned(),
            blocks: same,
            tokens: Self::shared(before, after),
            reason: reason(before, after, same).to_owned(),
        })
    }

    /// Returns the tokens of the leading blocks that both requests have.
    pub fn shared(before: &[Self], after: &[Self]) -> u64 {
        let same = after.iter().take(common(before, after));
        same.map(|mark| mark.tokens).sum()
    }
}

/// Returns how many leading blocks both requests have.
fn common(before: &[BlockMark], after: &[BlockMark]) -> usize {
    let pairs = before.iter().zip(after);
    pairs
        .take_while(|(one, other)| one.fingerprint == other.fingerprint)
        .count()
}

/// Says why block number `at` is not the same.
fn reason(before: &[BlockMark], after: &[BlockMark], at: usize) -> &'static str {
    let (Some(gone), Some(new)) = (before.get(at), after.get(at)) else {
        return "the request is shorter";
    };
    if gone.section != new.section {
        return match (gone.section, new.section) {
            (_, "open_skills") | ("open_skills", _) => {
                "an open skill is placed elsewhere than before"
            }
            ("user", "history") => "what was put beside the last message stands there no more",
            (_, "always" | "index") | ("always" | "index", _) => "other skills are visible",
            _ => "a section came or went",
        };
    }
    match new.section {
        "tools" => "other tools are on offer",
        "system" => "the system text changed",
        "context" => "the context of the session changed",
        "always" | "index" => "other skills are visible",
        "open_skills" => "other skills are open, or their text changed",
        "history" => {
            let moved = |mark: &BlockMark| mark.fingerprint == new.fingerprint;
            if before.iter().skip(at + 1).any(moved) {
                "the window moved: older rounds were left out"
            } else {
                "an earlier message is shown in another form"
            }
        }
        "user" => "the message or what stands beside it changed",
        "tool_groups" => "older calls of the turn were left out, or are shown in another form",
        _ => "its text changed",
    }
}

/// A fingerprint of what a block says: the same on every machine and in every version.
///
/// It tells changes apart and proves nothing: who wants to collide it can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of(text: &str) -> u64 {
        Self::new().text(text).0
    }

    pub(crate) fn of_message(message: &Message) -> u64 {
        Self::new().message(message).0
    }

    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }

    pub(crate) fn message(self, message: &Message) -> Self {
        message
            .content
            .iter()
            .fold(self.word(message.role as u64), Self::block)
    }

    fn block(self, block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text { text } => self.word(1).text(text),
            ContentBlock::Reasoning { text } => self.word(2).text(text),
            ContentBlock::ToolCall(call) => self
                .word(3)
                .text(&call.id)
                .text(&call.name)
                .text(&call.arguments),
            ContentBlock::ToolResult(result) => self
                .word(4)
                .text(&result.call_id)
                .text(result.status.as_str())
                .text(&result.content),
            other => self
                .word(5)
                .text(&serde_json::to_string(other).unwrap_or_default()),
        }
    }

    /// Takes in a text, eight bytes at a time, and its length.
    pub(crate) fn text(self, text: &str) -> Self {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let state = words
            .iter()
            .fold(self, |state, word| state.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        state.word(u64::from_le_bytes(last)).word(text.len() as u64)
    }

    fn word(self, word: u64) -> Self {
        let mixed = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        Self(mixed ^ (mixed >> 32))
    }
}

impl SectionReport {
    pub(crate) fn whole(name: &str, size: u64) -> Self {
        Self {
            name: name.to_owned(),
            asked: size,
            given: size,
            cut: Vec::new(),
            sources: Vec::new(),
        }
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

/// A request that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// It cannot be made to fit.
    #[error(transparent)]
    Limit(#[from] ContextLimit),
    /// There is no message of a user: no provider answers that.
    #[error("there is no message of the user to answer")]
    NothingToAnswer,
}
