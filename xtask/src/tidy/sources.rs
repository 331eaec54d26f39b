//! Rules about the text of a file: module docs, length, stray blanks, promises without an issue.

use std::error::Error;
use std::path::Path;

use super::Finding;

/// Above this many code lines a file holds two ideas.
const MOST_CODE_LINES: usize = 500;
/// Above this many it is time to look for the second one.
const MANY_CODE_LINES: usize = 400;

/// Files whose blanks are checked.
const TEXT: &[&str] = &["rs", "toml", "md", "yaml", "yml", "json", "sh"];
/// Folders whose files are input of a test, where any byte may be meant.
const INPUTS: &[&str] = &["fixtures", "golden", "tests", "testdata"];

/// What the text of the files shows.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    pub(super) warnings: Vec<String>,
}

/// Checks files named from the top of the repository.
pub(super) fn check(files: &[String], root: &Path) -> Result<Report, Box<dyn Error>> {
    let mut report = Report::default();
    for file in files {
        let kind = Path::new(file)
            .extension()
            .and_then(|kind| kind.to_str())
            .unwrap_or_default();
        let script = file.starts_with(".ci/");
        if !script && !TEXT.contains(&kind) {
            continue;
        }
        let bytes = std::fs::read(root.join(file))?;
        let text = String::from_utf8_lossy(&bytes);
        if kind == "rs" {
            report.findings.extend(undocumented(file, &text));
            length(file, &text, &mut report);
        }
        if kind == "rs" || !is_input(file) {
            report.findings.extend(trailing_blanks(file, &text));
        }
        if kind != "md" && kind != "json" {
            report.findings.extend(bare_promises(
                file,
                &text,
                if kind == "rs" { "//" } else { "#" },
            ));
        }
    }
    Ok(report)
}

fn is_input(file: &str) -> bool {
    Path::new(file)
        .iter()
        .any(|part| INPUTS.iter().any(|input| part == *input))
}

fn undocumented(file: &str, text: &str) -> Option<Finding> {
    if opens_with_docs(text) {
        return None;
    }
    let mend = "open the file with one `//!` sentence: what it holds, and what it never does";
    Some(Finding::new(file, 1, "this module has no docs", mend))
}

/// Tells whether the first thing in a module, attributes and comments aside, is its docs.
fn opens_with_docs(text: &str) -> bool {
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim();
        if line.starts_with("//!") || line.starts_with("#![doc") {
            return true;
        }
        let passed = line.is_empty() || line.starts_with("//") || line.starts_with("#!");
        if !passed {
            return false;
        }
    }
    false
}

fn length(file: &str, text: &str, report: &mut Report) {
    let lines = code_lines(text);
    if lines > MOST_CODE_LINES {
        report.findings.push(Finding::new(
            file,
            1,
            format!("{lines} code lines, more than {MOST_CODE_LINES}"),
            "find the second idea in the file and give it its own",
        ));
    } else if lines > MANY_CODE_LINES {
        report.warnings.push(format!(
            "{file}: {lines} code lines; look for the second idea in it"
        ));
    }
}

/// Counts lines that are neither blank nor comment, up to the tests at the end of a file.
fn code_lines(text: &str) -> usize {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let end = text
        .find("\n#[cfg(test)]\nmod tests {")
        .unwrap_or(text.len());
    text.get(..end)
        .unwrap_or(text)
        .lines()
        .filter(is_code)
        .count()
}

fn trailing_blanks(file: &str, text: &str) -> Vec<Finding> {
    let blank = |line: &str| line.ends_with([' ', '\t', '\r']);
    let lines = text.split('\n').enumerate().filter(|(_, line)| blank(line));
    lines
        .map(|(index, _)| {
            Finding::new(
                file,
                index + 1,
                "blanks at the end of the line",
                "remove them",
            )
        })
        .collect()
}

/// Finds comments that put something off without naming the issue where it is kept.
fn bare_promises(file: &str, text: &str, comment: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(start) = line.find(comment) else {
            continue;
        };
        let said = line.get(start..).unwrap_or_default();
        for word in ["TODO", "FIXME"] {
            if promises(said, word) {
                findings.push(Finding::new(
                    file,
                    index + 1,
                    format!("`{word}` without an issue"),
                    format!("write `{word}(#123)` with the number of an issue, or do it now"),
                ));
            }
        }
    }
    findings
}

/// A word in backticks is talked about, not meant.
fn promises(comment: &str, word: &str) -> bool {
    comment.match_indices(word).any(|(at, _)| {
        let before = comment.get(..at).and_then(|text| text.chars().next_back());
        let after = comment.get(at + word.len()..).unwrap_or_default();
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '`';
        let stands_alone = !before.is_some_and(inside) && !after.chars().next().is_some_and(inside);
        stands_alone && !names_an_issue(after)
    })
}

fn names_an_issue(after: &str) -> bool {
    let number = after.trim_start_matches(['(', ' ']).strip_prefix('#');
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_may_follow_attributes_and_comments_but_no_code() {
        assert!(opens_with_docs("//! Docs.\nuse a;\n"));
        assert!(opens_with_docs(
            "// Note.\n\n#![forbid(unsafe_code)]\n//! Docs.\n"
        ));
        assert!(opens_with_docs(
            "#![doc = include_str!(\"../README.md\")]\n"
        ));
        assert!(!opens_with_docs("use a;\n//! Late.\n"));
        assert!(!opens_with_docs("/// Of the item below.\nfn a() {}\n"));
        assert!(!opens_with_docs(""));
    }

    #[test]
    fn tests_blanks_and_comments_are_not_code() {
        let text = "//! Docs.\n\nfn a() {\n    // why\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    x\n}\n";
        assert_eq!(code_lines(text), 3);
    }

    #[test]
    fn a_file_over_the_limit_is_a_finding_and_one_near_it_a_warning() {
        let mut report = Report::default();
        length(
            "near.rs",
            &"code;\n".repeat(MANY_CODE_LINES + 1),
            &mut report,
        );
        length(
            "over.rs",
            &"code;\n".repeat(MOST_CODE_LINES + 1),
            &mut report,
        );
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(
            report
                .findings
                .iter()
                .map(|f| f.file.as_str())
                .collect::<Vec<_>>(),
            ["over.rs"]
        );
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_found() {
        let lines: Vec<usize> = trailing_blanks("a", "a \nb\nc\t\nd\r\n")
            .iter()
            .map(|f| f.line)
            .collect();
        assert_eq!(lines, [1, 3, 4]);
    }

    #[test]
    fn a_promise_names_its_issue() {
        let word = "TODO";
        let lines = [
            (format!("// {word}: later"), true),
            (format!("x(); // {word} tidy up"), true),
            (format!("// {word}(#12): later"), false),
            (format!("// {word} #12"), false),
            (format!("let s = \"{word}\";"), false),
            (format!("// flags a `{word}` in a comment"), false),
            (format!("// {word}S"), false),
        ];
        for (line, expected) in lines {
            assert_eq!(
                !bare_promises("a", &line, "//").is_empty(),
                expected,
                "{line}"
            );
        }
    }
}
