//! What one compilation leaves for the next: counts and rendered pieces, as a value passed along.

use std::collections::BTreeMap;

use crate::conversation::Turns;
use crate::input::SkillEntry;
use crate::listing::Listing;
use crate::preset::IndexTexts;

/// Counts and rendered pieces of earlier requests of a session.
///
/// Compiling with a cache gives the very bytes that compiling without one gives; it only costs less
/// where a request has much in common with the one before. A cache is a value without meaning of
/// its own: drop it at any time, and keep one for each session.
#[derive(Clone, Debug, Default)]
pub struct CompileCache {
    /// What counts were made with; counts of another kind are worth nothing.
    pub(crate) basis: String,
    pub(crate) texts: Texts,
    pub(crate) turns: Turns,
    pub(crate) index: Option<CachedIndex>,
}

/// An index and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct CachedIndex {
    pub(crate) texts: IndexTexts,
    pub(crate) visible: Vec<SkillEntry>,
    pub(crate) budget: usize,
    pub(crate) tools: bool,
    pub(crate) listing: Listing,
}

impl CompileCache {
    /// Forgets counts that were made with something else.
    pub(crate) fn counted_with(&mut self, basis: String) {
        if self.basis != basis {
            self.basis = basis;
            self.texts = Texts::default();
            self.turns.forget_counts();
        }
    }
}

/// Counts of texts, kept as long as each request uses them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    current: BTreeMap<String, u64>,
    previous: BTreeMap<String, u64>,
}

impl Texts {
    /// Begins a request: what the one before it did not use is forgotten.
    pub(crate) fn begin(&mut self) {
        self.previous = std::mem::take(&mut self.current);
    }

    /// Returns the count of `text`, from memory or from `count`.
    pub(crate) fn count(&mut self, text: &str, count: impl FnOnce() -> u64) -> u64 {
        if let Some(tokens) = self.current.get(text) {
            return *tokens;
        }
        let (text, tokens) = self
            .previous
            .remove_entry(text)
            .unwrap_or_else(|| (text.to_owned(), count()));
        self.current.insert(text, tokens);
        tokens
    }
}
