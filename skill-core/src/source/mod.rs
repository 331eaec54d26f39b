//! Where skills come from: one trait, and one file for each form.

mod builtin;
pub(crate) mod declared;
mod directory;
pub(crate) mod footprint;
pub(crate) mod form;
mod lite;
mod memory;
pub(crate) mod package;
mod suffix;
mod watching;

pub use {
    builtin::BuiltinSource, directory::DirectorySource, footprint::Footprint, memory::MemorySource,
};

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::discovery::ScanLimits;
use crate::skill::{Diagnostic, Skill};

/// A file that claims to be a skill, as a source read it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The file, as it was reached.
    pub path: PathBuf,
    /// The file with every link resolved, where that differs; two candidates with one real path
    /// are one skill.
    pub real_path: Option<PathBuf>,
    /// What the file declares, as far as it could be read; also present when it is refused.
    pub skill: Option<Arc<Skill>>,
    /// It may not take a bare name from a user or managed skill: the skill of a project that is
    /// not trusted.
    pub yields: bool,
    /// What was found; one error refuses the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a [`SkillSource`] holds at one moment.
#[derive(Clone, Debug, Default)]
pub struct SourceScan {
    /// The candidates, in the source's order of precedence.
    pub candidates: Vec<Arc<Candidate>>,
    /// Findings that belong to no candidate: a bound reached, a folder that could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// What the file system was like; a source of another kind leaves it at its default.
    pub footprint: Footprint,
}

/// A skill's body, read again when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedSkill {
    /// The Markdown below the frontmatter.
    pub body: String,
    /// The body goes on, but the bound on one file was reached.
    pub truncated: bool,
    /// The digest of what was read, to be held against the record's.
    pub content_digest: String,
}

/// A file below a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The content, up to the bound on one file.
    pub bytes: Vec<u8>,
    /// The file goes on, but the bound was reached.
    pub truncated: bool,
}

/// A place that holds skills.
///
/// Implementations execute nothing, and answer for their own skills only. They may block; a
/// caller in an asynchronous program moves the call to a thread of its own.
pub trait SkillSource: Send + Sync + fmt::Debug {
    /// Reads every candidate. Never fails: what cannot be read becomes a diagnostic.
    fn scan(&self, limits: &ScanLimits) -> SourceScan;

    /// Scans again, given what the last scan with these limits brought; `None` says that nothing
    /// changed.
    ///
    /// What is returned is what [`SkillSource::scan`] would return. Without an implementation of
    /// its own, a source is scanned anew.
    fn rescan(&self, limits: &ScanLimits, _before: &SourceScan) -> Option<SourceScan> {
        Some(self.scan(limits))
    }

    /// Reads the body of `skill`, a record of this source's own scan, as it is now.
    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill>;

    /// Returns the paths of the files below the folder of `skill`, relative, `/`-separated and
    /// sorted, without its entry file; what a link leads out of the folder to is left out and
    /// reported.
    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>);

    /// Reads the file at `relative` below the folder of `skill`.
    ///
    /// A path that leaves the folder is [`io::ErrorKind::PermissionDenied`], whatever lies there.
    fn read_file(&self, skill: &Skill, relative: &str, limits: &ScanLimits)
    -> io::Result<Resource>;
}
