//! The identity of a skill: safe text, compared without regard to case or composition.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The id a skill is opened by.
///
/// Any text in NFC without control characters; an id is never used as a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SkillId(String);

impl SkillId {
    /// Returns the id written as `text`: trimmed, composed, control characters left out.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control()) {
            return Self(text.to_owned());
        }
        Self(text.nfc().filter(|letter| !letter.is_control()).collect())
    }

    /// Returns the id written as `text`, without a copy where it is one already.
    pub(crate) fn from_text(text: String) -> Self {
        if text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Self(text);
        }
        Self::new(&text)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for SkillId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for SkillId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Returns the form in which names are compared without regard to case: trimmed, NFC, lower case.
pub(crate) fn fold(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_or_composition_fold_alike() {
        assert_eq!(fold(" Cafe\u{301} "), fold("CAFÉ"));
        assert_eq!(fold("PDF"), "pdf");
    }

    #[test]
    fn an_id_is_composed_and_free_of_controls() {
        assert_eq!(SkillId::new(" cafe\u{301}\u{7}\n").as_str(), "café");
    }
}
