//! Roots and the walk below them, with bounds on everything.

use std::path::PathBuf;

use crate::skill::Scope;

/// A folder that holds skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Plain `*.md` files in it are skills too.
    pub lite: bool,
    /// Folders with a `SKILL.md` in it are skills; off for a project's `skills` folder, which
    /// takes the suffix and declared forms only.
    pub packages: bool,
    /// Its skills may take a bare name from a user or managed skill, and its links may leave
    /// [`Root::boundary`].
    pub trusted: bool,
    /// The folder that links must not leave while the root is not trusted; `None` for no bound.
    pub boundary: Option<PathBuf>,
}

impl Root {
    /// Returns a root of the usual kind; a project's is not trusted.
    pub fn new(path: impl Into<PathBuf>, scope: Scope) -> Self {
        Self {
            path: path.into(),
            scope,
            lite: false,
            packages: true,
            trusted: scope != Scope::Project,
            boundary: None,
        }
    }
}

/// Bounds on a scan and on reading one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// How many folders deep a root is entered.
    pub depth: usize,
    /// How many folders of a root are entered.
    pub folders: usize,
    /// How many bytes of one file are read.
    pub file_bytes: u64,
    /// How many files below a skill's folder are listed.
    pub files: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            depth: 6,
            folders: 250_000,
            file_bytes: 256 * 1024,
            files: 2_000,
        }
    }
}
