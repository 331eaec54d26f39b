//! The table of codes, and the list a parser collects its findings in.

use std::path::{Path, PathBuf};

use crate::skill::{Diagnostic, Severity};

use Severity::{Error, Info, Warning};

/// Every code with its severity. A code is never given another meaning.
///
/// Those in [`REFUSES`] can be an error besides.
const CODES: &[(&str, Severity)] = &[
    ("SK001", Info),    // byte-order mark
    ("SK002", Warning), // UTF-16
    ("SK003", Warning), // invalid UTF-8
    ("SK004", Info),    // lone carriage returns
    ("SK010", Error),   // no frontmatter
    ("SK011", Error),   // frontmatter not closed
    ("SK012", Warning), // text or blank lines before the frontmatter
    ("SK013", Info),    // blanks after a fence
    ("SK014", Warning), // second frontmatter block
    ("SK015", Warning), // fence of another form
    ("SK020", Warning), // key dropped
    ("SK021", Warning), // value repaired
    ("SK022", Warning), // duplicate key
    ("SK023", Warning), // a comment cut the text
    ("SK024", Warning), // aliases ignored
    ("SK030", Warning), // name missing
    ("SK031", Warning), // name is not the folder's
    ("SK032", Warning), // name too long
    ("SK033", Warning), // name with letters outside the standard's set
    ("SK034", Warning), // name unsafe as an id
    ("SK035", Warning), // hyphens
    ("SK036", Info),    // name not ASCII
    ("SK040", Warning), // description missing
    ("SK041", Warning), // description too long
    ("SK042", Warning), // body empty
    ("SK043", Info),    // body long
    ("SK044", Info),    // description does not say what it is not for
    ("SK050", Info),    // metadata not flat
    ("SK051", Info),    // allowed-tools as a list
    ("SK052", Info),    // key outside the standard
    ("SK053", Warning), // field of another type
    ("SK054", Warning), // not portable: only where somebody asks for that
    ("SK060", Warning), // case of the file name
    ("SK061", Warning), // link leaves the root
    ("SK062", Info),    // link loop
    ("SK063", Info),    // depth bound
    ("SK064", Warning), // folder bound
    ("SK065", Warning), // unreadable
    ("SK067", Info),    // plain Markdown file outside a lite root
    ("SK070", Warning), // shadowed
    ("SK071", Info),    // the same file twice
    ("SK072", Info),    // identical copy
    ("SK080", Info),    // description shortened in the index
    ("SK081", Warning), // listed by name only
    ("SK082", Warning), // not listed
    ("SK090", Warning), // trust is pending
    ("SK091", Warning), // changed since it was approved
    ("SK100", Info),    // requirement not met
    ("SK101", Warning), // restricting key damaged
    ("SK102", Error),   // skill_id missing
    ("SK103", Warning), // file too large
    ("SK104", Warning), // last good version kept
    ("SK110", Error),   // hidden text
    ("SK111", Warning), // name that looks like another
    ("SK112", Warning), // markup that imitates the runtime
    ("SK113", Warning), // line that downloads and runs
    ("SK114", Warning), // secret in the text
    ("SK115", Info),    // reference to a missing file
    ("SK116", Warning), // stray invisible letter
];

/// Codes that are an error where they are about the very thing that makes a skill: the id that a
/// `skill.yaml` has to have, a link on the way to what would be opened or run, the entry file
/// itself.
const REFUSES: &[&str] = &["SK034", "SK061", "SK065"];

/// Returns the severity of `code` where it refuses the file: an error, if the table has it so.
pub(crate) fn refusal(code: &str) -> Severity {
    if REFUSES.contains(&code) {
        Error
    } else {
        severity(code)
    }
}

/// Returns the severity of `code`; one that is not in the table is an error.
pub(crate) fn severity(code: &str) -> Severity {
    CODES
        .iter()
        .find(|(known, _)| *known == code)
        .map_or(Error, |(_, severity)| *severity)
}

/// A place in a file, line and column counted from 1.
pub(crate) type Place = Option<(u32, u32)>;

/// Findings about one file.
///
/// The list does not know its file; findings get its path when it is finished.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    /// How many findings past the bound were left out, and the code of the last.
    left_out: Option<(usize, &'static str)>,
}

/// How many findings about one file are kept; a hostile file could cause one a line.
pub(crate) const MOST_FINDINGS: usize = 256;

impl Findings {
    /// Adds a finding and returns it, for text and fix to be filled in.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> Added<'_> {
        let severity = severity(code);
        if self.list.len() >= MOST_FINDINGS && severity != Error {
            let (count, _) = self.left_out.unwrap_or((0, code));
            self.left_out = Some((count + 1, code));
            return Added(None);
        }
        self.list.push(Diagnostic {
            code,
            severity,
            path: PathBuf::new(),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            message: message.into(),
            text: None,
            fix: None,
        });
        Added(self.list.last_mut())
    }

    /// Gives every finding with one of `codes` another severity, or drops it.
    pub(crate) fn soften(&mut self, codes: &[&str], to: Option<Severity>) {
        self.list
            .retain(|finding| to.is_some() || !codes.contains(&finding.code));
        for finding in &mut self.list {
            if let Some(to) = to.filter(|_| codes.contains(&finding.code)) {
                finding.severity = to;
            }
        }
    }

    /// Returns the findings about the file at `path`, in its order.
    pub(crate) fn into_list(mut self, path: &Path) -> Vec<Diagnostic> {
        if let Some((count, code)) = self.left_out {
            let message = format!("{count} more findings are left out");
            self.list.push(Diagnostic::about(code, path, message));
        }
        for finding in &mut self.list {
            if finding.path.as_os_str().is_empty() {
                path.clone_into(&mut finding.path);
            }
        }
        self.list
            .sort_by_key(|finding| (finding.line.unwrap_or(0), finding.column.unwrap_or(0)));
        self.list
    }
}

/// The finding just added.
pub(crate) struct Added<'a>(Option<&'a mut Diagnostic>);

impl Added<'_> {
    /// Sets the text as it stands, shortened to a line or two.
    pub(crate) fn text(mut self, text: &str) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.text = Some(shortened(text, LONGEST_TEXT));
        }
        self
    }

    /// Says that it is about another file.
    pub(crate) fn about(mut self, path: &Path) -> Self {
        if let Some(finding) = &mut self.0 {
            path.clone_into(&mut finding.path);
        }
        self
    }

    /// Says that it refuses the file, as its code can.
    pub(crate) fn refuses(mut self) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.severity = refusal(finding.code);
        }
        self
    }

    /// Sets the text that would mend it.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.fix = Some(fix.into());
        }
        self
    }
}

const LONGEST_TEXT: usize = 300;

fn shortened(text: &str, longest: usize) -> String {
    let text = text.trim_end_matches('\n');
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Returns the line `key: "value"` that every YAML reader takes alike.
pub(crate) fn quoted(key: &str, value: &str) -> String {
    format!("{key}: {}", crate::author::quoted_text(value))
}
