//! Ranks listed skills by the words they share with a task (BM25), with a floor below which none fits.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

use crate::offline::index::Entry;
use crate::offline::stop_words::WEAK_TERMS;
use crate::offline::words::terms;

/// BM25's saturation of a term's count and weight of a text's length.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// What a weak or common term counts as evidence, where another counts 1.
const WEAK_EVIDENCE: f64 = 0.4;
/// Terms of a task beyond these do not thin out its coverage.
const LONG_TASK: f64 = 12.0;
/// The longest query sent to a listing tool, in characters.
const QUERY_CHARS: usize = 200;

/// Where a description says what a skill is not for; what follows would attract the wrong tasks.
const EXCLUSIONS: &[&str] = &[
    "not for",
    "not use",
    "n't use",
    "never use",
    "not when",
    "not intended",
    "不适用",
    "不要用",
    "不用于",
    "不包括",
    "勿用",
];

/// Skills in the order of how well they fit a task.
#[derive(Debug)]
pub(super) struct Ranking<'a> {
    /// Best first.
    ranked: Vec<Ranked<'a>>,
}

#[derive(Debug)]
struct Ranked<'a> {
    entry: &'a Entry,
    named: bool,
    score: f64,
    fits: bool,
}

impl<'a> Ranking<'a> {
    /// Ranks `entries` for `task`; equals keep their order.
    pub(super) fn new(entries: &'a [Entry], task: &str) -> Self {
        let query: BTreeSet<String> = terms(task).into_iter().collect();
        let corpus = Corpus::new(entries);
        let task = task.to_lowercase();
        let mut ranked: Vec<Ranked<'a>> = entries
            .iter()
            .zip(&corpus.texts)
            .map(|(entry, text)| {
                let named = names(&task, &entry.id.to_lowercase());
                Ranked {
                    entry,
                    named,
                    score: corpus.score(&query, text),
                    fits: named || corpus.is_evidence(&query, text),
                }
            })
            .collect();
        ranked.sort_by(|left, right| {
            let key = |ranked: &Ranked<'_>| (ranked.named, ranked.fits);
            key(right)
                .cmp(&key(left))
                .then(right.score.total_cmp(&left.score))
        });
        Self { ranked }
    }

    /// Returns the best skill, if it fits at all.
    pub(super) fn best(&self) -> Option<&'a Entry> {
        self.ranked
            .first()
            .filter(|ranked| ranked.fits)
            .map(|ranked| ranked.entry)
    }

    /// Returns the nearest skills, whether they fit or not.
    pub(super) fn nearest(&self, limit: usize) -> Vec<&'a Entry> {
        self.ranked
            .iter()
            .take(limit)
            .map(|ranked| ranked.entry)
            .collect()
    }
}

/// Returns the words of a task for a listing tool to look for: words as they are written, and pairs
/// of CJK characters.
pub(super) fn query(task: &str) -> String {
    let is_pair = |word: &String| !word.is_ascii() && terms(word) == [word.as_str()];
    let words = task
        .unicode_words()
        .filter(|word| word.chars().count() > 1 && !terms(word).is_empty())
        .map(str::to_owned)
        .chain(terms(task).into_iter().filter(is_pair));
    let mut query: Vec<String> = Vec::new();
    let mut length = 0;
    for word in words {
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

/// Tells whether `task` names the skill `id`, which must not be an everyday word.
fn names(task: &str, id: &str) -> bool {
    if !id.contains(|character: char| !character.is_ascii_alphanumeric()) {
        return task.contains(&format!("`{id}`")) || task.contains(&format!("/{id} "));
    }
    let is_part = |character: char| character.is_alphanumeric() || "-_./".contains(character);
    task.match_indices(id).any(|(at, _)| {
        let before = task.get(..at).and_then(|text| text.chars().next_back());
        let after = task
            .get(at + id.len()..)
            .and_then(|text| text.chars().next());
        let joined = |character: Option<char>| {
            character.is_some_and(|c| is_part(c) && c.is_ascii() && c != '.' && c != '/')
        };
        !joined(before) && !joined(after)
    })
}

#[derive(Debug)]
struct Corpus {
    texts: Vec<Text>,
    /// In how many texts a term occurs.
    frequency: BTreeMap<String, usize>,
    average_length: f64,
}

#[derive(Debug)]
struct Text {
    counts: BTreeMap<String, usize>,
    length: usize,
}

impl Corpus {
    fn new(entries: &[Entry]) -> Self {
        let texts: Vec<Text> = entries.iter().map(Text::new).collect();
        let mut frequency = BTreeMap::new();
        for term in texts.iter().flat_map(|text| text.counts.keys()) {
            *frequency.entry(term.clone()).or_insert(0) += 1;
        }
        let length: usize = texts.iter().map(|text| text.length).sum();
        let average_length = length as f64 / texts.len().max(1) as f64;
        Self {
            texts,
            frequency,
            average_length: average_length.max(1.0),
        }
    }

    fn score(&self, query: &BTreeSet<String>, text: &Text) -> f64 {
        let relative = text.length as f64 / self.average_length;
        let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative);
        let matched = query
            .iter()
            .filter_map(|term| Some((term, *text.counts.get(term)? as f64)));
        matched
            .map(|(term, count)| {
                self.rarity(term) * self.evidence(term) * count * (SATURATION + 1.0)
                    / (count + damping)
            })
            .sum()
    }

    fn rarity(&self, term: &str) -> f64 {
        let all = self.texts.len() as f64;
        let with = self.frequency.get(term).copied().unwrap_or(0) as f64;
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    fn evidence(&self, term: &str) -> f64 {
        let with = self.frequency.get(term).copied().unwrap_or(0);
        let common = self.texts.len() >= 4 && with * 2 > self.texts.len();
        if common || WEAK_TERMS.contains(&term) {
            WEAK_EVIDENCE
        } else {
            1.0
        }
    }

    /// The floor: two telling terms in common, or one that is a good part of a short task.
    fn is_evidence(&self, query: &BTreeSet<String>, text: &Text) -> bool {
        let weigh = |terms: &mut dyn Iterator<Item = &String>| -> f64 {
            terms.map(|term| self.evidence(term)).sum()
        };
        let shared = weigh(&mut query.iter().filter(|term| text.counts.contains_key(*term)));
        let asked = weigh(&mut query.iter()).min(LONG_TASK);
        shared >= 1.0 && (shared >= 2.0 || shared / asked >= 0.2)
    }
}

impl Text {
    fn new(entry: &Entry) -> Self {
        let mut counts = BTreeMap::new();
        // A name says more than a description of the same length.
        let name = terms(&entry.id);
        let description = terms(&purpose(&entry.description));
        let all = name.iter().chain(&name).chain(&description);
        let length = name.len() * 2 + description.len();
        for term in all {
            *counts.entry(term.clone()).or_insert(0) += 1;
        }
        Self { counts, length }
    }
}

/// Returns a description without what it says the skill is not for.
fn purpose(description: &str) -> String {
    let sentences = description.split_inclusive(['.', ';', '!', '?', '。', '；', '！', '？', '\n']);
    sentences
        .map(|sentence| {
            let lower = sentence.to_ascii_lowercase();
            let cut = EXCLUSIONS
                .iter()
                .filter_map(|marker| lower.find(marker))
                .min();
            sentence
                .get(..cut.unwrap_or(sentence.len()))
                .unwrap_or(sentence)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Ranking, purpose, query};
    use crate::offline::index::Entry;

    fn entries() -> Vec<Entry> {
        [
            ("changelog", "Write release notes from the commits since the last tag."),
            ("meeting-minutes", "Turn raw meeting notes into minutes with decisions and owners. Not for interviews."),
            ("pdf-forms", "Fill in PDF forms from a table of values."),
            ("report.weekly", "当用户要求生成周报时使用。不适用于日报或月报。"),
            ("translate", "Translate a text between Chinese and English, keeping terms from the glossary."),
            ("会议纪要", "把会议记录整理成纪要，列出结论和负责人。"),
        ]
        .map(|(id, description)| Entry {
            id: id.into(),
            description: description.into(),
        })
        .into()
    }

    fn best(task: &str) -> Option<String> {
        let entries = entries();
        Ranking::new(&entries, task)
            .best()
            .map(|entry| entry.id.clone())
    }

    #[test]
    fn tasks_reach_the_skill_that_shares_their_words() {
        for (task, id) in [
            (
                "Write the minutes of yesterday's meeting from notes/raw.md",
                "meeting-minutes",
            ),
            (
                "what changed since the last release? make release notes",
                "changelog",
            ),
            ("fill this PDF form for me", "pdf-forms"),
            ("translate the letter into English", "translate"),
            ("帮我写一份本周的工单周报", "report.weekly"),
            ("请把今天的会议记录整理一下", "会议纪要"),
        ] {
            assert_eq!(best(task).as_deref(), Some(id), "{task}");
        }
    }

    #[test]
    fn tasks_without_shared_meaning_reach_none() {
        for task in [
            "hello",
            "what is the weather in Paris?",
            "Write a poem about the sea",
            "今天天气怎么样",
            "",
            "?!",
        ] {
            assert_eq!(best(task), None, "{task}");
        }
    }

    #[test]
    fn what_a_skill_is_not_for_does_not_attract_it() {
        assert_eq!(best("写日报"), None);
        assert_eq!(best("prepare interviews"), None);
        assert_eq!(
            purpose("For weeks, not for days. Fast."),
            "For weeks,  Fast."
        );
    }

    #[test]
    fn a_skill_called_by_its_id_comes_first() {
        assert_eq!(
            best("use pdf-forms on the meeting notes").as_deref(),
            Some("pdf-forms")
        );
        assert_eq!(best("run report.weekly.").as_deref(), Some("report.weekly"));
        assert_eq!(best("do `translate` now").as_deref(), Some("translate"));
    }

    #[test]
    fn the_nearest_are_named_even_when_none_fits() {
        let entries = entries();
        let ranking = Ranking::new(
            &entries,
            "notes about poems, pears, plums, peaches and cherries",
        );
        assert_eq!(ranking.best(), None);
        let nearest: Vec<&str> = ranking
            .nearest(3)
            .iter()
            .map(|entry| entry.id.as_str())
            .collect();
        assert_eq!(nearest.first(), Some(&"changelog"));
        assert_eq!(nearest.len(), 3);
    }

    #[test]
    fn a_query_holds_the_telling_words_once() {
        assert_eq!(query("Please fill the form, the PDF form"), "fill form PDF");
        assert_eq!(query("帮我写本周的周报 PDF"), "PDF 写本 本周 周报");
        assert!(query(&"word ".repeat(1000)).chars().count() <= 200);
    }
}
