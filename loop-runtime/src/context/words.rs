//! Words of a text for comparing it with another: folded, CJK in pairs of characters.

use std::collections::BTreeMap;

/// Words that say nothing about what a text is about.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "i", "in",
    "is", "it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "with",
    "you",
];

/// The words of a text and how often each occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    counts: BTreeMap<String, u32>,
    total: u32,
}

impl Words {
    /// Returns the words of `text`.
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        let (mut word, mut before) = (String::new(), None);
        for letter in text.chars().flat_map(char::to_lowercase).chain([' ']) {
            if is_cjk(letter) {
                words.take(&mut word);
                // Without spaces between words, pairs of characters stand for them.
                if let Some(before) = before {
                    words.add([before, letter].iter().collect());
                }
                before = Some(letter);
                continue;
            }
            before = None;
            if letter.is_alphanumeric() {
                word.push(letter);
            } else {
                words.take(&mut word);
            }
        }
        words
    }

    fn take(&mut self, word: &mut String) {
        let whole = std::mem::take(word);
        if !whole.is_empty() && !EMPTY.contains(&whole.as_str()) {
            self.add(stem(whole));
        }
    }

    fn add(&mut self, word: String) {
        *self.counts.entry(word).or_default() += 1;
        self.total += 1;
    }

    /// Returns how many different words both have.
    pub(super) fn shared(&self, other: &Self) -> usize {
        let known = |word: &&String| other.counts.contains_key(*word);
        self.counts.keys().filter(known).count()
    }

    /// Returns how often `word` occurs.
    pub(super) fn count(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Returns the number of words.
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Returns each word once.
    pub(super) fn each(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }
}

/// Takes the commonest English endings off, so that `reads` finds `read`.
fn stem(word: String) -> String {
    let ascii = word.is_ascii();
    let cut = ["ing", "ed", "es", "s"].into_iter().find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        (ascii && rest.len() >= 3 && !rest.ends_with('s')).then(|| rest.to_owned())
    });
    cut.unwrap_or(word)
}

/// Tells whether a letter belongs to a script that puts no blanks between words.
pub(super) fn is_cjk(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Words::of(text).each().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_folded_stemmed_and_without_what_says_nothing() {
        assert_eq!(
            words("The Importer reads; reading tests!"),
            ["importer", "read", "test"]
        );
    }

    #[test]
    fn text_without_spaces_is_compared_in_pairs_of_characters() {
        assert_eq!(words("写周报v2"), ["v2", "写周", "周报"]);
    }
}
