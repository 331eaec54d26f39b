//! A frontmatter as a list of keys: read whole, or key by key where the whole is no YAML.

use std::borrow::Cow;

use crate::skill::findings::Findings;
use crate::skill::keys::key_line;
use crate::skill::restricting;
use crate::skill::yaml::{self, Kind, Node};

/// One top-level key.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) value: Node<'a>,
    /// The place of the value in the file.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// What stands after the colon on the line of the key; empty where that is not one line.
    pub(crate) raw: &'a str,
    /// The value was mended, so it may not be what its author meant.
    pub(crate) damaged: bool,
}

impl Field<'_> {
    /// Returns where the value stands.
    pub(crate) fn place(&self) -> Option<(u32, u32)> {
        Some((self.line, self.column))
    }
}

/// What was read of a frontmatter.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    /// Keys that are there and could not be read.
    pub(crate) lost: Vec<Lost<'a>>,
}

impl Document<'_> {
    /// Calls `look` with every text of it, keys and values.
    pub(crate) fn each_text(&self, look: &mut impl FnMut(&str)) {
        for field in &self.fields {
            look(&field.key);
            field.value.each_text(look);
        }
    }
}

/// A key that could not be read, or only where no key belongs.
#[derive(Debug)]
pub(crate) struct Lost<'a> {
    pub(crate) key: Cow<'a, str>,
    /// The lines that were left out, or in which it stands.
    pub(crate) text: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Returns the root of `yaml` if it is one document in which no quoted text swallows a later key;
/// the inner option is none where there is nothing in it.
#[expect(
    clippy::option_option,
    reason = "no document and an empty document are two things"
)]
pub(crate) fn whole(yaml: &str) -> Option<Option<Node<'_>>> {
    let root = yaml::parse(yaml).ok()?;
    let sound = root.as_ref().is_none_or(|root| match &root.kind {
        Kind::Map { pairs } => {
            !swallows_key(root, yaml)
                && pairs.last().is_none_or(|(_, last)| reaches_end(last, yaml))
        }
        Kind::Scalar { .. } => !yaml.lines().any(|line| key_line(line).is_some()),
        Kind::List { .. } | Kind::Alias(_) => true,
    });
    sound.then_some(root)
}

/// Tells whether no text is left below the last value of a document.
///
/// The parser ends a document without a word where a line at the left margin is no key.
pub(crate) fn reaches_end(last: &Node<'_>, yaml: &str) -> bool {
    let filled = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let end = yaml
        .lines()
        .zip(1u32..)
        .filter(|(line, _)| filled(line))
        .last();
    end.is_none_or(|(_, line)| (last.end_line, last.end_column) > (line, 1))
}

/// Tells whether a scalar of several lines holds a line that begins with a key at the very left.
///
/// An unclosed quote can take in the keys below it up to the next quote.
fn swallows_key(root: &Node<'_>, yaml: &str) -> bool {
    let Kind::Map { pairs } = &root.kind else {
        return false;
    };
    pairs.iter().any(|(_, value)| {
        let quoted = matches!(value.kind, Kind::Scalar { plain: false, .. });
        quoted
            && value.end_line > value.line
            && root.column == 1
            && yaml
                .lines()
                .skip(value.line as usize)
                .take((value.end_line - value.line) as usize)
                .any(|line| key_line(line).is_some())
    })
}

/// Returns the keys of the document `root`, read from `yaml`, which begins on line `first_line`.
pub(crate) fn from_root<'a>(
    root: Option<Node<'a>>,
    yaml: &'a str,
    first_line: u32,
    findings: &mut Findings,
) -> Document<'a> {
    let Some(root) = root.filter(|root| !root.is_null()) else {
        return Document::default();
    };
    let offset = first_line.saturating_sub(1);
    let indirect = restricting::indirect(&root);
    let Kind::Map { pairs } = root.kind else {
        findings
            .add(
                "SK020",
                Some((root.line + offset, root.column)),
                "the frontmatter is not a map of keys",
            )
            .text(yaml)
            .fix("write `key: value` lines");
        return Document::default();
    };
    let lines: Vec<&str> = yaml.lines().collect();
    let mut document = Document::default();
    let lost = indirect.into_iter().map(|(line, column, key)| Lost {
        key: Cow::Borrowed(key),
        text: yaml,
        line: line + offset,
        column,
    });
    document.lost.extend(lost);
    for (key, value) in pairs {
        let Kind::Scalar { text, .. } = key.kind else {
            findings.add(
                "SK020",
                Some((key.line + offset, key.column)),
                "a key is not a text",
            );
            continue;
        };
        let raw = lines
            .get(key.end_line.saturating_sub(1) as usize)
            .map_or("", |line| after_colon(line, key.end_column, &value));
        document.fields.push(Field {
            key: text,
            line: value.line + offset,
            column: value.column,
            raw,
            damaged: false,
            value,
        });
    }
    document
}

/// Returns what stands on `line` from the column `end` of its key on, without the colon, where the
/// value stands there whole.
fn after_colon<'a>(line: &'a str, end: u32, value: &Node<'_>) -> &'a str {
    let at = line
        .char_indices()
        .nth(end.saturating_sub(1) as usize)
        .map_or(line.len(), |(at, _)| at);
    let rest = line.get(at..).unwrap_or_default().trim_start();
    match rest.strip_prefix(':') {
        Some(rest) if value.end_line <= value.line + 1 => rest.trim(),
        _ => "",
    }
}
