//! Where the frontmatter ends and the body begins, also in files whose fences were damaged.

use crate::skill::findings::{Findings, Place};
use crate::skill::keys::{COMMON, KeyLine, key_line, normal};

/// How many lines of preamble are searched for a fence.
const PREAMBLE: usize = 40;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    /// The text between the fences; `None` where there is no frontmatter.
    pub(crate) yaml: Option<&'a str>,
    /// The line the frontmatter's text begins on.
    pub(crate) yaml_line: u32,
    /// Where in the file's text the frontmatter's text begins.
    pub(crate) yaml_start: usize,
    /// Everything below the frontmatter.
    pub(crate) body: &'a str,
    /// Whether the fences are there.
    pub(crate) state: FenceState,
}

/// What the fences of a file are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FenceState {
    /// Opened and closed.
    Closed,
    /// Opened, never closed; what was taken for frontmatter is a guess.
    Unclosed,
    /// Never opened; what was taken for frontmatter, if anything, is a guess.
    Missing,
}

/// A text with the places of its lines.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if text.ends_with('\n') || text.is_empty() {
            starts.pop();
        }
        Self { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns line `at`, counted from 0, without its line end.
    fn get(&self, at: usize) -> Option<&'a str> {
        let start = *self.starts.get(at)?;
        let end = self.start(at + 1);
        self.text
            .get(start..end)
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
    }

    /// Returns where line `at` begins; the end of the text for a line past the last.
    fn start(&self, at: usize) -> usize {
        self.starts.get(at).copied().unwrap_or(self.text.len())
    }

    fn between(&self, from: usize, to: usize) -> &'a str {
        self.text
            .get(self.start(from)..self.start(to))
            .unwrap_or_default()
    }

    fn from(&self, at: usize) -> &'a str {
        self.text.get(self.start(at)..).unwrap_or_default()
    }

    /// Returns the number of the first line from `at` on that is not blank.
    fn filled(&self, at: usize) -> Option<usize> {
        (at..self.len()).find(|&at| self.get(at).is_some_and(|line| !blank(line)))
    }
}

/// Returns where the frontmatter of `text` is, and writes down what was odd about its fences.
pub(crate) fn split<'a>(text: &'a str, findings: &mut Findings) -> Split<'a> {
    plain(text).unwrap_or_else(|| searched(text, findings))
}

/// Splits a file whose fences are as they should be, without looking at its body.
pub(crate) fn plain(text: &str) -> Option<Split<'_>> {
    const OPEN: &str = "---\n";
    let rest = text.strip_prefix(OPEN)?;
    let mut start = 0;
    while let Some(tail) = rest.get(start..).filter(|tail| !tail.is_empty()) {
        let end = memchr::memchr(b'\n', tail.as_bytes()).unwrap_or(tail.len());
        let line = tail.get(..end)?;
        if line == "---" {
            return Some(Split {
                yaml: rest.get(..start),
                yaml_line: 2,
                yaml_start: OPEN.len(),
                body: tail.get(end + 1..).unwrap_or_default(),
                state: FenceState::Closed,
            });
        }
        let may_be_fence = !line.starts_with(|first: char| first.is_ascii_alphanumeric());
        let bare = line.trim();
        if may_be_fence && (bare.starts_with("---") || bare == "...") {
            return None;
        }
        start += end + 1;
    }
    None
}

/// Returns a file that is all YAML; one with two sound fences has a body below the second.
pub(crate) fn undivided(text: &str) -> Split<'_> {
    plain(text).unwrap_or(Split {
        yaml: Some(text),
        yaml_line: 1,
        yaml_start: 0,
        body: "",
        state: FenceState::Closed,
    })
}

fn searched<'a>(text: &'a str, findings: &mut Findings) -> Split<'a> {
    let lines = Lines::new(text);
    let Some(first) = lines.filled(0) else {
        return missing(text, findings);
    };
    let line = lines.get(first).unwrap_or_default();
    if is_fence(line) {
        if first > 0 {
            findings
                .add("SK012", place(first), "blank lines before the frontmatter")
                .fix("begin the file with `---`");
        }
        return opened(&lines, first, findings);
    }
    if key_line(line).is_some_and(is_leading) {
        return without_opening(&lines, first, findings);
    }
    match after_preamble(&lines, first) {
        Some(open) => {
            findings
                .add("SK012", place(first), "text before the frontmatter")
                .text(line)
                .fix("begin the file with `---`");
            opened(&lines, open, findings)
        }
        None => missing(text, findings),
    }
}

fn missing<'a>(text: &'a str, findings: &mut Findings) -> Split<'a> {
    findings
        .add(
            "SK010",
            Some((1, 1)),
            "no frontmatter: the file must start with `---`",
        )
        .fix("---\nname: …\ndescription: …\n---");
    Split {
        yaml: None,
        yaml_line: 1,
        yaml_start: 0,
        body: text,
        state: FenceState::Missing,
    }
}

/// Splits a file whose fence stands on line `open`.
fn opened<'a>(lines: &Lines<'a>, open: usize, findings: &mut Findings) -> Split<'a> {
    let line = lines.get(open).unwrap_or_default();
    describe_fence(line, open, findings);
    let yaml_line = number(open + 1);
    match closing(lines, open) {
        Some(Close::Line(close)) => {
            describe_fence(lines.get(close).unwrap_or_default(), close, findings);
            Split {
                yaml: Some(lines.between(open + 1, close)),
                yaml_line,
                yaml_start: lines.start(open + 1),
                body: lines.from(after_code_fence(lines, open, close)),
                state: FenceState::Closed,
            }
        }
        Some(Close::Glued(close)) => {
            let text = lines.get(close).unwrap_or_default();
            odd_fence(
                findings,
                close,
                text,
                "text stands on the line of the closing fence",
            );
            Split {
                yaml: Some(lines.between(open + 1, close)),
                yaml_line,
                yaml_start: lines.start(open + 1),
                body: lines.from(close).get(3..).unwrap_or_default(),
                state: FenceState::Closed,
            }
        }
        None => unclosed(lines, open + 1, findings),
    }
}

fn unclosed<'a>(lines: &Lines<'a>, from: usize, findings: &mut Findings) -> Split<'a> {
    findings
        .add(
            "SK011",
            place(from.saturating_sub(1)),
            "the frontmatter is not closed",
        )
        .fix("put `---` on a line of its own below the last key");
    let end = keys_end(lines, from);
    Split {
        yaml: Some(lines.between(from, end)),
        yaml_line: number(from),
        yaml_start: lines.start(from),
        body: lines.from(end),
        state: FenceState::Unclosed,
    }
}

/// Splits a file that begins with a key instead of a fence.
fn without_opening<'a>(lines: &Lines<'a>, first: usize, findings: &mut Findings) -> Split<'a> {
    let split = missing(lines.text, findings);
    let fence =
        (first..lines.len().min(first + PREAMBLE)).find(|&at| lines.get(at).is_some_and(is_fence));
    let (end, body) = match fence {
        Some(at) => (at, lines.from(at + 1)),
        None => {
            let end = keys_end(lines, first);
            let all_keys = lines.filled(end).is_none();
            (
                end,
                if all_keys {
                    lines.text
                } else {
                    lines.from(end)
                },
            )
        }
    };
    Split {
        yaml: Some(lines.between(first, end)),
        yaml_line: number(first),
        yaml_start: lines.start(first),
        body,
        ..split
    }
}

enum Close {
    Line(usize),
    Glued(usize),
}

fn closing(lines: &Lines<'_>, open: usize) -> Option<Close> {
    let outer = lines.get(open).map_or(0, indent);
    let mut inner = None;
    let mut keys = 0;
    for at in open + 1..lines.len() {
        let line = lines.get(at)?;
        if blank(line) {
            continue;
        }
        let deep = indent(line);
        let flush = deep == 0 || deep == outer || Some(deep) == inner;
        if flush && (is_fence(line) || line.trim_end() == "...") {
            return Some(Close::Line(at));
        }
        if keys > 0 && is_glued(line) {
            return Some(Close::Glued(at));
        }
        inner = inner.or(Some(deep));
        keys += usize::from(key_line(line).is_some());
    }
    None
}

/// Returns the line the body begins on, past the end of a code block that holds the frontmatter.
fn after_code_fence(lines: &Lines<'_>, open: usize, close: usize) -> usize {
    let opened = open
        .checked_sub(1)
        .and_then(|before| lines.get(before))
        .is_some_and(|line| line.trim_start().starts_with("```"));
    let closed = lines
        .get(close + 1)
        .is_some_and(|line| line.trim() == "```");
    close + 1 + usize::from(opened && closed)
}

/// Returns the fence that follows at most a short preamble and has the first key right below it.
fn after_preamble(lines: &Lines<'_>, first: usize) -> Option<usize> {
    (first..lines.len().min(first + PREAMBLE)).find(|&at| {
        lines.get(at).is_some_and(is_fence)
            && lines
                .filled(at + 1)
                .and_then(|below| lines.get(below))
                .and_then(|line| key_line(line.trim_start_matches('\u{feff}')))
                .is_some_and(is_leading)
            && matches!(closing(lines, at), Some(Close::Line(_)))
            && !inside_code(lines, first, at)
    })
}

/// Tells whether a code block that began more than a line before `at` is still open there.
fn inside_code(lines: &Lines<'_>, first: usize, at: usize) -> bool {
    let before = at.saturating_sub(1).max(first);
    let marks = (first..before)
        .filter(|&line| {
            lines
                .get(line)
                .is_some_and(|line| line.trim_start().starts_with("```"))
        })
        .count();
    marks % 2 == 1
}

/// Returns the line past the last one that can belong to a frontmatter without an end.
fn keys_end(lines: &Lines<'_>, from: usize) -> usize {
    let last = first_heading(lines, from, true).unwrap_or(lines.len());
    let mut end = from;
    let mut gap = false;
    for at in from..last {
        let Some(line) = lines.get(at) else { break };
        if blank(line) {
            gap = true;
            continue;
        }
        if is_fence(line) || (gap && key_line(line).is_none() && indent(line) == 0) {
            break;
        }
        gap = false;
        end = at + 1;
    }
    end
}

/// Returns the length of the part of `yaml` above the first heading that no key follows.
///
/// A frontmatter whose closing fence is missing runs into the body, up to some rule of it; the
/// heading then stands where the body begins.
pub(crate) fn body_within(yaml: &str) -> Option<usize> {
    let lines = Lines::new(yaml);
    first_heading(&lines, 0, false).map(|at| lines.start(at))
}

/// Returns the first line from `from` on that is a heading and not a comment between keys;
/// `at_end` says whether one that nothing follows is a heading.
fn first_heading(lines: &Lines<'_>, from: usize, at_end: bool) -> Option<usize> {
    let mut run = None;
    let mut open_key = false;
    for at in from..lines.len() {
        let line = lines.get(at)?;
        if blank(line) {
            continue;
        }
        if line.starts_with('#') {
            run = run.or_else(|| is_heading(line).then_some(at));
            continue;
        }
        let key = key_line(line);
        let of_list = open_key && line.starts_with('-');
        if run.is_some() && key.is_none() && indent(line) == 0 && !of_list {
            return run;
        }
        run = None;
        if let Some(key) = key {
            open_key = blank(key.rest);
        }
    }
    run.filter(|_| at_end)
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
}

/// Tells whether `body` begins with a frontmatter of its own.
pub(crate) fn begins_with_frontmatter(body: &str) -> bool {
    let mut lines = body.lines().filter(|line| !blank(line));
    let first = lines.next().unwrap_or_default();
    let key = if is_fence(first) {
        lines.next()
    } else {
        Some(first)
    };
    key.and_then(key_line).is_some_and(is_leading) && lines.take(PREAMBLE).any(is_fence)
}

/// Returns `text` with a line for each key where its frontmatter is squeezed onto the first line.
pub(crate) fn unfold(text: &str, findings: &mut Findings) -> Option<String> {
    let (line, body) = text.split_once('\n').unwrap_or((text, ""));
    let inner = line.trim().strip_prefix("--- ")?.strip_suffix(" ---")?;
    key_line(inner).filter(|line| is_leading(*line))?;
    odd_fence(findings, 0, line, "the frontmatter stands on one line");
    let mut unfolded = inner.to_owned();
    for key in COMMON {
        unfolded = unfolded.replace(&format!(" {key}: "), &format!("\n{key}: "));
    }
    Some(format!("---\n{unfolded}\n---\n{body}"))
}

fn is_leading(line: KeyLine<'_>) -> bool {
    matches!(
        &*normal(line.key),
        "name" | "description" | "id" | "title" | "version" | "author"
    )
}

/// Tells whether `line` consists of three dashes or more, whatever blanks are around them.
pub(crate) fn is_fence(line: &str) -> bool {
    let dashes = line.trim_matches([' ', '\t']);
    dashes.len() >= 3 && dashes.bytes().all(|byte| byte == b'-')
}

fn is_glued(line: &str) -> bool {
    line.strip_prefix("---")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|next| next != '-' && !next.is_whitespace())
}

fn describe_fence(line: &str, at: usize, findings: &mut Findings) {
    if line.trim_end() != "---" {
        odd_fence(
            findings,
            at,
            line,
            "the fence is not `---` at the start of a line",
        );
    } else if line != "---" {
        findings
            .add("SK013", place(at), "blanks after the fence")
            .fix("---");
    }
}

fn odd_fence(findings: &mut Findings, at: usize, line: &str, message: &str) {
    findings
        .add("SK015", place(at), message)
        .text(line)
        .fix("put `---` on a line of its own");
}

fn blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

fn place(at: usize) -> Place {
    Some((number(at), 1))
}
