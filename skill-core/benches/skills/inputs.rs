//! Packages as people write them, and the baseline that only reads them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder of packages.
pub(crate) struct Tree(TempDir);

impl Tree {
    /// Writes `count` packages.
    pub(crate) fn new(count: usize) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        for number in 0..count {
            let package = folder.path().join(name(number));
            fs::create_dir(&package)?;
            fs::write(package.join("SKILL.md"), file(number))?;
        }
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

const ACTIONS: &[&str] = &[
    "review",
    "summarise",
    "translate",
    "convert",
    "check",
    "plan",
    "draft",
];
const SUBJECTS: &[&str] = &[
    "invoices",
    "minutes",
    "contracts",
    "logs",
    "releases",
    "tickets",
    "budgets",
    "手册",
    "slides",
    "letters",
    "surveys",
];

fn pick<'a>(words: &[&'a str], number: usize) -> &'a str {
    words.get(number % words.len()).copied().unwrap_or_default()
}

pub(crate) fn name(number: usize) -> String {
    format!("{}-{number}", pick(ACTIONS, number))
}

/// Returns a frontmatter without its fences; one of eight has nested metadata.
pub(crate) fn frontmatter(number: usize) -> String {
    let (action, subject) = (
        pick(ACTIONS, number),
        pick(SUBJECTS, number / ACTIONS.len()),
    );
    let name = name(number);
    let mut yaml = format!(
        "name: {name}\ndescription: Helps to {action} {subject}. Use this skill when the user asks to \
         {action} one or several {subject}, or mentions a deadline for them; not for other documents.\n"
    );
    if number.is_multiple_of(2) {
        yaml.push_str("license: MIT\nallowed-tools: Read Grep Bash(git status)\n");
    }
    if number.is_multiple_of(8) {
        yaml.push_str(
            "metadata:\n  author: team\n  version: \"1.2\"\n  tags:\n    - office\n    - text\n",
        );
    }
    yaml
}

fn file(number: usize) -> String {
    let step = "Read what is there before changing anything, and keep the original beside the result. \
                Where two sources disagree, say so | and name both, with `a path` and a date.\n";
    let body = step.repeat(4 + number % 24);
    format!(
        "---\n{}---\n# {}\n\n{body}",
        frontmatter(number),
        name(number)
    )
}

/// Reads every `SKILL.md` one folder below `root` with as many threads; returns the bytes read.
pub(crate) fn read_all(root: &Path, threads: usize) -> usize {
    let folders: Vec<PathBuf> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("SKILL.md"))
        .collect();
    let share = folders.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = folders
            .chunks(share)
            .map(|share| scope.spawn(move || share.iter().map(|path| read(path)).sum::<usize>()))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or(0))
            .sum()
    })
}

fn read(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.len())
}
