//! The stages of a compilation, in the order in which their text stands in a request.

pub(crate) mod context;
pub(crate) mod history;
pub(crate) mod skill_results;
pub(crate) mod skills;
pub(crate) mod system;

/// Text of one section before it is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    /// The blocks there would be without caps.
    pub(crate) full: Vec<String>,
    /// The blocks shown.
    pub(crate) shown: Vec<String>,
    /// What was cut on the way from one to the other.
    pub(crate) cut: Vec<String>,
}

impl Section {
    /// Returns a section that shows all it has.
    pub(crate) fn whole(name: &'static str, blocks: Vec<String>) -> Self {
        Self {
            name,
            full: blocks.clone(),
            shown: blocks,
            cut: Vec::new(),
        }
    }
}
