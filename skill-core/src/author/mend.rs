//! Mending a file on disk: values that had to be repaired on reading are written quoted, and
//! nothing else changes by a byte.

use std::ops::Range;

use crate::discovery::ScanLimits;
use crate::skill::{Diagnostic, Origin, ParsedSkill, begins_key, is_fence, parse_skill};

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
/// Changes are made only if the file then reads as the very record it read as before, with a repair
/// less for each. Bytes outside of the lines of such a value stay as they are. A file longer than
/// what is read of one by default is left as it is.
///
/// The file is read twice where all changes are good ones; where some are not, they are found by
/// halves.
pub fn mend(bytes: &[u8], origin: &Origin) -> Mended {
    let longest = ScanLimits::default().file_bytes;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > longest {
        let message = format!("only files of at most {longest} bytes are mended");
        let left = Diagnostic::about("SK103", &origin.path, message);
        return unchanged(bytes, vec![left]);
    }
    let before = parse_skill(bytes, origin);
    let repairs: Vec<Diagnostic> = repairs(&before).cloned().collect();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return unchanged(bytes, repairs);
    };
    let (edits, left) = edits(text, &repairs);
    let mut search = Search {
        text,
        origin,
        before: &before,
        count: repairs.len(),
        good: Vec::new(),
        left,
        readings: MOST_READINGS,
    };
    search.take(&edits);
    search.good.sort_by_key(|edit| edit.range.start);
    search
        .left
        .sort_by_key(|repair| (repair.line, repair.column));
    Mended {
        bytes: changed(text, &search.good).into_bytes(),
        mends: search.good.iter().map(|edit| edit.mend(text)).collect(),
        left: search.left.into_iter().cloned().collect(),
    }
}

fn unchanged(bytes: &[u8], left: Vec<Diagnostic>) -> Mended {
    Mended {
        bytes: bytes.to_vec(),
        mends: Vec::new(),
        left,
    }
}

fn repairs(parsed: &ParsedSkill) -> impl Iterator<Item = &Diagnostic> {
    let found = parsed.diagnostics.iter();
    found.filter(|finding| finding.code == "SK021" && finding.fix.is_some())
}

/// A change that a repair proposes.
struct Edit<'r> {
    repair: &'r Diagnostic,
    line: u32,
    range: Range<usize>,
    after: String,
}

impl Edit<'_> {
    fn mend(&self, text: &str) -> Mend {
        Mend {
            line: self.line,
            before: text.get(self.range.clone()).unwrap_or_default().to_owned(),
            after: self.after.clone(),
        }
    }
}

/// Returns the changes that `repairs` propose, in the order of the text and beside one another, and
/// the repairs that propose none.
fn edits<'r>(text: &str, repairs: &'r [Diagnostic]) -> (Vec<Edit<'r>>, Vec<&'r Diagnostic>) {
    let lines = line_ranges(text);
    let (mut edits, mut left): (Vec<Edit<'r>>, Vec<&'r Diagnostic>) = (Vec::new(), Vec::new());
    for repair in repairs {
        let free_from = edits.last().map_or(0, |edit| edit.range.end);
        match edit(text, &lines, repair).filter(|edit| edit.range.start >= free_from) {
            Some(edit) => edits.push(edit),
            None => left.push(repair),
        }
    }
    (edits, left)
}

fn edit<'r>(text: &str, lines: &[Range<usize>], repair: &'r Diagnostic) -> Option<Edit<'r>> {
    let line = repair.line?;
    let fix = repair.fix.as_deref()?.trim_end_matches('\n');
    // A fix that is no line is advice to the author.
    begins_key(fix.lines().next()?.trim_start()).then_some(())?;
    let first = usize::try_from(line).ok()?.checked_sub(1)?;
    let last = last_line(text, lines, first)?;
    let range = lines.get(first)?.start..lines.get(last)?.end;
    let after = with_line_end(fix, text.get(range.clone())?);
    Some(Edit {
        repair,
        line,
        range,
        after,
    })
}

/// Returns the last line of the value whose key stands on line `first`: what is below it up to the
/// next key or fence as far left, blank lines and comments at the end aside.
fn last_line(text: &str, lines: &[Range<usize>], first: usize) -> Option<usize> {
    let line = |at: usize| lines.get(at).and_then(|range| text.get(range.clone()));
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let margin = indent(line(first)?);
    let mut last = first;
    for at in first + 1..lines.len() {
        let below = line(at)?;
        let bare = below.trim();
        let is_end = begins_key(bare) || is_fence(bare) || bare.starts_with(['<', '=', '>']);
        if indent(below) <= margin && is_end {
            break;
        }
        if !bare.is_empty() && !below.starts_with('#') {
            last = at;
        }
    }
    Some(last)
}

/// How often a file is read to find the changes that leave its record as it is.
const MOST_READINGS: usize = 64;

/// The changes that were tried together.
struct Search<'t, 'e> {
    text: &'t str,
    origin: &'t Origin,
    before: &'t ParsedSkill,
    /// How many repairs there were before.
    count: usize,
    good: Vec<&'e Edit<'e>>,
    left: Vec<&'e Diagnostic>,
    readings: usize,
}

impl<'e> Search<'_, 'e> {
    /// Takes the good ones among `edits`: all, or those of each half.
    fn take(&mut self, edits: &'e [Edit<'e>]) {
        if edits.is_empty() {
            return;
        }
        let known = self.good.len();
        self.good.extend(edits);
        if self.readings > 0 && self.is_good() {
            return;
        }
        self.good.truncate(known);
        let (one, other) = edits.split_at(edits.len() / 2);
        if one.is_empty() || self.readings == 0 {
            self.left.extend(edits.iter().map(|edit| edit.repair));
            return;
        }
        self.take(one);
        self.take(other);
    }

    /// Tells whether the file still says the same, with a repair less for each change.
    fn is_good(&mut self) -> bool {
        self.readings -= 1;
        let mut sorted = self.good.clone();
        sorted.sort_by_key(|edit| edit.range.start);
        let after = parse_skill(changed(self.text, &sorted).as_bytes(), self.origin);
        // Of a file with more findings than are kept, some come up only now.
        let is_cut = self.before.diagnostics.len() > crate::skill::findings::MOST_FINDINGS;
        let fewer = repairs(&after).count() + self.good.len() <= self.count;
        after.skill == self.before.skill && after.body == self.before.body && (fewer || is_cut)
    }
}

/// Returns `text` with all of `edits` made, which come in its order.
fn changed(text: &str, edits: &[&Edit<'_>]) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        changed.push_str(text.get(from..edit.range.start).unwrap_or_default());
        changed.push_str(&edit.after);
        from = edit.range.end;
    }
    changed + text.get(from..).unwrap_or_default()
}

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
