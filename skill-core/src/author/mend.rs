//! Mending a file on disk: values that had to be repaired on reading are written quoted, and
//! nothing else changes by a byte.

use std::ops::Range;

use crate::skill::{Diagnostic, Origin, parse_skill};

/// One value that is written otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mend {
    /// The line, counted from 1.
    pub line: u32,
    /// The lines as they stand.
    pub before: String,
    /// The lines that take their place.
    pub after: String,
}

/// What mending a file comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// The bytes of the mended file.
    pub bytes: Vec<u8>,
    /// What was changed, in the order of the file; empty where there is nothing to mend.
    pub mends: Vec<Mend>,
    /// Repairs that no change was found for which leaves the record as it is.
    pub left: Vec<Diagnostic>,
}

/// Writes every value that was repaired on reading (SK021) so that no repair is needed.
///
/// A change is made only if the file then reads as the very record it read as before, with one
/// repair less. Bytes outside of the lines of such a value stay as they are.
pub fn mend(bytes: &[u8], origin: &Origin) -> Mended {
    let mut mended = Mended {
        bytes: bytes.to_vec(),
        mends: Vec::new(),
        left: Vec::new(),
    };
    // From the end, so that places before a change stay valid.
    let mut repairs = repairs(bytes, origin);
    repairs.reverse();
    for repair in repairs {
        match one(&mended.bytes, origin, &repair) {
            Some((changed, mend)) => {
                mended.bytes = changed;
                mended.mends.push(mend);
            }
            None => mended.left.push(repair),
        }
    }
    mended.mends.reverse();
    mended.left.reverse();
    mended
}

fn repairs(bytes: &[u8], origin: &Origin) -> Vec<Diagnostic> {
    let mut repairs = parse_skill(bytes, origin).diagnostics;
    repairs.retain(|finding| finding.code == "SK021" && finding.fix.is_some());
    repairs
}

/// Makes the one change that `repair` proposes, if it keeps the record.
fn one(bytes: &[u8], origin: &Origin, repair: &Diagnostic) -> Option<(Vec<u8>, Mend)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let number = repair.line?;
    let fix = repair.fix.as_deref()?.trim_end_matches('\n');
    let lines = line_ranges(text);
    let first = usize::try_from(number).ok()?.checked_sub(1)?;
    let before = parse_skill(bytes, origin);
    let count = repairs(bytes, origin).len();
    // A value may go on over lines below its key; the fewest that do are replaced.
    (first..lines.len().min(first + LONGEST_VALUE)).find_map(|last| {
        let range = lines.get(first)?.start..lines.get(last)?.end;
        let old = text.get(range.clone())?;
        let new = with_line_end(fix, old);
        let changed = [text.get(..range.start)?, &new, text.get(range.end..)?].concat();
        let after = parse_skill(changed.as_bytes(), origin);
        let same = after.skill == before.skill && after.body == before.body;
        let better = same && repairs(changed.as_bytes(), origin).len() < count;
        better.then(|| {
            let mend = Mend {
                line: number,
                before: old.to_owned(),
                after: new,
            };
            (changed.into_bytes(), mend)
        })
    })
}

/// How many lines a value to be replaced may have.
const LONGEST_VALUE: usize = 64;

/// Returns `new` with the line ends of `old`.
fn with_line_end(new: &str, old: &str) -> String {
    let end = if old.ends_with("\r\n") {
        "\r\n"
    } else if old.ends_with('\n') {
        "\n"
    } else {
        ""
    };
    let between = if old.contains("\r\n") { "\r\n" } else { "\n" };
    new.replace('\n', between) + end
}

/// Returns where each line of `text` stands, its end included.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
        .collect()
}
