//! Skills in a folder of the file system, of every form.

use std::io;
use std::path::{Path, PathBuf};

use crate::discovery::{
    Capped, Found, Root, ScanLimits, files_below, open_below, parallel, read_capped, walk,
};
use crate::skill::{
    Companion, Diagnostic, Origin, Severity, Skill, SkillFormat, companion, parse_record,
    parse_with,
};
use crate::source::{Candidate, OpenedSkill, Resource, SkillSource, SourceScan, declared};

/// What was read of one entry file; boxed, because it is passed on and sorted.
type Record = Box<(Skill, Vec<Diagnostic>)>;

/// The skills below one [`Root`].
///
/// Scanning reads each entry file once, executes nothing, and opens regular files only.
#[derive(Clone, Debug)]
pub struct DirectorySource {
    root: Root,
}

impl DirectorySource {
    /// Returns the source of `root`, which need not exist.
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// Reads what the walk did not read on its way.
    fn read(&self, found: &Found<Record>, limits: &ScanLimits) -> Option<io::Result<Record>> {
        let refused = found.diagnostics.iter().any(Diagnostic::is_error);
        (found.read.is_none() && !refused).then(|| {
            let read = read_capped(&found.path, limits.file_bytes)?;
            Ok(self.record(&found.path, found.format, &read, limits))
        })
    }

    fn candidate(&self, found: Found<Record>, read: Option<io::Result<Record>>) -> Candidate {
        let mut diagnostics = found.diagnostics;
        let record = match read {
            Some(Ok(record)) => Some(record),
            Some(Err(error)) => {
                diagnostics.push(unreadable(&found.path, &error));
                None
            }
            None => found.read,
        };
        let skill = record.map(|record| {
            let (skill, findings) = *record;
            diagnostics.extend(findings);
            skill
        });
        Candidate {
            path: found.path,
            real_path: found.real_path,
            skill,
            yields: !self.root.trusted,
            diagnostics,
        }
    }

    fn record(
        &self,
        path: &Path,
        format: SkillFormat,
        read: &Capped,
        limits: &ScanLimits,
    ) -> Record {
        let companion = companion(path, format, limits);
        let origin = self.origin(path, format);
        let (mut skill, mut findings) = parse_record(&read.bytes, &origin, companion.as_ref());
        if let (Some(declaration), Some(folder)) = (&skill.declaration, path.parent()) {
            findings.extend(declared::check_files(declaration, path, folder));
        }
        if let Some(length) = read.longer {
            skill.body_bytes += length.saturating_sub(read.bytes.len() as u64);
            findings.push(too_large(path, length, limits));
        }
        Box::new((skill, findings))
    }

    fn origin(&self, path: &Path, format: SkillFormat) -> Origin {
        Origin {
            path: path.to_owned(),
            format,
            scope: self.root.scope,
        }
    }
}

impl SkillSource for DirectorySource {
    fn scan(&self, limits: &ScanLimits) -> SourceScan {
        let walk = walk(&self.root, limits, &|path, read| {
            self.record(path, SkillFormat::Package, &read, limits)
        });
        let reads = parallel(&walk.found, limits.threads, |found| {
            self.read(found, limits)
        });
        let pairs = walk.found.into_iter().zip(reads);
        SourceScan {
            candidates: pairs
                .map(|(found, read)| self.candidate(found, read))
                .collect(),
            diagnostics: walk.diagnostics,
        }
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        let read = read_capped(&skill.path, limits.file_bytes)?;
        let companion = companion(&skill.path, skill.format, limits);
        let origin = self.origin(&skill.path, skill.format);
        let parsed = parse_with(&read.bytes, &origin, companion.as_ref());
        Ok(OpenedSkill {
            body: parsed.body,
            truncated: read.longer.is_some(),
            content_digest: parsed.skill.content_digest,
        })
    }

    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        folder(skill).map_or_else(Default::default, |folder| {
            files_below(&folder, &skill.path, limits)
        })
    }

    fn read_file(
        &self,
        skill: &Skill,
        relative: &str,
        limits: &ScanLimits,
    ) -> io::Result<Resource> {
        let folder = folder(skill).ok_or(io::ErrorKind::NotFound)?;
        let read = open_below(&folder, relative, limits.file_bytes)?;
        Ok(Resource {
            bytes: read.bytes,
            truncated: read.longer.is_some(),
        })
    }
}

/// Reads what another dialect keeps beside the entry file of a package.
fn companion(path: &Path, format: SkillFormat, limits: &ScanLimits) -> Option<Companion> {
    if !matches!(format, SkillFormat::Package | SkillFormat::Declared) {
        return None;
    }
    let folder = path.parent()?;
    // Most skills have no such folder, and a look for it costs less than for a file in it.
    let agents = folder.join(companion::FOLDER).symlink_metadata();
    if agents.is_err_and(|error| is_absent(&error)) {
        return None;
    }
    let path = folder.join(companion::PATH);
    match read_capped(&path, limits.file_bytes) {
        Err(error) if is_absent(&error) => None,
        read => Some(Companion {
            path,
            bytes: read
                .ok()
                .filter(|read| read.longer.is_none())
                .map(|read| read.bytes),
        }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the folder that belongs to a skill; a skill of one file has none.
fn folder(skill: &Skill) -> Option<PathBuf> {
    match skill.format {
        SkillFormat::Package | SkillFormat::Declared => skill.path.parent().map(Path::to_owned),
        _ => None,
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        ..Diagnostic::about("SK065", path, format!("the file cannot be read: {error}"))
    }
}

fn too_large(path: &Path, length: u64, limits: &ScanLimits) -> Diagnostic {
    let message = format!("only the first {} bytes are read", limits.file_bytes);
    Diagnostic {
        text: Some(format!("{length} bytes")),
        fix: Some("move parts of it into files it refers to".to_owned()),
        ..Diagnostic::about("SK103", path, message)
    }
}
