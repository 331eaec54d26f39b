//! Which documents of a skill are shown with it.

use std::collections::BTreeSet;

/// Which documents of a skill are shown with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocsSelection {
    /// Every one.
    All,
    /// These.
    Some(Vec<String>),
}

impl DocsSelection {
    /// Reads a value of state; `None` when it cannot be read.
    pub(super) fn read(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::Some(Vec::new())),
            "*" => Some(Self::All),
            text => serde_json::from_str(text).ok().map(Self::Some),
        }
    }

    fn write(self) -> String {
        match self {
            Self::All => "*".to_owned(),
            // A list of strings always serialises.
            Self::Some(docs) => serde_json::to_string(&docs).unwrap_or_default(),
        }
    }
}

/// Returns what a change of the selection `current` to `value` comes to.
///
/// A value as [`skill_core::state::docs_addition`] makes it adds to what is there: sorted, each
/// once; what is already everything stays everything. Any other value takes its place.
pub(super) fn changed(current: &str, value: &str) -> String {
    let Some(added) = value
        .strip_prefix(skill_core::state::DOCS_ADDITION)
        .and_then(DocsSelection::read)
    else {
        return value.to_owned();
    };
    let current = DocsSelection::read(current).unwrap_or(DocsSelection::Some(Vec::new()));
    match (current, added) {
        (DocsSelection::All, _) | (_, DocsSelection::All) => DocsSelection::All,
        (DocsSelection::Some(current), DocsSelection::Some(added)) => {
            let all: BTreeSet<String> = current.into_iter().chain(added).collect();
            DocsSelection::Some(all.into_iter().collect())
        }
    }
    .write()
}

#[cfg(test)]
mod tests {
    use skill_core::state::docs_addition;

    use super::*;

    #[test]
    fn d_071_adding_keeps_what_is_there_and_sorts_it() {
        assert_eq!(
            changed("[\"USAGE.md\"]", &docs_addition(["EXTRA.md", "USAGE.md"])),
            "[\"EXTRA.md\",\"USAGE.md\"]"
        );
        assert_eq!(changed("", &docs_addition(["b", "a"])), "[\"a\",\"b\"]");
    }

    #[test]
    fn d_071_everything_stays_everything_until_it_is_replaced() {
        assert_eq!(changed("*", &docs_addition(["a"])), "*");
        assert_eq!(changed("*", "[]"), "[]");
        assert_eq!(changed("[\"a\"]", "*"), "*");
    }

    #[test]
    fn adding_to_a_selection_that_cannot_be_read_begins_anew() {
        assert_eq!(changed("{", &docs_addition(["a"])), "[\"a\"]");
    }
}
