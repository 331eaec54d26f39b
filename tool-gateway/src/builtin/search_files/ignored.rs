//! What `.ignore`, `.gitignore` and `.git/info/exclude` leave out, read with bounds.
//!
//! The rules of a folder hold for what is below it; the nearest folder that speaks decides, and
//! `.ignore` before git's files. Rules of a repository around the workspace count too. Only
//! regular files are read, none through a link: git reads no others either.

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::builtin::search_files::notes::Notes;
use crate::workspace::{Small, Workspace, read_small};

/// The longest file of rules, in bytes.
const MAX_FILE_BYTES: usize = 64 * 1024;

/// How many bytes of rules hold at the same time, from all folders above a file.
const MAX_BYTES: usize = 128 * 1024;

/// The longest rule, in bytes.
const MAX_RULE_BYTES: usize = 1024;

/// The rules that hold where a search just is.
pub(super) struct Ignored {
    levels: Vec<Level>,
    bytes: usize,
}

/// The rules of one folder.
struct Level {
    at: At,
    is_repository: bool,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    bytes: usize,
}

/// Where a folder lies.
enum At {
    /// Above the workspace, with the path from there to the workspace.
    Above(String),
    /// In the workspace, with its path; empty for the root.
    Inside(String),
}

impl Ignored {
    /// Returns the rules that hold in the workspace because of the repository it lies in.
    pub(super) fn around(workspace: &Workspace, notes: &mut Notes) -> Self {
        let mut ignored = Self {
            levels: Vec::new(),
            bytes: 0,
        };
        for (dir, below) in workspace.repository_above() {
            let level = ignored.read(&dir, At::Above(below), notes);
            ignored.push(level);
        }
        ignored
    }

    /// Adds the rules of a folder of the workspace; `.` is the root.
    pub(super) fn enter(&mut self, dir: &Dir, path: &str, notes: &mut Notes) {
        let path = if path == "." { "" } else { path };
        let level = self.read(dir, At::Inside(path.to_owned()), notes);
        self.push(level);
    }

    /// Drops the rules of the folder that was entered last.
    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.bytes -= level.bytes;
        }
    }

    /// Tells whether the rules leave out what is at `path`.
    pub(super) fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let nearest = || self.levels.iter().rev();
        let decided = |rules: &Gitignore, level: &Level| match rules
            .matched(level.candidate(path), is_folder)
        {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let own = nearest().find_map(|level| decided(&level.ignore, level));
        // Git's rules end where its repository does.
        let own = own.or_else(|| {
            self.repository()
                .find_map(|level| decided(&level.git, level))
        });
        own.or_else(|| {
            self.repository()
                .find_map(|level| decided(&level.exclude, level))
        })
        .unwrap_or(false)
    }

    /// Returns the levels of the nearest repository, nearest first.
    fn repository(&self) -> impl Iterator<Item = &Level> {
        let top = self.levels.iter().rposition(|level| level.is_repository);
        self.levels.iter().skip(top.unwrap_or(0)).rev()
    }

    fn push(&mut self, level: Level) {
        self.bytes += level.bytes;
        self.levels.push(level);
    }

    fn read(&self, dir: &Dir, at: At, notes: &mut Notes) -> Level {
        let mut level = Level {
            at,
            is_repository: dir.symlink_metadata(".git").is_ok(),
            ignore: Gitignore::empty(),
            git: Gitignore::empty(),
            exclude: Gitignore::empty(),
            bytes: 0,
        };
        level.ignore = self.rules(dir, &[".ignore"], &mut level, notes);
        level.git = self.rules(dir, &[".gitignore"], &mut level, notes);
        level.exclude = self.rules(dir, &[".git", "info", "exclude"], &mut level, notes);
        level
    }

    /// Reads one file of rules; one that cannot be used counts as empty and is noted.
    fn rules(&self, dir: &Dir, names: &[&str], level: &mut Level, notes: &mut Notes) -> Gitignore {
        let name = level.at.shown(&names.join("/"));
        let mut unusable = |why: &str| {
            notes.add(&name, "used", why);
            Gitignore::empty()
        };
        let text = match read_small(dir, names, MAX_FILE_BYTES) {
            Small::Missing => return Gitignore::empty(),
            Small::Text(text) => text,
            Small::TooLong => return unusable("it is longer than 64 KiB"),
            Small::NoFile => return unusable("it is no regular file"),
            Small::Unreadable => return unusable("it cannot be read"),
        };
        if self.bytes + level.bytes + text.len() > MAX_BYTES {
            return unusable("the folders above it have more than 128 KiB of rules");
        }
        let mut builder = GitignoreBuilder::new(".");
        let mut skipped = false;
        for line in text.lines() {
            // A rule that cannot be read leaves nothing out, as with git.
            if line.len() > MAX_RULE_BYTES || builder.add_line(None, line).is_err() {
                skipped = true;
            }
        }
        let Ok(rules) = builder.build() else {
            return unusable("its rules are too large");
        };
        if skipped {
            notes.add(&name, "used whole", "some of its rules cannot be read");
        }
        level.bytes += text.len();
        rules
    }
}

impl Level {
    /// Returns a path of the workspace as it is from this folder.
    fn candidate(&self, path: &str) -> String {
        match &self.at {
            At::Above(below) => format!("{below}/{path}"),
            At::Inside(folder) => {
                let rest = path.strip_prefix(folder.as_str()).unwrap_or(path);
                rest.trim_start_matches('/').to_owned()
            }
        }
    }
}

impl At {
    /// Names a file of the folder.
    fn shown(&self, file: &str) -> String {
        match self {
            Self::Above(below) => {
                let up = below.split('/').map(|_| "../").collect::<String>();
                format!("{up}{file}")
            }
            Self::Inside(folder) if folder.is_empty() => file.to_owned(),
            Self::Inside(folder) => format!("{folder}/{file}"),
        }
    }
}
