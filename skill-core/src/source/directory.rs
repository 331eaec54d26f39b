//! Skills in a folder of the file system, of every form.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use crate::discovery::{Found, Root, ScanLimits, files_below, open_below, read_capped, walk};
use crate::skill::{Diagnostic, Origin, ParsedSkill, Skill, SkillFormat, parse_skill};
use crate::source::{Candidate, OpenedSkill, Resource, SkillSource, SourceScan};

/// How many files are worth a thread of their own.
const FILES_A_THREAD: usize = 128;

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

    fn candidates(&self, found: Vec<Found>, limits: &ScanLimits) -> Vec<Candidate> {
        let threads = (found.len() / FILES_A_THREAD).clamp(1, limits.threads.max(1));
        let candidate = |found: &Found| self.candidate(found, limits);
        if threads == 1 {
            return found.iter().map(candidate).collect();
        }
        let share = found.len().div_ceil(threads);
        thread::scope(|scope| {
            let workers: Vec<_> = found
                .chunks(share)
                .map(|chunk| scope.spawn(move || chunk.iter().map(candidate).collect::<Vec<_>>()))
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_default())
                .collect()
        })
    }

    fn candidate(&self, found: &Found, limits: &ScanLimits) -> Candidate {
        let mut diagnostics = found.diagnostics.clone();
        let refused = diagnostics.iter().any(|finding| finding.is_error());
        let parsed = if refused {
            None
        } else {
            match self.parse(&found.path, found.format, limits) {
                Ok(parsed) => Some(parsed),
                Err(error) => {
                    diagnostics.push(unreadable(&found.path, &error));
                    None
                }
            }
        };
        let skill = parsed.map(|(parsed, _)| {
            diagnostics.extend(parsed.diagnostics);
            parsed.skill
        });
        Candidate {
            path: found.path.clone(),
            real_path: found.real_path.clone(),
            skill,
            yields: !self.root.trusted,
            diagnostics,
        }
    }

    /// Reads and parses one entry file; tells too whether it goes on past the bound.
    fn parse(
        &self,
        path: &Path,
        format: SkillFormat,
        limits: &ScanLimits,
    ) -> io::Result<(ParsedSkill, bool)> {
        let read = read_capped(path, limits.file_bytes)?;
        let origin = Origin {
            path: path.to_owned(),
            format,
            scope: self.root.scope,
        };
        let mut parsed = parse_skill(&read.bytes, &origin);
        if let Some(length) = read.longer {
            let beyond = length.saturating_sub(read.bytes.len() as u64);
            parsed.skill.body_bytes += beyond;
            parsed.diagnostics.push(Diagnostic {
                text: Some(format!("{length} bytes")),
                fix: Some("move parts of it into files it refers to".to_owned()),
                ..Diagnostic::about(
                    "SK103",
                    path,
                    format!("only the first {} bytes are read", limits.file_bytes),
                )
            });
        }
        Ok((parsed, read.longer.is_some()))
    }
}

impl SkillSource for DirectorySource {
    fn scan(&self, limits: &ScanLimits) -> SourceScan {
        let walk = walk(&self.root, limits);
        SourceScan {
            candidates: self.candidates(walk.found, limits),
            diagnostics: walk.diagnostics,
        }
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        let (parsed, truncated) = self.parse(&skill.path, skill.format, limits)?;
        Ok(OpenedSkill {
            body: parsed.body,
            truncated,
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

/// Returns the folder that belongs to a skill; a skill of one file has none.
fn folder(skill: &Skill) -> Option<PathBuf> {
    match skill.format {
        SkillFormat::Package | SkillFormat::Declared => skill.path.parent().map(Path::to_owned),
        _ => None,
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic {
        severity: crate::skill::Severity::Error,
        ..Diagnostic::about("SK065", path, format!("the file cannot be read: {error}"))
    }
}
