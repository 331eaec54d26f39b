//! Recall over the Markdown of a workspace: passages that share words with the task.
//!
//! The index is kept between turns; a turn reads only what changed since, and what is gone from the
//! disk is gone from the index before anything is looked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use prompt_compiler::{ContextFragment, FragmentKind};
use tool_gateway::FileStamp;

use super::reader::{ContextReader, Found, blocking};
use super::words::Words;
use super::{ContextError, ContextQuery, ContextSource, Gathered};

/// How many files are indexed.
const MOST_FILES: usize = 20_000;

/// How many passages come with a turn.
const PASSAGES: usize = 5;

/// The longest passage, in bytes.
const LONGEST: usize = 1_600;

/// What a passage has to share with a task: at least this many different words.
const LEAST_SHARED: usize = 2;

/// Brings passages of the workspace's notes.
#[derive(Clone, Debug)]
pub struct Notes {
    reader: ContextReader,
    index: Arc<Mutex<Index>>,
}

impl Notes {
    /// Returns the source over what `reader` reads, with an empty index.
    pub fn new(reader: ContextReader) -> Self {
        Self {
            reader,
            index: Arc::default(),
        }
    }

    fn recall(&self, query: &ContextQuery) -> Gathered {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, more) = self.reader.files(is_note, MOST_FILES);
        index.refresh(&files, |path| match self.reader.read_now(path) {
            Ok(Found::Text(text, _)) => Some(text),
            _ => None,
        });
        let notice =
            more.then(|| format!("notes beyond the first {MOST_FILES} files are not searched"));
        Gathered {
            fragments: index.find(&query.text, query.file.as_deref()),
            notices: notice.into_iter().collect(),
        }
    }
}

#[async_trait]
impl ContextSource for Notes {
    fn name(&self) -> &str {
        "notes"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        let (source, query) = (self.clone(), query.clone());
        blocking(move || source.recall(&query)).await
    }
}

fn is_note(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.ends_with(".md") || lower.ends_with(".markdown")
}

/// Passages of files, by path.
#[derive(Debug, Default)]
struct Index {
    files: BTreeMap<String, Indexed>,
}

#[derive(Debug)]
struct Indexed {
    stamp: FileStamp,
    passages: Vec<Passage>,
}

/// A piece of a file, at whole paragraphs.
#[derive(Debug)]
struct Passage {
    heading: String,
    text: String,
    words: Words,
}

impl Index {
    /// Brings the index up to date: forgets what is gone, reads what is new or changed.
    fn refresh(&mut self, files: &[FileStamp], read: impl Fn(&str) -> Option<String>) {
        let there: BTreeMap<&str, &FileStamp> = files
            .iter()
            .map(|stamp| (stamp.path.as_str(), stamp))
            .collect();
        self.files
            .retain(|path, indexed| there.get(path.as_str()) == Some(&&indexed.stamp));
        for stamp in files {
            if !self.files.contains_key(&stamp.path)
                && let Some(text) = read(&stamp.path)
            {
                let indexed = Indexed {
                    stamp: stamp.clone(),
                    passages: passages(&text),
                };
                self.files.insert(stamp.path.clone(), indexed);
            }
        }
    }

    /// Returns the passages nearest to `task`, best first; the current file is shown anyway.
    fn find(&self, task: &str, current: Option<&str>) -> Vec<ContextFragment> {
        let wanted = Words::of(task);
        let all: Vec<(&str, &Passage)> = self
            .files
            .iter()
            .filter(|(path, _)| Some(path.as_str()) != current)
            .flat_map(|(path, indexed)| {
                indexed
                    .passages
                    .iter()
                    .map(move |passage| (path.as_str(), passage))
            })
            .collect();
        let scale = Scale::of(&all, &wanted);
        let mut scored: Vec<(f64, usize)> = all
            .iter()
            .enumerate()
            .filter(|(_, (_, passage))| passage.words.shared(&wanted) >= LEAST_SHARED)
            .map(|(at, (_, passage))| (scale.score(passage), at))
            .collect();
        // Equal scores keep the order of paths, so that a request is the same every time.
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let best = scored.iter().take(PASSAGES);
        best.filter_map(|(_, at)| all.get(*at))
            .map(|(path, passage)| fragment(path, passage))
            .collect()
    }
}

fn fragment(path: &str, passage: &Passage) -> ContextFragment {
    let name = if passage.heading.is_empty() {
        format!("passage of {path}")
    } else {
        format!("passage of {path}, {}", passage.heading)
    };
    ContextFragment {
        provenance: path.to_owned(),
        ..ContextFragment::new(FragmentKind::Recalled, name, passage.text.clone())
    }
}

/// How much a word says: rare ones say more (BM25).
struct Scale<'w> {
    weights: Vec<(&'w str, f64)>,
    average: f64,
}

impl<'w> Scale<'w> {
    fn of(all: &[(&str, &Passage)], wanted: &'w Words) -> Self {
        let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let total = count(all.len());
        let weights = wanted
            .each()
            .map(|word| {
                let holding = all
                    .iter()
                    .filter(|(_, passage)| passage.words.count(word) > 0);
                let holding = count(holding.count());
                (word, (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln())
            })
            .collect();
        let words: f64 = all
            .iter()
            .map(|(_, passage)| f64::from(passage.words.total()))
            .sum();
        Self {
            weights,
            average: (words / total.max(1.0)).max(1.0),
        }
    }

    fn score(&self, passage: &Passage) -> f64 {
        let length = f64::from(passage.words.total()) / self.average;
        self.weights
            .iter()
            .map(|(word, weight)| {
                let times = f64::from(passage.words.count(word));
                weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length))
            })
            .sum()
    }
}

/// Cuts a Markdown text into passages: at headings, and at paragraphs where a part is long.
fn passages(text: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let (mut heading, mut part) = (String::new(), String::new());
    for paragraph in text.split("\n\n") {
        let begins = paragraph.trim_start().starts_with('#');
        if begins || part.len() + paragraph.len() > LONGEST {
            push(&mut passages, &heading, &mut part);
        }
        if begins {
            let line = paragraph.trim_start().lines().next().unwrap_or_default();
            line.trim_start_matches('#').trim().clone_into(&mut heading);
        }
        if !part.is_empty() {
            part.push_str("\n\n");
        }
        part.push_str(paragraph);
    }
    push(&mut passages, &heading, &mut part);
    passages
}

fn push(passages: &mut Vec<Passage>, heading: &str, part: &mut String) {
    let whole = std::mem::take(part);
    let mut text = whole.trim();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at));
        text = text.get(..end.unwrap_or(0)).unwrap_or_default();
    }
    if !text.is_empty() {
        passages.push(Passage {
            heading: heading.to_owned(),
            text: text.to_owned(),
            words: Words::of(&format!("{heading}\n{text}")),
        });
    }
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
