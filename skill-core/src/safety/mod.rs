//! What a text hides or pretends: findings for the person who lets it be read by a model.
//!
//! Every file is looked through when it is read, so each check reads on by the few bytes that can
//! begin what it looks for.

mod download;
mod hidden;
mod imitation;
mod lookalike;
mod references;
mod secret;

pub(crate) use lookalike::{mixed_scripts, skeleton};
pub use references::references;

use crate::skill::findings::Findings;

/// How many findings of one code are written down for one file.
const MOST_OF_A_CODE: usize = 16;

/// Looks through the text of a file, whose body begins at `body`.
pub(crate) fn check(text: &str, body: usize, findings: &mut Findings) {
    let mut report = Report { text, findings };
    hidden::check(&mut report);
    imitation::check(&mut report, body);
    download::check(&mut report);
    secret::check(&mut report);
}

/// Looks at a value as it was read, which the file may write with escapes.
pub(crate) fn check_value(text: &str, value: &str, findings: &mut Findings) {
    hidden::check_value(text, value, findings);
}

/// A text, and where findings about it go.
struct Report<'a, 'f> {
    text: &'a str,
    findings: &'f mut Findings,
}

impl<'a> Report<'a, '_> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns the line that byte `at` stands on, or what is near it on a long one.
    fn line(&self, at: usize) -> &'a str {
        let start = self.near_start(at, LONGEST_SHOWN);
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let end = boundary(line, at - start + LONGEST_SHOWN);
        line.get(..end).unwrap_or(line).trim()
    }

    /// Returns where the line of byte `at` begins, or where the last `most` bytes before it do.
    fn near_start(&self, at: usize, most: usize) -> usize {
        let floor = boundary(self.text, at.saturating_sub(most));
        let near = self.bytes().get(floor..at).unwrap_or_default();
        memchr::memrchr(b'\n', near).map_or(floor, |line_end| floor + line_end + 1)
    }

    /// Returns the line and column of byte `at`.
    fn place(&self, at: usize) -> (u32, u32) {
        let before = self.bytes().get(..at).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let before = self.text.get(start..at);
        let column = before.map_or(1, |text| text.chars().count() + 1);
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        (number(line), number(column))
    }

    /// Writes down findings of one code, the first ones only.
    fn add(&mut self, found: Finds) {
        let left_out = found.count.saturating_sub(found.list.len());
        for (number, one) in found.list.into_iter().enumerate() {
            let place = Some(self.place(one.at));
            let message = match left_out {
                more if more > 0 && number == 0 => format!("{}, and {more} more", one.message),
                _ => one.message,
            };
            let added = self.findings.add(found.code, place, message);
            added.text(&one.text).fix(one.fix);
        }
    }
}

/// How much of a line is shown on either side.
const LONGEST_SHOWN: usize = 160;

/// The first findings of one code, and how many there are.
#[derive(Debug)]
struct Finds {
    code: &'static str,
    list: Vec<Found>,
    count: usize,
}

impl Finds {
    fn of(code: &'static str) -> Self {
        Self {
            code,
            list: Vec::new(),
            count: 0,
        }
    }

    /// Adds what `make` says; it is asked for the first ones only.
    fn push(&mut self, make: impl FnOnce() -> Found) {
        self.count += 1;
        if self.list.len() < MOST_OF_A_CODE {
            self.list.push(make());
        }
    }
}

/// Something found.
#[derive(Debug)]
struct Found {
    at: usize,
    message: String,
    text: String,
    fix: &'static str,
}

/// Returns the last place up to `at` where a letter of `text` begins, or its end.
fn boundary(text: &str, at: usize) -> usize {
    let mut near = (0..=at.min(text.len())).rev();
    near.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns `text` with every letter that cannot be seen as its number.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if hidden::leaves_no_mark(letter) || letter.is_control() {
            shown.push_str(&format!("<U+{:04X}>", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests;
