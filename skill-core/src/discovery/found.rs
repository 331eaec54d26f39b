//! What a walk is given and what it brings.

use std::path::{Path, PathBuf};

use crate::discovery::Stamp;
use crate::discovery::read::Capped;
use crate::skill::{Diagnostic, SkillFormat};

/// An entry file that was found.
#[derive(Debug)]
pub(crate) struct Found<R> {
    pub(crate) path: PathBuf,
    /// Where the path leads, if a link is on the way.
    pub(crate) real_path: Option<PathBuf>,
    pub(crate) format: SkillFormat,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What was made of its bytes, if they were read on the way.
    pub(crate) read: Option<R>,
}

/// What a walk brought.
#[derive(Debug)]
pub(crate) struct Walk<R> {
    /// The entry files, by form and then by the bytes of their path.
    pub(crate) found: Vec<Found<R>>,
    /// The folders and broken links that were looked at, and what they were like before that;
    /// whatever could bring another entry file changes one of them.
    pub(crate) folders: Vec<(PathBuf, Option<Stamp>)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// How a walk reads the packages it meets.
pub(crate) struct Reading<'a, R> {
    /// Makes something of the bytes of an entry file; it is told whether the file is alone, with
    /// no folder of another dialect beside it.
    pub(crate) make: &'a (dyn Fn(&Path, &Capped, bool) -> R + Sync),
    /// Returns what was made of an entry file before, if that is still the same file.
    pub(crate) reuse: &'a (dyn Fn(&Path) -> Option<R> + Sync),
}
