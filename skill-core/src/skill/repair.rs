//! Key by key: one broken value costs at most itself.

use std::borrow::Cow;

use crate::skill::document::{Document, Field, Lost, reaches_end};
use crate::skill::findings::{Findings, quoted};
use crate::skill::keys::{KeyLine, is_known, is_prose, key_line, normal};
use crate::skill::restricting::begun;
use crate::skill::yaml::{self, Kind, Mark, Node};

/// A key with the lines that belong to it.
struct Chunk<'a> {
    key: KeyLine<'a>,
    /// The blanks before the key.
    margin: &'a str,
    /// Its lines, up to the first that was left out.
    text: &'a str,
    start: usize,
    end: usize,
    /// The lines below the first that are indented or blank, and those that are not.
    indented: Vec<&'a str>,
    stray: Vec<&'a str>,
    /// The file's line of the key.
    line: u32,
    /// The column of the value.
    column: u32,
}

/// Returns the keys of a frontmatter that is no YAML as a whole.
pub(crate) fn by_key<'a>(yaml: &'a str, first_line: u32, findings: &mut Findings) -> Document<'a> {
    let mut document = Document::default();
    let chunks = chunks(yaml, first_line, findings, &mut document.lost);
    for chunk in chunks {
        let field = value(&chunk, findings);
        if field.as_ref().is_none_or(|field| field.damaged) {
            document.lost.extend(swallowed(&chunk, yaml));
        }
        match field {
            Some(field) => document.fields.push(field),
            None => document.lost.push(Lost {
                key: Cow::Borrowed(chunk.key.key),
                text: chunk.text,
                line: chunk.line,
                column: 1,
            }),
        }
    }
    document
}

/// Returns the restrictions among the lines below a value that is not sound: nobody can tell
/// whether they belong to it.
fn swallowed<'a>(chunk: &Chunk<'a>, yaml: &str) -> Vec<Lost<'a>> {
    let head = chunk.key.rest.trim_matches([' ', '\t', '\u{a0}']);
    // What is indented below a key alone, or below the head of a block, is inside of it.
    let inside = head.is_empty() || header(head) == Some("");
    let indented = chunk.indented.iter().filter(|_| !inside);
    let lines = indented.chain(&chunk.stray);
    let lost = lines.filter_map(|line| {
        Some(Lost {
            key: Cow::Borrowed(begun(line, yaml)?),
            text: chunk.text,
            line: chunk.line,
            column: chunk.column,
        })
    });
    lost.collect()
}

/// Returns the restrictions in a line above the first key, which may be a map in braces.
fn unowned<'a>(line: &'a str, yaml: &'a str, number: u32) -> impl Iterator<Item = Lost<'a>> {
    let parts = line.split(['{', ',']);
    parts.filter_map(move |part| {
        Some(Lost {
            key: Cow::Borrowed(begun(part, yaml)?),
            text: yaml,
            line: number,
            column: 1,
        })
    })
}

/// Cuts `yaml` at the lines that begin with a key as far left as the first key does.
/// What restricts above them goes into `lost`.
fn chunks<'a>(
    yaml: &'a str,
    first_line: u32,
    findings: &mut Findings,
    lost: &mut Vec<Lost<'a>>,
) -> Vec<Chunk<'a>> {
    let margin = margin(yaml);
    let mut chunks: Vec<Chunk<'a>> = Vec::new();
    let mut start = 0;
    for (at, line) in yaml.split_inclusive('\n').enumerate() {
        let number = first_line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let end = start + line.len();
        let bare = line.trim_end_matches('\n').trim_start_matches('\u{feff}');
        let bare = bare.strip_prefix(margin).unwrap_or(bare);
        if is_conflict(bare) {
            findings
                .add("SK020", Some((number, 1)), "a mark of an unresolved merge")
                .text(bare);
        } else if let Some(key) = key_line(bare) {
            chunks.push(Chunk {
                key,
                margin,
                text: yaml.get(start..end).unwrap_or_default(),
                start,
                end,
                indented: Vec::new(),
                stray: Vec::new(),
                line: number,
                column: value_column(line, &key),
            });
        } else if let Some(chunk) = chunks.last_mut() {
            if chunk.end == start {
                chunk.end = end;
                chunk.text = yaml.get(chunk.start..end).unwrap_or(chunk.text);
            }
            if bare.trim().is_empty() || bare.starts_with([' ', '\t']) {
                chunk.indented.push(bare);
            } else if !bare.starts_with('#') {
                chunk.stray.push(bare);
            }
        } else if !bare.trim().is_empty() && !bare.starts_with('#') {
            lost.extend(unowned(bare, yaml, number));
            findings
                .add("SK020", Some((number, 1)), "a line that belongs to no key")
                .text(bare)
                .fix("write `key: value` lines");
        }
        start = end;
    }
    chunks
}

/// Returns the blanks before the first key, which all keys then share.
fn margin(yaml: &str) -> &str {
    yaml.lines()
        .find_map(|line| {
            let text = line.trim_start_matches([' ', '\t']);
            key_line(text).map(|_| line.get(..line.len() - text.len()).unwrap_or_default())
        })
        .unwrap_or_default()
}

fn is_conflict(line: &str) -> bool {
    line.starts_with("<<<<<<< ") || line == "=======" || line.starts_with(">>>>>>> ")
}

fn value_column(line: &str, key: &KeyLine<'_>) -> u32 {
    let rest = key.rest.trim_start();
    let before = line.trim_end_matches('\n').len().saturating_sub(rest.len());
    let count = line.get(..before).map_or(0, |text| text.chars().count());
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

/// Returns the value of `chunk`, mended where that is needed and possible.
fn value<'a>(chunk: &Chunk<'a>, findings: &mut Findings) -> Option<Field<'a>> {
    if !chunk.key.odd {
        if let Some(node) = alone(chunk.text) {
            return Some(field(chunk, node, false));
        }
        if let Some(node) = tabbed(chunk) {
            return Some(field(chunk, node, false));
        }
        if let Some(node) = without_stray(chunk, findings).or_else(|| respaced(chunk, findings)) {
            return Some(field(chunk, node, true));
        }
    }
    literal(chunk, findings)
}

fn field<'a>(chunk: &Chunk<'a>, value: Node<'a>, damaged: bool) -> Field<'a> {
    Field {
        key: Cow::Borrowed(chunk.key.key),
        line: chunk.line + value.line.saturating_sub(1),
        column: if value.line <= 1 {
            chunk.column
        } else {
            value.column
        },
        raw: if chunk.indented.is_empty() {
            chunk.key.rest.trim()
        } else {
            ""
        },
        damaged,
        value,
    }
}

/// Returns the value of a text that is YAML with the one key.
fn alone(text: &str) -> Option<Node<'_>> {
    let Kind::Map { mut pairs } = yaml::parse(text).ok()??.kind else {
        return None;
    };
    let (_, value) = pairs.pop()?;
    (pairs.is_empty() && reaches_end(&value, text)).then_some(value)
}

/// Returns the value behind a tab after the colon, which is sound YAML that the parser refuses.
fn tabbed<'a>(chunk: &Chunk<'a>) -> Option<Node<'a>> {
    let rest = chunk.key.rest.trim_start_matches(['\t', ' ']);
    let is_tabbed = chunk.key.rest.starts_with('\t') && chunk.stray.is_empty();
    let head = is_tabbed.then(|| format!("{}: {rest}\n", chunk.key.key))?;
    let below: String = chunk
        .indented
        .iter()
        .flat_map(|line| [line, "\n"])
        .collect();
    alone(&(head + &below)).map(owned)
}

/// Returns the value without the lines below it that are neither indented nor a key.
fn without_stray<'a>(chunk: &Chunk<'a>, findings: &mut Findings) -> Option<Node<'a>> {
    if chunk.stray.is_empty() || is_prose(chunk.key.key) {
        return None;
    }
    let node = owned(alone(&rebuilt(chunk, false))?);
    findings
        .add(
            "SK020",
            Some((chunk.line, 1)),
            format!("lines below `{}` belong to no key", chunk.key.key),
        )
        .text(&chunk.stray.join("\n"));
    Some(node)
}

/// Returns the value with tabs and hard spaces of its indentation turned into blanks.
fn respaced<'a>(chunk: &Chunk<'a>, findings: &mut Findings) -> Option<Node<'a>> {
    let text = rebuilt(chunk, true);
    if text == chunk.text || !chunk.stray.is_empty() {
        return None;
    }
    let node = owned(alone(&text)?);
    findings
        .add(
            "SK021",
            Some((chunk.line, 1)),
            format!(
                "`{}` is indented by something other than blanks",
                chunk.key.key
            ),
        )
        .text(chunk.text)
        .fix(text);
    Some(node)
}

fn rebuilt(chunk: &Chunk<'_>, respace: bool) -> String {
    let mut text = format!("{}:{}\n", chunk.key.key, chunk.key.rest);
    for line in &chunk.indented {
        if respace {
            text.push_str(&blanks(line));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// Returns `line` with every tab, hard space and `&nbsp;` before its text as two blanks.
fn blanks(line: &str) -> String {
    let mut rest = line;
    let mut deep = 0;
    loop {
        let cut = |lead: &str| rest.strip_prefix(lead);
        if let Some(after) = cut("\t")
            .or_else(|| cut("\u{a0}"))
            .or_else(|| cut("&nbsp;"))
        {
            (rest, deep) = (after, deep + 2);
        } else if let Some(after) = cut(" ") {
            (rest, deep) = (after, deep + 1);
        } else {
            return format!("{:deep$}{rest}", "");
        }
    }
}

/// Takes a value that is no YAML as the text it is, or drops a block that no text can stand for.
fn literal<'a>(chunk: &Chunk<'a>, findings: &mut Findings) -> Option<Field<'a>> {
    let key = chunk.key.key;
    let head = chunk.key.rest.trim_matches([' ', '\t', '\u{a0}']);
    let is_block = head.is_empty() || header(head) == Some("");
    let is_tree = normal(key) == "metadata"
        || (head.starts_with(['{', '['])
            && !chunk.indented.iter().all(|line| line.trim().is_empty()));
    if !is_prose(key) && (is_block || is_tree) {
        findings
            .add(
                "SK020",
                Some((chunk.line, 1)),
                format!("`{key}` cannot be read and is left out"),
            )
            .text(chunk.text);
        return None;
    }
    let text = text_of(chunk, head);
    findings
        .add(
            "SK021",
            Some((chunk.line, chunk.column)),
            format!("`{key}` is no YAML as it stands; it was taken as text"),
        )
        .text(chunk.text)
        .fix(doubt(chunk, head).unwrap_or_else(|| chunk.margin.to_owned() + &quoted(key, &text)));
    let node = scalar(text);
    Some(field(chunk, node, true))
}

/// Returns what its author has to decide where a value may well be meant otherwise than it was read;
/// written down in quotes, it would never be asked about again.
fn doubt(chunk: &Chunk<'_>, head: &str) -> Option<String> {
    let inner = chunk
        .indented
        .iter()
        .filter_map(|line| key_line(line.trim_start()));
    if let Some(inner) = inner.map(|line| line.key).find(|key| is_known(key)) {
        return Some(format!(
            "begin the line with `{inner}:` as far left as the other keys"
        ));
    }
    let key = chunk.key.key;
    if head.starts_with(['[', '{']) && is_known(key) && !is_prose(key) {
        return Some("close the bracket, or put the value in quotes".to_owned());
    }
    // `issue #12` is no comment; `x  # why` may be one.
    let comment = head.contains(" # ");
    comment.then(|| "put the value in quotes, with what stands behind ` #` or without".to_owned())
}

/// Returns the text that the lines of `chunk` spell.
fn text_of(chunk: &Chunk<'_>, head: &str) -> String {
    let is_literal = head.starts_with('|');
    let first = header(head).unwrap_or(head);
    let lines: Vec<&str> = std::iter::once(first)
        .chain(chunk.indented.iter().copied())
        .chain(chunk.stray.iter().copied())
        .collect();
    let text = joined(&lines, if is_literal { "\n" } else { " " });
    unquoted(&text).into_owned()
}

/// Returns what follows a block header on its line, if `head` begins with one.
fn header(head: &str) -> Option<&str> {
    let rest = head.strip_prefix(['|', '>'])?;
    let rest =
        rest.trim_start_matches(|mark: char| matches!(mark, '+' | '-') || mark.is_ascii_digit());
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// Joins lines as YAML folds them: a blank line is a line break.
fn joined(lines: &[&str], between: &str) -> String {
    let mut text = String::new();
    let mut gap = false;
    for line in lines.iter().map(|line| line.trim()) {
        if line.is_empty() {
            gap = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if gap { "\n" } else { between });
        }
        text.push_str(line);
        gap = false;
    }
    text
}

/// Returns the inside of a text in double quotes that YAML does not understand, where they are
/// meant to hold all of it, and the rest of a text whose quote is never closed; any other text as
/// it is.
fn unquoted(text: &str) -> Cow<'_, str> {
    if let Some(rest) = text.strip_prefix('\'') {
        return Cow::Borrowed(if rest.contains('\'') { text } else { rest });
    }
    let Some(rest) = text.strip_prefix('"') else {
        return Cow::Borrowed(text);
    };
    if let Ok(decoded) = serde_json::from_str::<String>(text) {
        return Cow::Owned(decoded);
    }
    let inner = rest.strip_suffix('"').unwrap_or(rest);
    // A quote that a blank or the end follows closes; `"a" and "b"` is two quoted words.
    let closes = inner.match_indices('"').any(|(at, _)| {
        let after = inner.get(at + 1..).unwrap_or_default();
        after.starts_with([' ', '\t', '\n'])
    });
    Cow::Borrowed(if closes { text } else { inner })
}

fn scalar<'a>(text: String) -> Node<'a> {
    Node {
        kind: Kind::Scalar {
            text: Cow::Owned(text),
            plain: false,
        },
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 1,
        mark: Mark::default(),
    }
}

/// Returns `node` with every text its own.
fn owned<'a>(node: Node<'_>) -> Node<'a> {
    let kind = match node.kind {
        Kind::Scalar { text, plain } => Kind::Scalar {
            text: Cow::Owned(text.into_owned()),
            plain,
        },
        Kind::List { items, flow } => Kind::List {
            items: items.into_iter().map(owned).collect(),
            flow,
        },
        Kind::Map { pairs } => Kind::Map {
            pairs: pairs
                .into_iter()
                .map(|(key, value)| (owned(key), owned(value)))
                .collect(),
        },
        Kind::Alias(anchor) => Kind::Alias(anchor),
    };
    Node { kind, ..node }
}
