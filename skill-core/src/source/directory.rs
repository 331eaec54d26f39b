//! Skills in a folder of the file system, of every form.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::discovery::{
    Capped, Found, Reading, Root, ScanLimits, Stamp, files_below, open_below, parallel,
    read_capped, walk,
};
use crate::skill::{
    Companion, Diagnostic, Origin, Skill, SkillFormat, body_within, companion, parse_record,
    parse_with,
};
use crate::source::footprint::{Beside, Mark};
use crate::source::watching::{Known, Watching};
use crate::source::{
    Candidate, Footprint, OpenedSkill, Resource, SkillSource, SourceScan, declared,
};

/// What was read of one entry file.
struct Record {
    skill: Arc<Skill>,
    findings: Vec<Diagnostic>,
    mark: Mark,
}

/// An entry file on a walk: read, or still the one of the scan before.
enum Met {
    Read(Record),
    Known(usize),
}

/// The scan before, for taking over what has not changed.
#[derive(Default)]
struct Before<'a> {
    candidates: &'a [Arc<Candidate>],
    marks: &'a [Option<Mark>],
    positions: HashMap<&'a Path, usize>,
    /// What is known of each file without looking at it, where its folder is the same.
    known: Vec<Known>,
    watching: Arc<Mutex<Watching>>,
}

impl<'a> Before<'a> {
    fn of(scan: &'a SourceScan, mut known: Vec<Known>) -> Self {
        let same = scan.footprint.same_folders();
        for (candidate, known) in scan.candidates.iter().zip(&mut known) {
            let folders = candidate.path.ancestors().skip(1).take(2);
            // Who moves a folder higher up does nothing to the file.
            if *known == Known::Still && !folders.into_iter().any(|folder| same.contains(folder)) {
                *known = Known::Nothing;
            }
        }
        let candidates = scan.candidates.iter().enumerate();
        Self {
            candidates: &scan.candidates,
            marks: &scan.footprint.files,
            positions: candidates
                .map(|(at, candidate)| (candidate.path.as_path(), at))
                .collect(),
            known,
            watching: Arc::clone(&scan.footprint.watching),
        }
    }

    /// Returns the position of the file at `path` if it is still as it was; `stamp` looks at it.
    fn known(&self, path: &Path, stamp: impl Fn(&Path) -> Option<Stamp>) -> Option<usize> {
        let at = *self.positions.get(path)?;
        let before = self.marks.get(at)?.as_ref()?;
        let is_same = match self.known.get(at) {
            Some(Known::Still) => true,
            Some(Known::Touched) => false,
            _ => stamp(path) == before.entry && before.beside.holds(path),
        };
        is_same.then_some(at)
    }
}

/// The skills below one [`Root`].
///
/// Scanning reads each entry file once, executes nothing, and opens regular files only. Scanning
/// again reads only what changed.
#[derive(Clone, Debug)]
pub struct DirectorySource {
    root: Root,
}

impl DirectorySource {
    /// Returns the source of `root`, which need not exist.
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// Returns the root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Walks the root, taking over what has not changed since `before`.
    fn walk(&self, limits: &ScanLimits, before: &Before<'_>) -> SourceScan {
        let make = |path: &Path, read: &Capped, alone: bool| {
            let format = SkillFormat::Package;
            let beside = if alone {
                Beside::Nothing
            } else {
                Beside::of(path, format)
            };
            Met::Read(self.record(path, format, read, beside, limits))
        };
        let reuse = |path: &Path| before.known(path, of_the_file_itself).map(Met::Known);
        let reading = Reading {
            make: &make,
            reuse: &reuse,
        };
        let walk = walk(&self.root, limits, &reading);
        let reads = parallel(&walk.found, limits.threads, |found, _| {
            self.read(found, limits, before)
        });
        let mut scan = SourceScan {
            diagnostics: walk.diagnostics,
            footprint: Footprint {
                folders: walk.folders,
                files: Vec::with_capacity(walk.found.len()),
                watching: Arc::clone(&before.watching),
            },
            candidates: Vec::with_capacity(walk.found.len()),
        };
        for (found, read) in walk.found.into_iter().zip(reads) {
            let (candidate, mark) = self.candidate(found, read, before);
            scan.candidates.push(candidate);
            scan.footprint.files.push(mark);
        }
        scan
    }

    /// Reads what the walk did not read on its way.
    fn read(
        &self,
        found: &Found<Met>,
        limits: &ScanLimits,
        before: &Before<'_>,
    ) -> Option<io::Result<Met>> {
        let refused = found.diagnostics.iter().any(Diagnostic::is_error);
        (found.read.is_none() && !refused).then(|| {
            if let Some(at) = before.known(&found.path, Stamp::at) {
                return Ok(Met::Known(at));
            }
            self.read_record(&found.path, found.format, limits)
                .map(Met::Read)
        })
    }

    fn candidate(
        &self,
        found: Found<Met>,
        read: Option<io::Result<Met>>,
        before: &Before<'_>,
    ) -> (Arc<Candidate>, Option<Mark>) {
        let mut candidate = Candidate {
            path: found.path,
            real_path: found.real_path,
            skill: None,
            yields: !self.root.trusted,
            diagnostics: found.diagnostics,
        };
        let mark = match read.or_else(|| found.read.map(Ok)) {
            Some(Ok(Met::Known(at))) => {
                if let Some(known) = before.candidates.get(at) {
                    let mark = before.marks.get(at).cloned().flatten();
                    return (Arc::clone(known), mark);
                }
                None
            }
            Some(Ok(Met::Read(record))) => {
                candidate.skill = Some(record.skill);
                candidate.diagnostics.extend(record.findings);
                Some(record.mark)
            }
            Some(Err(error)) => {
                let finding = unreadable(&candidate.path, &error);
                candidate.diagnostics.push(finding);
                Some(Mark::at(&candidate.path))
            }
            None => None,
        };
        (Arc::new(candidate), mark)
    }

    /// Reads and parses an entry file; one that changes meanwhile is read once more.
    fn read_record(
        &self,
        path: &Path,
        format: SkillFormat,
        limits: &ScanLimits,
    ) -> io::Result<Record> {
        let mut read = read_capped(path, limits.file_bytes)?;
        if Stamp::at(path) != Some(read.stamp) {
            read = read_capped(path, limits.file_bytes)?;
        }
        let beside = Beside::of(path, format);
        Ok(self.record(path, format, &read, beside, limits))
    }

    fn record(
        &self,
        path: &Path,
        format: SkillFormat,
        read: &Capped,
        beside: Beside,
        limits: &ScanLimits,
    ) -> Record {
        let companion = companion(path, &beside, limits);
        let origin = self.origin(path, format);
        let (mut skill, mut findings) = parse_record(&read.bytes, &origin, companion.as_ref());
        if let (Some(declaration), Some(folder)) = (&skill.declaration, path.parent()) {
            findings.extend(declared::check_files(declaration, path, folder));
        }
        if let Some(length) = read.longer {
            skill.body_bytes += length.saturating_sub(read.bytes.len() as u64);
            findings.push(too_large(path, length, limits));
        }
        Record {
            skill: Arc::new(skill),
            findings,
            mark: Mark {
                entry: Some(read.stamp),
                beside,
            },
        }
    }

    /// Tells whether what is reached at `path` and lies at `real` may be read: within the boundary,
    /// or where a trusted link leads.
    ///
    /// This is asked at every reading, for what was a folder on the walk may be a link by now.
    fn stays(&self, path: &Path, real: &Path) -> bool {
        let Some(bound) = self.root.boundary.as_deref().filter(|_| !self.root.trusted) else {
            return true;
        };
        let mut links = self.root.trusted_links.iter();
        fs::canonicalize(bound).is_ok_and(|bound| real.starts_with(bound))
            || links.any(|(link, target)| path.starts_with(link) && real.starts_with(target))
    }

    fn origin(&self, path: &Path, format: SkillFormat) -> Origin {
        Origin {
            path: path.to_owned(),
            format,
            scope: self.root.scope,
        }
    }

    /// Reads the entry files at `positions` of `before` again; `None` where one of them is gone.
    fn read_again(
        &self,
        limits: &ScanLimits,
        before: &SourceScan,
        positions: &[usize],
    ) -> Option<SourceScan> {
        let mut scan = before.clone();
        for &at in positions {
            let slot = scan.candidates.get_mut(at)?;
            let mut candidate = Candidate::clone(slot);
            let format = candidate.skill.as_ref().map(|skill| skill.format);
            let format =
                format.unwrap_or_else(|| Origin::of(&candidate.path, self.root.scope).format);
            let record = self.read_record(&candidate.path, format, limits).ok()?;
            // Findings of the walk hold as long as the folders are the same.
            candidate
                .diagnostics
                .retain(|finding| finding.code == "SK060");
            candidate.diagnostics.extend(record.findings);
            candidate.skill = Some(record.skill);
            *slot = Arc::new(candidate);
            *scan.footprint.files.get_mut(at)? = Some(record.mark);
        }
        Some(scan)
    }
}

/// Returns the stamp of a file that is no link.
fn of_the_file_itself(path: &Path) -> Option<Stamp> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata.is_file().then(|| Stamp::of(&metadata))
}

impl SkillSource for DirectorySource {
    fn scan(&self, limits: &ScanLimits) -> SourceScan {
        self.walk(limits, &Before::default())
    }

    fn rescan(&self, limits: &ScanLimits, before: &SourceScan) -> Option<SourceScan> {
        let known = before.known(&self.root.path);
        if before.footprint.moved(limits.threads) {
            return Some(self.walk(limits, &Before::of(before, known)));
        }
        let positions = before.changed(&known, limits.threads);
        if positions.is_empty() {
            return None;
        }
        let again = self.read_again(limits, before, &positions);
        Some(again.unwrap_or_else(|| self.walk(limits, &Before::of(before, known))))
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        if !self.stays(&skill.path, &fs::canonicalize(&skill.path)?) {
            let message = "the file lies outside the project now";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        let read = read_capped(&skill.path, limits.file_bytes)?;
        let beside = Beside::of(&skill.path, skill.format);
        let companion = companion(&skill.path, &beside, limits);
        let origin = self.origin(&skill.path, skill.format);
        let parsed = parse_with(&read.bytes, &origin, companion.as_ref());
        if parsed.is_refused()
            && let Some(body) = body_within(&read.bytes, skill)
        {
            return Ok(OpenedSkill {
                body,
                truncated: false,
                content_digest: skill.content_digest.clone(),
            });
        }
        Ok(OpenedSkill {
            body: parsed.body,
            truncated: read.longer.is_some(),
            content_digest: parsed.skill.content_digest,
        })
    }

    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        let folder = skill.folder().filter(|folder| {
            let real = fs::canonicalize(folder);
            real.is_ok_and(|real| self.stays(folder, &real))
        });
        folder.map_or_else(Default::default, |folder| {
            files_below(folder, &skill.path, limits)
        })
    }

    fn read_file(
        &self,
        skill: &Skill,
        relative: &str,
        limits: &ScanLimits,
    ) -> io::Result<Resource> {
        let folder = skill.folder().ok_or(io::ErrorKind::NotFound)?;
        let stays = |real: &Path| self.stays(folder, real);
        let read = open_below(folder, relative, limits.file_bytes, stays)?;
        Ok(Resource {
            bytes: read.bytes,
            truncated: read.longer.is_some(),
        })
    }
}

/// Reads what another dialect keeps beside the entry file of a package.
fn companion(path: &Path, beside: &Beside, limits: &ScanLimits) -> Option<Companion> {
    let path = match beside {
        Beside::Apart | Beside::Nothing => return None,
        Beside::Something(..) => path.parent()?.join(companion::PATH),
    };
    match read_capped(&path, limits.file_bytes) {
        Err(error) if is_absent(&error) && !is_dangling(&path) => None,
        read => Some(Companion {
            path,
            bytes: read
                .ok()
                .filter(|read| read.longer.is_none())
                .map(|read| read.bytes),
        }),
    }
}

/// Tells whether a link on the way to the file leads nowhere: what it said is not known then.
fn is_dangling(path: &Path) -> bool {
    let mut ways = [Some(path), path.parent()].into_iter().flatten();
    ways.any(|way| way.is_symlink() && !way.exists())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::about("SK065", path, format!("the file cannot be read: {error}")).refusing()
}

fn too_large(path: &Path, length: u64, limits: &ScanLimits) -> Diagnostic {
    let message = format!("only the first {} bytes are read", limits.file_bytes);
    Diagnostic {
        text: Some(format!("{length} bytes")),
        fix: Some("move parts of it into files it refers to".to_owned()),
        ..Diagnostic::about("SK103", path, message)
    }
}
