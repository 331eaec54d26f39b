//! Searching one file: matching lines as text, and why a file could not be searched.

use std::io::{self, Read};

use cap_std::fs::File;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use tokio_util::sync::CancellationToken;

use crate::escape::escape_line;

/// How many matching lines are shown.
pub(super) const MAX_LINES: usize = 200;

/// How much of one line is shown.
const MAX_LINE_BYTES: usize = 300;

/// How much of a long line is shown before its match.
const BEFORE_MATCH: usize = 100;

/// The longest line that is searched; a file with a longer one is left out.
const MAX_SEARCHED_LINE: usize = 4 * 1024 * 1024;

/// Matching lines of all files so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) lines: Vec<String>,
    /// Whether there are more than are shown.
    pub(super) full: bool,
}

/// How the search of a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    Whole,
    Binary,
    LongLine,
    Unreadable,
}

pub(super) fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_SEARCHED_LINE))
        .build()
}

/// Searches one file; what is found of a file that could not be searched whole does not count.
pub(super) fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &str,
    file: File,
    cancel: &CancellationToken,
    found: &mut Found,
) -> Searched {
    let before = found.lines.len();
    let mut reader = Watched {
        file,
        cancel,
        failed: false,
    };
    let mut lines = Lines {
        path: escape_line(path),
        matcher,
        found: &mut *found,
        binary: false,
    };
    let ended = searcher.search_reader(matcher, &mut reader, &mut lines);
    let searched = match ended {
        Ok(()) if lines.binary => Searched::Binary,
        Ok(()) => return Searched::Whole,
        Err(_) if reader.failed => Searched::Unreadable,
        Err(_) => Searched::LongLine,
    };
    found.lines.truncate(before);
    searched
}

/// Reads a file until somebody wants the search to stop.
struct Watched<'a> {
    file: File,
    cancel: &'a CancellationToken,
    failed: bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = if self.cancel.is_cancelled() {
            Err(io::Error::other("the search was stopped"))
        } else {
            self.file.read(buffer)
        };
        self.failed |= read.is_err();
        read
    }
}

/// Collects matching lines as text.
struct Lines<'a> {
    path: String,
    matcher: &'a RegexMatcher,
    found: &'a mut Found,
    binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(
        &mut self,
        _searcher: &Searcher,
        found: &SinkMatch<'_>,
    ) -> Result<bool, Self::Error> {
        if self.found.lines.len() >= MAX_LINES {
            self.found.full = true;
            return Ok(false);
        }
        let shown = excerpt(self.matcher, found.bytes());
        let number = found.line_number().unwrap_or_default();
        self.found
            .lines
            .push(format!("{}:{number}: {shown}", self.path));
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), Self::Error> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Returns a line, or the part of a long one that holds its first match, with marks where it is cut.
fn excerpt(matcher: &RegexMatcher, line: &[u8]) -> String {
    let end = line.len()
        - line
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
    let line = line.get(..end).unwrap_or(line);
    let found = matcher.find(line).ok().flatten();
    let from = match found {
        Some(found) if found.end() > MAX_LINE_BYTES => {
            on_character(line, found.start().saturating_sub(BEFORE_MATCH))
        }
        _ => 0,
    };
    let to = on_character(line, (from + MAX_LINE_BYTES).min(line.len()));
    let shown = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let (before, after) = (mark(from > 0), mark(to < line.len()));
    format!("{before}{shown}{after}")
}

fn mark(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

/// Moves a cut back to where a character begins.
fn on_character(text: &[u8], at: usize) -> usize {
    let inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let back = (0..4).find(|back| {
        at.checked_sub(*back)
            .is_some_and(|at| !text.get(at).is_some_and(inside))
    });
    at - back.unwrap_or(0)
}
