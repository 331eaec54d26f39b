//! What a search left out, as lines for its report.

use crate::escape::escape_line;

/// How many notes are shown in full.
const MAX_NOTES: usize = 5;

/// What was left out: some of it by name, the rest by number.
#[derive(Debug, Default)]
pub(super) struct Notes {
    shown: Vec<String>,
    more: usize,
}

impl Notes {
    /// Adds that the file or folder at `path` was not `done` because of `why`.
    pub(super) fn add(&mut self, path: &str, done: &str, why: &str) {
        if self.shown.len() < MAX_NOTES {
            let path = escape_line(path);
            self.shown.push(format!("[`{path}` was not {done}: {why}]"));
        } else {
            self.more += 1;
        }
    }

    /// Returns the lines of the report.
    pub(super) fn into_lines(self) -> Vec<String> {
        let mut lines = self.shown;
        if self.more > 0 {
            lines.push(format!(
                "[{} more were left out for such reasons]",
                self.more
            ));
        }
        lines
    }
}
