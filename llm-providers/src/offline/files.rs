//! Finds the names of files in a task; pure, so a name found need not exist.

use crate::offline::extensions::{OTHER, PRODUCTS, TEXT};
use crate::offline::spaced;

/// The longest ending that a name with a folder in front may have without being a known one.
const MAX_ENDING: usize = 5;

/// Endings of the names of servers: what begins with one is an address.
const DOMAINS: &[&str] = &[
    "ai", "cn", "com", "de", "dev", "edu", "gov", "io", "net", "org",
];

/// Returns the files that a text names, in their order, each once: whatever they are and wherever.
///
/// Names are told by their endings, by folders in front, and by an `@`; one that holds blanks, by
/// the backticks or quotes around it. Nothing is looked up, so a file named need not be there.
///
/// ```
/// let task = "Compare @src/main.rs with `notes/old plan.md`, please.";
/// assert_eq!(llm_providers::named_files(task), ["src/main.rs", "notes/old plan.md"]);
/// ```
pub fn named_files(task: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in pieces(task).filter_map(|(_, piece)| name(piece)) {
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns `text` without the names of files, which say little about its language.
pub(super) fn without_names(text: &str) -> String {
    replacing_names(text, |_| "")
}

/// Returns `text` with the names of files cut down to what tells most: no folders, no ending.
pub(super) fn with_stems(text: &str) -> String {
    replacing_names(text, |name| {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    })
}

fn replacing_names(text: &str, replace: impl Fn(&str) -> &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for (at, piece) in pieces(text) {
        let Some(name) = name(piece) else { continue };
        let at = at + piece.find(name).unwrap_or_default();
        replaced.push_str(text.get(done..at).unwrap_or_default());
        replaced.push_str(replace(name));
        done = at + name.len();
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

/// Cuts a text into what may be a path, each with where it begins.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut found = Vec::new();
    let mut done = 0;
    for (at, path) in spaced::paths(text) {
        found.extend(words(text, done, at));
        found.push((at, path));
        done = at + path.len();
    }
    found.extend(words(text, done, text.len()));
    found.into_iter()
}

/// Cuts the part of a text at whatever is in no path.
fn words(text: &str, begin: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = begin;
    let text = text.get(begin..end).unwrap_or_default();
    text.split_inclusive(|character: char| !is_path_character(character))
        .filter_map(move |piece| {
            let start = at;
            at += piece.len();
            let piece = piece.trim_end_matches(|character| !is_path_character(character));
            (!piece.is_empty()).then_some((start, piece))
        })
}

/// Reads a piece as the plain path of a text file below a folder, as skills name their own.
pub(super) fn plain_path(piece: &str) -> Option<&str> {
    let piece = unmarked(piece.trim_end_matches(['.', ':', '-']));
    let piece = after_foreign_prefix(end_at_extension(piece, &[TEXT])?);
    let piece = piece.strip_prefix("./").unwrap_or(piece);
    let outside = piece.starts_with(['/', '~', '-', '.'])
        || piece.contains([':', '*', '@', '\\'])
        || piece.split('/').any(|part| part.is_empty() || part == "..");
    (!outside && !is_foreign(piece)).then_some(piece)
}

fn is_path_character(character: char) -> bool {
    character.is_alphanumeric() || "_-./~:@*\\".contains(character)
}

/// Takes the marks of bold print off.
fn unmarked(piece: &str) -> &str {
    let piece = piece.strip_prefix("**").unwrap_or(piece);
    piece.strip_suffix("**").unwrap_or(piece)
}

fn name(piece: &str) -> Option<&str> {
    if piece.contains(' ') {
        let piece = piece.trim_start_matches('@');
        return Some(piece.strip_prefix("./").unwrap_or(piece));
    }
    let piece = unmarked(piece.trim_end_matches(['.', ':', '-'])).trim_start_matches('@');
    if piece.contains("://") || piece.contains(['*', '@']) {
        return None;
    }
    let piece = after_label(piece);
    let name = place(piece)
        // Chinese puts no space around a name: what follows the ending is not part of it.
        .or_else(|| end_at_extension(piece, &[TEXT, OTHER]).map(after_foreign_prefix))
        .or_else(|| below_folder(piece))?;
    let name = name.strip_prefix("./").unwrap_or(name);
    (!is_foreign(name)).then_some(name)
}

/// Drops what stands before a colon, as in `file:a.md`, but not the letter of a drive.
fn after_label(piece: &str) -> &str {
    let (before, after) = piece.split_once(':').unwrap_or(("", piece));
    let has_ending = before.contains(['.', '/']);
    if before.len() < 2 || has_ending || after.is_empty() {
        piece
    } else {
        after
    }
}

/// Reads `/etc/passwd`, `~/x`, `../x`: a path by its beginning, whatever its ending.
fn place(piece: &str) -> Option<&str> {
    let begin = piece.find(|c: char| c.is_ascii()).unwrap_or_default();
    let path = piece.get(begin..)?;
    let is_path = path.starts_with("../")
        || path.starts_with("~/")
        || (path.starts_with('/') && path.matches('/').count() > 1);
    let ascii = path.trim_end_matches(|character: char| !character.is_ascii());
    let path = end_at_extension(path, &[TEXT, OTHER]).unwrap_or(ascii);
    (is_path && !path.contains("//")).then_some(path)
}

/// Reads `notes/data.xyz`: a folder in front and something like an ending.
fn below_folder(piece: &str) -> Option<&str> {
    let piece =
        after_foreign_prefix(piece.trim_end_matches(|character: char| !character.is_ascii()));
    let (_, last) = piece.rsplit_once('/')?;
    let (stem, ending) = last.rsplit_once('.')?;
    let is_ending = ending.len() <= MAX_ENDING
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.starts_with(|character: char| character.is_ascii_alphabetic());
    (is_ending && !stem.is_empty()).then_some(piece)
}

/// Tells whether a name is that of a product, or begins with that of a server.
fn is_foreign(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let (first, is_address) = match lower.split_once('/') {
        Some((first, _)) => (first, true),
        None => (lower.as_str(), false),
    };
    let ending = first.rsplit_once('.').map(|(_, ending)| ending);
    PRODUCTS.contains(&lower.as_str())
        || (is_address && ending.is_some_and(|ending| DOMAINS.contains(&ending)))
}

/// Tells whether a text as a whole ends with a known ending.
pub(super) fn has_known_ending(text: &str) -> bool {
    let is_known = |ending: &str| {
        let lower = ending.to_ascii_lowercase();
        [TEXT, OTHER].iter().any(|known| known.contains(&&*lower))
    };
    let parts = text.rsplit_once('.');
    parts.is_some_and(|(stem, ending)| {
        stem.trim_end() == stem && !stem.is_empty() && is_known(ending)
    })
}

/// Cuts behind a known ending that no further letter or digit of a name follows.
fn end_at_extension<'p>(piece: &'p str, known: &[&[&str]]) -> Option<&'p str> {
    piece.rmatch_indices('.').find_map(|(dot, _)| {
        let rest = piece.get(dot + 1..)?;
        let is_ending =
            |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
        let ending = rest.split(|character| !is_ending(character)).next()?;
        let stem = piece.get(..dot)?;
        let has_stem = stem
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_');
        let lower = ending.to_ascii_lowercase();
        let is_known = known.iter().any(|known| known.contains(&lower.as_str()));
        (is_known && has_stem && stem.len() + ending.len() > 2).then_some(())?;
        piece.get(..dot + 1 + ending.len())
    })
}

/// Drops prose that runs into a name without a space, as in `总结notes/week.md`.
fn after_foreign_prefix(piece: &str) -> &str {
    let stem = piece.rsplit_once('.').map_or(piece, |(stem, _)| stem);
    let prose = stem.rfind(|character: char| character.is_alphanumeric() && !character.is_ascii());
    match prose.and_then(|at| {
        stem.get(at..)?
            .char_indices()
            .nth(1)
            .map(|(next, _)| at + next)
    }) {
        Some(begin) if !stem.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            let name = piece.get(begin..).unwrap_or(piece);
            if name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                name
            } else {
                piece
            }
        }
        _ => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::{named_files as named, pieces, plain_path, with_stems, without_names};

    #[test]
    fn names_are_found_in_prose() {
        for (text, expected) in [
            (
                "summarise notes/week.md, then b.csv and notes/week.md.",
                &["notes/week.md", "b.csv"][..],
            ),
            (
                "see `docs/a b.md` and [x](./docs/x.md)!",
                &["docs/a b.md", "docs/x.md"],
            ),
            ("@src/main.rs: what does it do?", &["src/main.rs"]),
            ("file:src/main.rs:12 fails", &["src/main.rs"]),
            ("请总结notes/week.md的内容", &["notes/week.md"]),
            ("读“会议记录.md”。", &["会议记录.md"]),
            ("笔记/周会.md 和 README.MD", &["笔记/周会.md", "README.MD"]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn files_that_cannot_be_shown_or_lie_elsewhere_are_named_too() {
        for (text, expected) in [
            (
                "use notes/photo.png and scan.PDF",
                &["notes/photo.png", "scan.PDF"][..],
            ),
            ("show ../../etc/passwd.", &["../../etc/passwd"]),
            ("读取../../etc/passwd的内容", &["../../etc/passwd"]),
            ("look at ~/b.md, /etc/hosts", &["~/b.md", "/etc/hosts"]),
            ("from c:\\docs\\d.md", &["c:\\docs\\d.md"]),
            ("measure data/run.dat", &["data/run.dat"]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_file_is_passed_over() {
        let text = "e.g. version 1.2.0, https://example.com/a.md, example.com/b.md, *.md, \
                    report.generator.weekly, example.com, .md, me@x.md, A/B, and/or, 24/7, \
                    /weekly-review, Node.js, v1/2.0";
        assert_eq!(named(text), [""; 0]);
    }

    #[test]
    fn a_plain_path_stays_below_its_folder() {
        assert_eq!(plain_path("./docs/a.md"), Some("docs/a.md"));
        for piece in [
            "/etc/passwd.txt",
            "~/b.md",
            "../c.md",
            "*.md",
            "a//b.md",
            "c:\\d.md",
            "a.png",
            ".md",
        ] {
            assert_eq!(plain_path(piece), None, "{piece}");
        }
    }

    #[test]
    fn pieces_know_where_they_begin() {
        let found: Vec<_> = pieces("见 a.md（b）").collect();
        assert_eq!(found, [(0, "见"), (4, "a.md"), (11, "b")]);
    }

    #[test]
    fn a_path_with_blanks_is_one_name_where_something_stands_around_it() {
        for (text, expected) in [
            (
                "sum up `notes/week 48/to do.md`",
                &["notes/week 48/to do.md"][..],
            ),
            (
                "sum up `Meeting notes.md`, a.md",
                &["Meeting notes.md", "a.md"],
            ),
            ("the file \"docs/a b.md\"", &["docs/a b.md"]),
            ("总结`笔记/第 3 周.md`吧", &["笔记/第 3 周.md"]),
            ("`./my file (1).pdf`", &["my file (1).pdf"]),
            // A command, a list and prose are none.
            ("run `cat docs/a.md`", &["docs/a.md"]),
            ("run `python3 -m x.py`", &["x.py"]),
            ("`a.md and b.md`", &["a.md", "b.md"]),
            ("she said \"summarise b.md\"", &["b.md"]),
            ("notes/a b.md", &["b.md"]),
            ("`a\nb.md`", &["b.md"]),
            ("it`s docs/a b.md", &["b.md"]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
        let task = "read `notes/old plan.md` now";
        assert_eq!(without_names(task), "read `` now");
        assert_eq!(with_stems(task), "read `old plan` now");
    }

    #[test]
    fn names_can_be_taken_out_or_cut_down() {
        let task = "总结notes/week.md吧，再看 a/周会.md 的内容";
        assert_eq!(without_names(task), "总结吧，再看  的内容");
        assert_eq!(with_stems(task), "总结week吧，再看 周会 的内容");
    }
}
