//! Ranks listed skills by the words they share with a task (BM25), with a floor below which none fits.

use std::collections::BTreeMap;

use crate::offline::asked::Asked;
use crate::offline::index::Entry;
use crate::offline::similarity::Likeness;
use crate::offline::stop_words::WEAK_TERMS;
use crate::offline::words::terms;

/// BM25's saturation of a term's count and weight of a text's length.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// What a weak or common term counts as evidence, where another counts 1.
const WEAK_EVIDENCE: f64 = 0.4;
/// Terms of a task beyond these do not thin out its coverage.
const LONG_TASK: f64 = 12.0;
/// From which part of the best score on another skill fits about as well.
const RIVAL: f64 = 0.75;

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

/// What a list of skills stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// All there are: a word that most of them have tells little.
    Whole,
    /// Those that a search found: that most of them have a word tells nothing about the word.
    Found,
}

/// Skills in the order of how well they fit a task.
#[derive(Debug)]
pub(super) struct Ranking<'a> {
    /// Best first.
    ranked: Vec<Ranked<'a>>,
    likeness: Likeness,
}

#[derive(Debug)]
struct Ranked<'a> {
    entry: &'a Entry,
    named: bool,
    score: f64,
    /// How much of the task's words it shares, whatever the length of its own text.
    shared: f64,
    fits: bool,
}

impl<'a> Ranking<'a> {
    /// Ranks `entries` for `task`; equals stand in the order of their ids.
    pub(super) fn new(entries: &'a [Entry], task: &str, listing: Listing) -> Self {
        let asked = Asked::new(task);
        let corpus = Corpus::new(entries, listing);
        let lower = task.to_lowercase();
        let rank = |(entry, text): (&'a Entry, &Text)| {
            let named = names(&lower, &entry.id.to_lowercase());
            Ranked {
                entry,
                named,
                score: corpus.score(&asked, text),
                shared: corpus.shared(&asked, text),
                fits: named || corpus.is_evidence(&asked, text),
            }
        };
        let mut ranked: Vec<Ranked<'a>> = entries.iter().zip(&corpus.texts).map(rank).collect();
        ranked.sort_by(|left, right| {
            // What is always on is followed only where nothing else fits.
            let chosen = |ranked: &Ranked<'_>| ranked.fits && !ranked.entry.always;
            let key = |ranked: &Ranked<'_>| (chosen(ranked), ranked.named, ranked.fits);
            key(right)
                .cmp(&key(left))
                .then(right.score.total_cmp(&left.score))
                .then_with(|| left.entry.id.cmp(&right.entry.id))
        });
        Self {
            ranked,
            likeness: Likeness::new(task),
        }
    }

    /// Returns the best skill, if it fits at all.
    pub(super) fn best(&self) -> Option<&'a Entry> {
        self.first().map(|ranked| ranked.entry)
    }

    /// Returns the skills that fit about as well as the best one.
    pub(super) fn rivals(&self) -> Vec<&'a Entry> {
        let Some(best) = self.first() else {
            return Vec::new();
        };
        let rivals = self.ranked.iter().skip(1).filter(|ranked| {
            ranked.fits
                && (ranked.named, ranked.entry.always) == (best.named, best.entry.always)
                && ranked.shared >= best.shared
                && ranked.score >= best.score * RIVAL
        });
        rivals.map(|ranked| ranked.entry).collect()
    }

    /// Returns the skills that come nearest to the task although none fits: first by the words
    /// they share with it, then by their characters. One that shares nothing is not near.
    pub(super) fn nearest(&self, limit: usize) -> Vec<&'a Entry> {
        let choosable = self.ranked.iter().filter(|ranked| !ranked.entry.always);
        let mut near: Vec<(f64, f64, &'a Entry)> = choosable
            .map(|ranked| {
                let likeness = self.likeness.of(ranked.entry);
                (ranked.score, likeness, ranked.entry)
            })
            .filter(|(score, likeness, _)| *score > 0.0 || *likeness > 0.0)
            .collect();
        near.sort_by(|left, right| {
            let words = right.0.total_cmp(&left.0);
            let characters = right.1.total_cmp(&left.1);
            words
                .then(characters)
                .then_with(|| left.2.id.cmp(&right.2.id))
        });
        near.into_iter()
            .take(limit)
            .map(|(_, _, entry)| entry)
            .collect()
    }

    fn first(&self) -> Option<&Ranked<'a>> {
        self.ranked.first().filter(|ranked| ranked.fits)
    }
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
    listing: Listing,
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
    fn new(entries: &[Entry], listing: Listing) -> Self {
        let texts: Vec<Text> = entries.iter().map(Text::new).collect();
        let mut frequency = BTreeMap::new();
        for term in texts.iter().flat_map(|text| text.counts.keys()) {
            *frequency.entry(term.clone()).or_insert(0) += 1;
        }
        let length: usize = texts.iter().map(|text| text.length).sum();
        let average_length = length as f64 / texts.len().max(1) as f64;
        Self {
            listing,
            texts,
            frequency,
            average_length: average_length.max(1.0),
        }
    }

    fn score(&self, asked: &Asked, text: &Text) -> f64 {
        let relative = text.length as f64 / self.average_length;
        let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative);
        let matched = asked
            .weights()
            .filter_map(|(term, weight)| Some((term, weight, *text.counts.get(term)? as f64)));
        matched
            .map(|(term, weight, count)| {
                self.rarity(term) * self.evidence(term) * weight * count * (SATURATION + 1.0)
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
        let common =
            self.listing == Listing::Whole && self.texts.len() >= 4 && with * 2 > self.texts.len();
        if common || WEAK_TERMS.contains(&term) {
            WEAK_EVIDENCE
        } else {
            1.0
        }
    }

    /// The floor: two telling terms in common, or one that is a good part of a short task, or all
    /// there are.
    fn is_evidence(&self, asked: &Asked, text: &Text) -> bool {
        let mut telling = asked.telling().peekable();
        if telling.peek().is_some() && telling.all(|term| text.counts.contains_key(term)) {
            return true;
        }
        let shared = self.shared(asked, text);
        let all = self.weigh(asked.weights()).min(LONG_TASK);
        shared >= 1.0 && (shared >= 2.0 || shared / all >= 0.2)
    }

    fn shared(&self, asked: &Asked, text: &Text) -> f64 {
        let weights = asked.weights();
        self.weigh(weights.filter(|(term, _)| text.counts.contains_key(*term)))
    }

    fn weigh<'t>(&self, weights: impl Iterator<Item = (&'t str, f64)>) -> f64 {
        weights
            .map(|(term, weight)| self.evidence(term) * weight)
            .sum()
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
mod tests;
