//! Finds the names of files in prose; pure, so a name found need not exist.

/// Endings of files that hold text.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "dart",
    "diff",
    "env",
    "ex",
    "exs",
    "go",
    "gradle",
    "graphql",
    "h",
    "hpp",
    "hs",
    "htm",
    "html",
    "ics",
    "ini",
    "ipynb",
    "java",
    "js",
    "json",
    "jsonl",
    "jsx",
    "kt",
    "log",
    "lua",
    "markdown",
    "md",
    "mdx",
    "mjs",
    "ndjson",
    "org",
    "patch",
    "php",
    "pl",
    "properties",
    "proto",
    "ps1",
    "py",
    "r",
    "rb",
    "rs",
    "rst",
    "scala",
    "scss",
    "sh",
    "sql",
    "srt",
    "svelte",
    "swift",
    "tex",
    "text",
    "tf",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "vtt",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zsh",
];

/// Returns the relative paths of text files that `text` names, in their order, with repetitions.
pub(super) fn mentioned(text: &str) -> Vec<String> {
    text.split(|character: char| !is_path_character(character))
        .filter_map(path)
        .collect()
}

/// Returns the first `limit` distinct paths.
pub(super) fn distinct(paths: Vec<String>, limit: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for path in paths {
        if kept.len() < limit && !kept.contains(&path) {
            kept.push(path);
        }
    }
    kept
}

/// Returns `text` without the names of files, which say little about its language.
pub(super) fn without_names(text: &str) -> String {
    text.split_inclusive(|character: char| !is_path_character(character))
        .filter(|piece| path(piece.trim_end_matches(|c| !is_path_character(c))).is_none())
        .collect()
}

fn is_path_character(character: char) -> bool {
    character.is_alphanumeric() || "_-./~:@*\\".contains(character)
}

/// Reads one piece of a text as a path, if it can be one inside a workspace.
fn path(piece: &str) -> Option<String> {
    let piece = piece
        .trim_start_matches('@')
        .trim_end_matches(['.', ':', '-']);
    // Chinese puts no space around a name: what follows the ending is not part of it.
    let piece = end_at_extension(piece)?;
    let piece = after_foreign_prefix(piece);
    let piece = piece.strip_prefix("./").unwrap_or(piece);
    let outside = piece.starts_with(['/', '~', '-', '.'])
        || piece.contains([':', '*', '@', '\\'])
        || piece.split('/').any(|part| part.is_empty() || part == "..");
    (!outside).then(|| piece.to_owned())
}

/// Cuts behind a known ending that no further letter or digit of a name follows.
fn end_at_extension(piece: &str) -> Option<&str> {
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
        let known = EXTENSIONS.contains(&ending.to_ascii_lowercase().as_str());
        (known && has_stem && stem.len() + ending.len() > 2).then_some(())?;
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
    use super::{distinct, mentioned, without_names};

    #[test]
    fn names_are_found_in_prose() {
        for (text, expected) in [
            (
                "summarise notes/week.md, then b.csv.",
                &["notes/week.md", "b.csv"][..],
            ),
            (
                "see `docs/a b.md` and [x](./docs/x.md)!",
                &["b.md", "docs/x.md"],
            ),
            ("@src/main.rs: what does it do?", &["src/main.rs"]),
            ("请总结notes/week.md的内容", &["notes/week.md"]),
            ("读“会议记录.md”。", &["会议记录.md"]),
            ("笔记/周会.md 和 README.MD", &["笔记/周会.md", "README.MD"]),
        ] {
            assert_eq!(mentioned(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_file_inside_the_workspace_is_passed_over() {
        let text = "e.g. version 1.2.0, https://example.com/a.md, /etc/passwd.txt, ~/b.md, ../c.md, \
                    *.md, report.generator.weekly, example.com, .md, a//b.md, c:\\d.md, me@x.md";
        assert_eq!(mentioned(text), [""; 0]);
    }

    #[test]
    fn repetitions_and_what_is_too_much_are_dropped() {
        let paths = mentioned("a.md b.md a.md c.md");
        assert_eq!(distinct(paths, 2), ["a.md", "b.md"]);
    }

    #[test]
    fn names_can_be_taken_out() {
        assert_eq!(without_names("总结 notes/week.md 吧"), "总结 吧");
    }
}
