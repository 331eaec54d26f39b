//! Keys that restrict or grant where they are not written as keys: what may be one counts as one
//! that cannot be read.

use std::collections::HashMap;

use crate::skill::keys::{GRANTING, RESTRICTING, key_line};
use crate::skill::yaml::{Kind, Node};

/// Returns every key whose loss, or whose second mention, would widen what a skill may.
fn watched() -> impl Iterator<Item = &'static str> {
    let lists = [RESTRICTING, GRANTING, &["metadata", "policies"]];
    lists.into_iter().flatten().copied()
}

/// The key that counts as there where nobody can tell which one is.
pub(crate) const UNKNOWN: &str = "disablemodelinvocation";

/// Those that no prose holds as one word.
const UNMISTAKABLE: &[&str] = &[
    "restricttools",
    "disallowedtools",
    "disablemodelinvocation",
    "userinvocable",
];

/// Returns the watched key that `text` spells, whatever signs stand between its letters.
fn spelled(text: &str) -> Option<&'static str> {
    let letters = letters(text);
    watched().find(|known| *known == letters)
}

/// Returns the letters and digits of `text` in lower case, escapes as what they stand for.
fn letters(text: &str) -> String {
    let text = unescaped(text);
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns `text` with the characters that escapes of a number stand for.
pub(crate) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let length = match after.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let digits = after.get(1..=length).filter(|_| length > 0);
        let letter = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match letter.and_then(char::from_u32) {
            Some(letter) => {
                plain.push(letter);
                rest = after.get(1 + length..).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    plain + rest
}

/// Returns the watched key that a line begins with which is no key line of a document that was read
/// whole; `yaml` is the document.
pub(crate) fn begun(line: &str, yaml: &str) -> Option<&'static str> {
    let bare = undecorated(line);
    if bare.starts_with(['#', '-']) {
        return None;
    }
    if let Some(alias) = bare.strip_prefix('*') {
        let name = alias.split([' ', '\t', ':']).next().unwrap_or_default();
        let after = alias.get(name.len()..)?.trim_start();
        let known = !name.is_empty() && yaml.contains(&format!("&{name}"));
        return (known && after.starts_with(':')).then_some(UNKNOWN);
    }
    if let Some(after) = bare.strip_prefix("<<") {
        return after.trim_start().starts_with(':').then_some(UNKNOWN);
    }
    let is_explicit = line.trim_start().starts_with("? ");
    let key = bare.split([':', '：']).next().unwrap_or_default();
    if (key.len() < bare.len() || is_explicit) && key.len() <= LONGEST_KEY {
        return spelled(key).or_else(|| unmistakable(key));
    }
    unmistakable(bare)
}

/// Longer than any spelling of a key, escapes included.
const LONGEST_KEY: usize = 512;

fn unmistakable(text: &str) -> Option<&'static str> {
    let end = text
        .char_indices()
        .nth(LONGEST_KEY)
        .map_or(text.len(), |(end, _)| end);
    let letters = letters(text.get(..end).unwrap_or(text));
    let mut known = UNMISTAKABLE.iter().copied();
    known.find(|known| letters.starts_with(known))
}

/// Returns `line` without what may stand before a key: blanks, the sign of a key, a tag, an anchor,
/// quotes and what cannot be seen.
fn undecorated(line: &str) -> &str {
    let is_blank = |letter: char| letter.is_whitespace() || crate::invisible::is_invisible(letter);
    let mut rest = line.trim_start_matches(is_blank);
    while let Some(first) = rest.chars().next() {
        let after = match first {
            '?' => rest.get(1..).filter(|after| after.starts_with([' ', '\t'])),
            '!' | '&' => rest.split_once([' ', '\t']).map(|(_, after)| after),
            '"' | '\'' => rest.get(1..),
            _ => None,
        };
        let Some(after) = after else { break };
        rest = after.trim_start_matches(is_blank);
    }
    rest
}

/// Returns the first watched key among the keys that follow one another at the beginning of `body`,
/// and the number of its line from 0.
///
/// `ended` asks for a fence below them; without it, they end where something else begins.
pub(crate) fn at_the_top(body: &str, ended: bool) -> Option<(usize, &'static str)> {
    let mut found = None;
    let lines = body.lines().enumerate().take(MOST_KEYS);
    let mut filled = lines.filter(|(_, line)| !line.trim().is_empty()).peekable();
    filled.next_if(|(_, line)| crate::skill::fence::is_fence(line));
    for (at, line) in filled {
        if crate::skill::fence::is_fence(line) {
            return found;
        }
        let begun = begun(line, body.get(..0).unwrap_or_default());
        if begun.is_none() && !line.starts_with([' ', '\t', '-']) && key_line(line).is_none() {
            break;
        }
        found = found.or(begun.map(|key| (at, key)));
    }
    found.filter(|_| !ended)
}

/// How many lines below a frontmatter are looked at for more of it.
const MOST_KEYS: usize = 40;

/// Returns the watched keys of the map `root` that are not written out as its keys, each with where
/// it comes in.
pub(crate) fn indirect(root: &Node<'_>) -> Vec<(u32, u32, &'static str)> {
    let Kind::Map { pairs } = &root.kind else {
        return Vec::new();
    };
    if pairs.iter().all(|(key, _)| is_ordinary(key)) {
        return Vec::new();
    }
    let mut search = Search {
        anchors: HashMap::new(),
        fuel: MOST_STEPS,
        found: Vec::new(),
    };
    search.note(root);
    let mut all = Vec::new();
    for (key, value) in pairs.iter().filter(|(key, _)| !is_ordinary(key)) {
        search.pair(key, value);
        let found = search.found.drain(..);
        all.extend(found.map(|found| (key.line, key.column, found)));
    }
    all
}

/// Tells whether a key is what it says, letter by letter.
fn is_ordinary(key: &Node<'_>) -> bool {
    let of_words =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ' ');
    matches!(&key.kind, Kind::Scalar { text, .. } if text.chars().all(of_words))
}

/// How many nodes are looked at; a chain of merges can be made to be without end.
const MOST_STEPS: usize = 1_000;

/// Follows aliases and merges as far as is needed to tell which keys they bring in.
struct Search<'n, 'a> {
    anchors: HashMap<usize, &'n Node<'a>>,
    fuel: usize,
    found: Vec<&'static str>,
}

impl<'n, 'a> Search<'n, 'a> {
    /// Remembers where each anchor is.
    fn note(&mut self, node: &'n Node<'a>) {
        if node.mark.anchor > 0 {
            self.anchors.insert(node.mark.anchor, node);
        }
        match &node.kind {
            Kind::Scalar { .. } | Kind::Alias(_) => {}
            Kind::List { items, .. } => items.iter().for_each(|item| self.note(item)),
            Kind::Map { pairs } => {
                for (key, value) in pairs {
                    self.note(key);
                    self.note(value);
                }
            }
        }
    }

    fn add(&mut self, key: &'static str) {
        if !self.found.contains(&key) {
            self.found.push(key);
        }
    }

    /// Looks at a key and, where it merges, at what it brings in.
    fn pair(&mut self, key: &'n Node<'a>, value: &'n Node<'a>) {
        match &key.kind {
            Kind::Scalar { text, .. } if text == "<<" => self.merged(value),
            _ => self.words(key),
        }
    }

    /// Looks at the keys of what is merged.
    fn merged(&mut self, value: &'n Node<'a>) {
        let Some(value) = self.step(value) else {
            return;
        };
        match &value.kind {
            Kind::Map { pairs } => {
                for (key, value) in pairs {
                    self.pair(key, value);
                }
            }
            Kind::List { items, .. } => items.iter().for_each(|item| self.merged(item)),
            Kind::Scalar { .. } | Kind::Alias(_) => {}
        }
    }

    /// Looks at every text in a key.
    fn words(&mut self, key: &'n Node<'a>) {
        let Some(key) = self.step(key) else {
            return;
        };
        match &key.kind {
            Kind::Scalar { text, .. } => {
                if let Some(known) = spelled(text) {
                    self.add(known);
                }
            }
            Kind::Map { pairs } => {
                for (key, value) in pairs {
                    self.words(key);
                    self.words(value);
                }
            }
            Kind::List { items, .. } => items.iter().for_each(|item| self.words(item)),
            Kind::Alias(_) => {}
        }
    }

    /// Returns what a node stands for; nothing where no more is looked at, which closes.
    fn step(&mut self, node: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let Some(left) = self.fuel.checked_sub(1) else {
            self.add(UNKNOWN);
            return None;
        };
        self.fuel = left;
        let Kind::Alias(anchor) = &node.kind else {
            return Some(node);
        };
        let target = self.anchors.get(anchor).copied();
        if target.is_none_or(|target| matches!(target.kind, Kind::Alias(_))) {
            self.add(UNKNOWN);
            return None;
        }
        target
    }
}
