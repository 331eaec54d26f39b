//! A request before it is put together: what every stage has to show.

use std::sync::Arc;

use skill_core::Message;

use crate::cache::CachedIndex;
use crate::conversation::Turns;
use crate::groups::Form;
use crate::input::{ContextFragment, SkillText};
use crate::meter::Meter;
use crate::pipeline::Stage;

/// Where the text of a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Among the system blocks, in the order of the stages; it had better be the same for every
    /// request of a session.
    System,
    /// In front of the words of the user.
    Turn,
}

/// A piece of text with a name and a line in the ledger. It is never cut afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub(crate) name: &'static str,
    pub(crate) slot: Slot,
    pub(crate) text: String,
    /// What there was to show and what is shown, in any unit, where that is not the same.
    pub(crate) share: Option<(usize, usize)>,
    /// Tokens there would be without a cap, where that is known.
    pub(crate) asked: Option<u64>,
    /// The most tokens it may take in a request of this window.
    pub(crate) cap: Option<u64>,
    pub(crate) cut: Vec<String>,
    pub(crate) source: String,
}

impl Section {
    /// Returns a section that shows all it has; an empty text is no section.
    pub fn new(name: &'static str, slot: Slot, text: impl Into<String>) -> Self {
        Self {
            name,
            slot,
            text: text.into(),
            share: None,
            asked: None,
            cap: None,
            cut: Vec::new(),
            source: String::new(),
        }
    }

    /// Says what was left out of it, and why.
    pub fn cut(mut self, note: impl Into<String>) -> Self {
        self.cut.push(note.into());
        self
    }

    /// Says how much of what there was is shown.
    pub(crate) fn shortened(mut self, asked: usize, given: usize, cut: Vec<String>) -> Self {
        self.share = (asked > given).then_some((asked, given));
        self.cut = cut;
        self
    }
}

/// What the stages have to show, in the order in which they said so.
pub struct Draft<'a> {
    pub(crate) meter: &'a Meter<'a>,
    pub(crate) stages: &'a [Arc<dyn Stage>],
    pub(crate) turns: &'a mut Turns,
    pub(crate) index: &'a mut Option<CachedIndex>,
    pub(crate) sections: Vec<Section>,
    pub(crate) fragments: Vec<ContextFragment>,
    pub(crate) open: Vec<SkillText>,
    pub(crate) open_cut: Vec<String>,
}

impl std::fmt::Debug for Draft<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Draft")
            .field("sections", &self.sections)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl Draft<'_> {
    /// Adds a section behind those that are there.
    pub fn add(&mut self, section: Section) {
        if !section.text.is_empty() {
            self.sections.push(section);
        }
    }

    /// Returns the tokens of `text`, as this request is measured.
    pub fn tokens(&self, text: &str) -> u64 {
        self.meter.text(text)
    }

    /// Takes in the conversation.
    pub(crate) fn take_messages(&mut self, messages: &[Arc<Message>], form: Form) {
        self.turns.take(messages, form, self.stages);
    }
}
