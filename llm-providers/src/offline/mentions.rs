//! Finds the files that a skill's text tells to read; what it tells to write is none of them.

use crate::offline::extensions::PROGRAMS;
use crate::offline::files::{pieces, plain_path};
use crate::offline::markdown::paragraphs;
use crate::offline::purpose::{Purpose, Sentence};

/// Folders in which a skill keeps documents of its own.
const OWN_FOLDERS: &[&str] = &[
    "assets",
    "docs",
    "examples",
    "reference",
    "references",
    "resources",
    "scripts",
    "templates",
];
/// Names that stand for the folder of the skill where they are put in braces.
const OWN_ROOTS: &[&str] = &[
    "basedir",
    "claude_plugin_root",
    "claude_skill_dir",
    "skill_dir",
    "skill_path",
    "skill_root",
    "skilldir",
];

/// What is said of a file that need not be there.
const OPTIONAL: &[&str] = &[
    "exist",
    "if present",
    "if available",
    "if any",
    "存在",
    "如果有",
    "如有",
];

/// A file that a skill's text names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) path: String,
    pub(super) purpose: Purpose,
    /// It is said to lie beside the skill, or looks like it.
    pub(super) own: bool,
    /// It may be missing by what is said of it.
    pub(super) optional: bool,
    /// The sentence it stands in.
    pub(super) sentence: String,
}

impl Mention {
    /// Takes in what another mention of the same file says: the first verb decides.
    fn merge(&mut self, other: Self) {
        self.own |= other.own;
        if self.purpose == Purpose::Named {
            self.purpose = other.purpose;
            self.sentence = other.sentence;
        }
    }
}

/// Returns the files that `body` names to be read, in their order, each once.
///
/// A name without a folder needs a verb or a link, or it is only spoken of, and a program to run one
/// of the skill's folders. A file that is written before it is read is a result.
pub(super) fn mentioned(body: &str) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    for paragraph in paragraphs(body) {
        for (at, piece) in pieces(&paragraph) {
            let Some(mention) = mention(&paragraph, at, piece) else {
                continue;
            };
            match mentions.iter_mut().find(|known| known.path == mention.path) {
                Some(known) => known.merge(mention),
                None => mentions.push(mention),
            }
        }
    }
    mentions.retain(|mention| match mention.purpose {
        Purpose::Read => mention.own || !is_program(&mention.path),
        Purpose::Named => mention.own || mention.path.contains('/'),
        Purpose::Run => mention.own,
        Purpose::Write => false,
    });
    mentions
}

fn mention(paragraph: &str, at: usize, piece: &str) -> Option<Mention> {
    let (before, rest) = paragraph.split_at_checked(at)?;
    let root = own_root(before);
    let relative = if root {
        piece.strip_prefix('/')?
    } else {
        piece
    };
    let path = plain_path(relative)?;
    let after = rest.split_once(path).map_or("", |(_, after)| after);
    if is_placeholder(before, path, after, root) {
        return None;
    }
    if after.trim_start_matches('`').starts_with("](") {
        // The label of a link says what its target says, or less.
        return None;
    }
    let linked = before.ends_with("](");
    let folder = path.split_once('/').map(|(folder, _)| folder);
    let sentence = Sentence::around(before, after);
    let words = format!("{} {path} {}", sentence.before, sentence.after);
    Some(Mention {
        path: path.to_owned(),
        purpose: sentence.purpose(),
        own: root || linked || folder.is_some_and(|folder| OWN_FOLDERS.contains(&folder)),
        optional: OPTIONAL.iter().any(|word| words.contains(word)),
        sentence: words,
    })
}

fn is_program(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| PROGRAMS.contains(&ending))
}

/// Tells whether what stands before a name is the folder of the skill, as in `{baseDir}/a.md`.
fn own_root(before: &str) -> bool {
    let root = before.strip_suffix(['}', '>']).and_then(|before| {
        let (_, name) = before.rsplit_once(['{', '<'])?;
        Some(name.to_ascii_lowercase().replace([' ', '-'], "_"))
    });
    root.is_some_and(|root| OWN_ROOTS.contains(&root.as_str()))
}

/// Tells whether a name only shows the form of names, or is that of a skill's own text.
fn is_placeholder(before: &str, path: &str, after: &str, root: bool) -> bool {
    let cut = (!root && before.ends_with(['>', '}', ']', '$', '%', '…']))
        || after.starts_with(['<', '{', '$', '%', '…']);
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let unnamed = |part: &str| {
        part.len() > 1 && part.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            || part == "X"
            || part == "path"
            || ["your", "my-", "my_"]
                .iter()
                .any(|own| part.to_ascii_lowercase().starts_with(own))
    };
    let formal = [
        "NAME", "TITLE", "DATE", "TOPIC", "SLUG", "ID", "FILE", "FILENAME", "X", "N",
    ];
    let formless = [
        "foo", "bar", "baz", "file", "filename", "name", "xxx", "xx", "example",
    ];
    let pattern = ["YYYY", "XXX", "NNN", "HHMM"];
    cut || file.eq_ignore_ascii_case("skill.md")
        || folders
            .split('/')
            .filter(|part| !part.is_empty())
            .any(unnamed)
        || formal.contains(&stem)
        || formless.contains(&stem)
        || stem
            .split(['-', '_'])
            .any(|part| ["N", "NN", "X", "XX"].contains(&part))
        || stem.to_ascii_lowercase().starts_with("your")
        || pattern.iter().any(|pattern| stem.contains(pattern))
}

#[cfg(test)]
mod tests {
    use super::{Mention, mentioned};
    use crate::offline::purpose::Purpose;

    fn paths(body: &str) -> Vec<String> {
        let mentions = mentioned(body).into_iter();
        mentions.map(|mention| mention.path).collect()
    }

    #[test]
    fn files_that_a_text_tells_to_read_are_found() {
        for (body, expected) in [
            ("1. Read `notes/week.md` first.", &["notes/week.md"][..]),
            ("Compare with plan.md.", &["plan.md"]),
            (
                "For tables see [the guide](references/guide.md).",
                &["references/guide.md"],
            ),
            (
                "If `context.md` exists, read it before asking.",
                &["context.md"],
            ),
            ("The steps are in `docs/steps.md`.", &["docs/steps.md"]),
            ("- **Rates**: **data/rates.csv**", &["data/rates.csv"]),
            (
                "Before you begin, follow\n[`references/setup.md`](references/setup.md).",
                &["references/setup.md"],
            ),
            (
                "Write the report from the diary in `diary.md`",
                &["diary.md"],
            ),
            (
                "阅读 `notes/standup.md`，其中是例会的原始记录。",
                &["notes/standup.md"],
            ),
            (
                "根据 报价.md 出报价，格式见 `assets/格式.md`。",
                &["报价.md", "assets/格式.md"],
            ),
        ] {
            assert_eq!(paths(body), expected, "{body}");
        }
    }

    #[test]
    fn what_a_text_tells_to_write_is_not_read() {
        for body in [
            "1. **Create `task_plan.md`** in your project.\n2. Read `task_plan.md` before you decide.",
            "Save the result to `out/report.md`.",
            "The summary is written to `out/summary.md`.",
            "`out/list.csv` is generated at the end.",
            "Convert it to `out/page.html`.",
            "Update CHANGELOG.md at last.",
            "把结论写入 `out/结论.md`，并生成 `out/表.csv`。",
        ] {
            assert_eq!(paths(body), [""; 0], "{body}");
        }
    }

    #[test]
    fn what_only_shows_the_form_of_a_name_is_not_read() {
        let body = "Read `HOME/x.md`, `$HOME/x.md`, `<name>.md`, `docs/<name>.md`, `*.md`, \
                    `docs/*.md`, `{slug}/a.md`, `notes/YYYY-MM-DD.md`, `path/to/a.md`, \
                    `your-notes.md`, `…/X.md`, `docs/X/a.md`, `round-N-notes.md`, `SKILL.md`, `other/SKILL.md`, \
                    `~/a.md`, `/etc/a.md`, `../a.md`, `.hidden/a.md` and https://x.org/a.md.\n\
                    ```\nread docs/a.md\n```\n";
        assert_eq!(paths(body), [""; 0]);
    }

    #[test]
    fn a_bare_name_that_is_only_spoken_of_is_not_read() {
        assert_eq!(paths("| `findings.md` | Research |"), [""; 0]);
        assert_eq!(paths("Then run `audit.py`; use `draw.js` here."), [""; 0]);
        assert_eq!(paths("See [guide.md](../other/guide.md)."), [""; 0]);
        assert_eq!(paths("- [examples.md](examples.md)"), ["examples.md"]);
    }

    #[test]
    fn documents_beside_the_skill_are_told_apart() {
        let body = "Read `references/a.md`, {baseDir}/b.csv, `${CLAUDE_SKILL_DIR}/c.md`, \
                    [d](d.md), `e.md` and `notes/f.md`. Run `scripts/g.py`.";
        let found: Vec<(String, bool, Purpose)> = mentioned(body)
            .into_iter()
            .map(
                |Mention {
                     path, own, purpose, ..
                 }| (path, own, purpose),
            )
            .collect();
        let read = |path: &str, own| (path.to_owned(), own, Purpose::Read);
        assert_eq!(
            found,
            [
                read("references/a.md", true),
                read("b.csv", true),
                read("c.md", true),
                read("d.md", true),
                read("e.md", false),
                read("notes/f.md", false),
                ("scripts/g.py".to_owned(), true, Purpose::Run),
            ]
        );
    }
}
