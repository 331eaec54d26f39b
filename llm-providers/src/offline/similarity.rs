//! Compares texts by their characters: for what shares no word, and yet is nearer than the rest.

use std::collections::BTreeSet;

use crate::offline::index::Entry;
use crate::offline::words::terms;

/// How many neighbouring letters of a word are compared at once.
const LETTERS: [usize; 2] = [2, 3];

/// The characters of a task, ready to be compared with many skills.
#[derive(Debug)]
pub(super) struct Likeness(BTreeSet<String>);

impl Likeness {
    pub(super) fn new(task: &str) -> Self {
        Self(pieces(task))
    }

    /// Returns how much an entry resembles the task: 0 if in nothing. A name counts again by itself.
    pub(super) fn of(&self, entry: &Entry) -> f64 {
        let name = pieces(&entry.id);
        let all = &name | &pieces(&entry.description);
        self.cosine(&name) + self.cosine(&all)
    }

    fn cosine(&self, other: &BTreeSet<String>) -> f64 {
        let shared = self.0.intersection(other).count() as f64;
        let size = (self.0.len() * other.len()) as f64;
        if size > 0.0 {
            shared / size.sqrt()
        } else {
            0.0
        }
    }
}

/// Returns the runs of letters in the terms of a text, and its CJK characters one by one.
fn pieces(text: &str) -> BTreeSet<String> {
    let mut pieces = BTreeSet::new();
    for term in terms(text) {
        if term.is_ascii() {
            let letters: Vec<char> = format!("^{term}$").chars().collect();
            let windows = LETTERS.iter().flat_map(|length| letters.windows(*length));
            pieces.extend(windows.map(String::from_iter));
        } else {
            pieces.extend(term.chars().map(String::from));
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::Likeness;
    use crate::offline::index::Entry;

    fn likeness(task: &str, id: &str, description: &str) -> f64 {
        Likeness::new(task).of(&Entry {
            id: id.into(),
            description: description.into(),
            always: false,
        })
    }

    #[test]
    fn words_that_are_related_or_misspelt_resemble_each_other() {
        let near = likeness("documentaton", "docs", "Writes documentation.");
        let far = likeness("documentaton", "weather", "Tells how warm it is.");
        assert!(near > far, "{near} {far}");
        let near = likeness("订会议室", "会议", "整理纪要");
        let far = likeness("订会议室", "天气", "查询温度");
        assert!(near > far, "{near} {far}");
    }

    #[test]
    fn what_shares_nothing_has_no_likeness() {
        assert_eq!(likeness("煮汤", "weather", "Tells how warm it is."), 0.0);
        assert_eq!(likeness("", "", ""), 0.0);
    }
}
