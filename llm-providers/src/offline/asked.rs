//! What a task asks for, as terms to compare and as words to search with.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::offline::files::{with_stems, without_names};
use crate::offline::stop_words::WEAK_TERMS;
use crate::offline::words::terms;

/// What a term counts that only the name of a file has, or only its folders and ending.
const STEM_WEIGHT: f64 = 0.6;
const FOLDER_WEIGHT: f64 = 0.4;
/// The longest query sent to a listing tool, in characters.
const QUERY_CHARS: usize = 200;

/// The terms of a task, each with what it counts: where a file lies says little about a task.
#[derive(Debug)]
pub(super) struct Asked(BTreeMap<String, f64>);

impl Asked {
    pub(super) fn new(task: &str) -> Self {
        let mut weights = BTreeMap::new();
        let texts = [
            (without_names(task), 1.0),
            (with_stems(task), STEM_WEIGHT),
            (task.to_owned(), FOLDER_WEIGHT),
        ];
        for (text, weight) in texts {
            for term in terms(&text) {
                weights.entry(term).or_insert(weight);
            }
        }
        Self(weights)
    }

    pub(super) fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(term, weight)| (term.as_str(), *weight))
    }

    /// Returns the terms that are no everyday words and stand in the task itself.
    pub(super) fn telling(&self) -> impl Iterator<Item = &str> {
        let own = self.weights().filter(|(_, weight)| *weight >= 1.0);
        own.map(|(term, _)| term)
            .filter(|term| !WEAK_TERMS.contains(term))
    }
}

/// Returns the words of a task for a listing tool to look for: the beginnings of words that all
/// their forms share, and pairs of CJK characters. Weak ones serve only where there are no others.
pub(super) fn query(task: &str) -> String {
    let task = with_stems(task);
    let is_pair = |word: &String| !word.is_ascii() && terms(word) == [word.as_str()];
    let words = task
        .unicode_words()
        .filter(|word| word.chars().count() > 1)
        .filter_map(|word| {
            let stem = terms(word).into_iter().next()?;
            Some((beginning(word, &stem), stem))
        });
    let pairs = terms(&task).into_iter().filter(is_pair);
    let words: Vec<(String, String)> = words
        .chain(pairs.map(|pair| (pair.clone(), pair)))
        .collect();
    let is_weak = |stem: &str| WEAK_TERMS.contains(&stem);
    let all_weak = words.iter().all(|(_, stem)| is_weak(stem));
    let mut query: Vec<String> = Vec::new();
    let mut length = 0;
    for (word, _) in words
        .into_iter()
        .filter(|(_, stem)| all_weak || !is_weak(stem))
    {
        length += word.chars().count() + 1;
        if length > QUERY_CHARS {
            break;
        }
        if !query.contains(&word) {
            query.push(word);
        }
    }
    query.join(" ")
}

/// Returns a word without its ending, but whole if its stem is no part of it or only lacks an `e`.
fn beginning(word: &str, stem: &str) -> String {
    let ending = word
        .get(..stem.len())
        .filter(|start| start.eq_ignore_ascii_case(stem))
        .and_then(|_| word.get(stem.len()..));
    match ending {
        Some("es") if !stem.ends_with(['s', 'x', 'z', 'h']) => format!("{stem}e"),
        Some(ending) if ending.len() > 1 || ending == "s" => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, query};

    #[test]
    fn the_name_of_a_file_counts_less_than_the_task_and_its_folder_least() {
        let asked = Asked::new("sum up plans/budget.csv, the budget for 周会/报价.md");
        let weights: Vec<(&str, f64)> = asked.weights().collect();
        assert_eq!(
            weights,
            [
                ("budget", 1.0),
                ("csv", 0.4),
                ("md", 0.4),
                ("plan", 0.4),
                ("sum", 1.0),
                ("周会", 0.4),
                ("报价", 0.6),
            ]
        );
        assert_eq!(asked.telling().collect::<Vec<_>>(), ["budget", "sum"]);
    }

    #[test]
    fn a_query_holds_the_telling_words_once() {
        assert_eq!(query("Please fill the form, the PDF form"), "fill form PDF");
        assert_eq!(
            query("Reviewing reports, summarise policies, boxes, minutes of Analysis"),
            "review report summarise policies box minute Analysis"
        );
        assert_eq!(query("帮我写本周的周报 PDF"), "PDF 写本 本周 周报");
        assert_eq!(query("sum up a/budget.csv"), "sum budget");
        assert_eq!(query("run the new project"), "run new project");
        assert!(query(&"word ".repeat(1000)).chars().count() <= 200);
    }
}
