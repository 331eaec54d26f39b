//! Finding skills in the file system: roots, the walk below them, and reading inside bounds.

mod read;
mod roots;
mod walk;

pub use roots::{Places, Root, project_root, standard_roots};
pub(crate) use {
    read::{files_below, open_below, read_capped},
    walk::{Found, walk},
};

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
    /// How many threads read at once, where there is enough to read.
    pub threads: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            depth: 6,
            folders: 250_000,
            file_bytes: 256 * 1024,
            files: 2_000,
            threads: 4,
        }
    }
}

/// Folders that hold other people's or generated files, never skills of one's own.
const SKIPPED: &[&str] = &[
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "target",
    "vendor",
    "venv",
];

/// Tells whether a folder of this name is not entered.
fn is_skipped(name: &[u8]) -> bool {
    name.first() == Some(&b'.') || SKIPPED.iter().any(|skipped| skipped.as_bytes() == name)
}
