//! The catalogue: every candidate of every source, in one order of precedence, as an immutable
//! snapshot.

mod resolve;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) use resolve::{Standing, resolve};

use crate::digest::Digester;
use crate::discovery::{Root, ScanLimits};
use crate::skill::{Diagnostic, Scope, Severity, Skill, fold};
use crate::source::{BuiltinSource, Candidate, DirectorySource, SkillSource};
use crate::view::{Principal, SkillView};

/// What a candidate file came to; exactly one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Loaded, and a strict reader would agree with every field.
    Loaded,
    /// Loaded after something was mended or ignored.
    Repaired,
    /// Loaded, but another skill holds its name.
    Shadowed {
        /// The entry file of the other skill.
        by: PathBuf,
    },
    /// Not loaded.
    Refused,
}

impl Verdict {
    /// Returns the name used in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Repaired => "repaired",
            Self::Shadowed { .. } => "shadowed",
            Self::Refused => "refused",
        }
    }
}

/// What became of one candidate file.
#[derive(Clone, Debug)]
pub struct CandidateReport {
    /// The file.
    pub path: PathBuf,
    /// What it came to.
    pub verdict: Verdict,
    /// What it declares, as far as it could be read; present for a refused file too.
    pub skill: Option<Arc<Skill>>,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
}

/// A loaded skill and what resolving names needs to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) skill: Arc<Skill>,
    pub(crate) source: Arc<dyn SkillSource>,
    pub(crate) folded_id: Box<str>,
    /// Where links on the way to its file lead, if there are any.
    pub(crate) real_path: Option<PathBuf>,
    /// It may not take a bare name from a user or managed skill.
    pub(crate) yields: bool,
}

/// Everything the catalogue held at one moment. Never changes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    revision: u64,
    digest: String,
    entries: Vec<Entry>,
    reports: Vec<CandidateReport>,
    diagnostics: Vec<Diagnostic>,
    limits: ScanLimits,
}

impl Snapshot {
    /// Returns the number of this snapshot; it grows when the content of some skill changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the digest over all loaded skills in their order.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns every loaded skill in the order of precedence, those shadowed included.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.entries.iter().map(|entry| &entry.skill)
    }

    /// Returns one report for each candidate file, in the order of precedence.
    pub fn reports(&self) -> &[CandidateReport] {
        &self.reports
    }

    /// Returns the findings that belong to no candidate.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn limits(&self) -> &ScanLimits {
        &self.limits
    }
}

/// The skills of several sources, and the one way to a [`SkillView`] of them.
#[derive(Debug)]
pub struct SkillCatalog {
    current: RwLock<Arc<Snapshot>>,
}

impl SkillCatalog {
    /// Scans the folders `roots`, given in the order of precedence, and the built-in skills.
    pub fn scan(roots: &[Root], limits: &ScanLimits) -> Self {
        let mut sources = directories(roots);
        sources.push(Arc::new(BuiltinSource::default()));
        Self::new(sources, *limits)
    }

    /// Scans `sources`, given in the order of precedence.
    pub fn new(sources: Vec<Arc<dyn SkillSource>>, limits: ScanLimits) -> Self {
        let snapshot = build(&sources, limits);
        Self {
            current: RwLock::new(Arc::new(snapshot)),
        }
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Returns what `principal` may see of the current snapshot.
    pub fn view(&self, principal: &Principal) -> SkillView {
        SkillView::new(self.snapshot(), principal)
    }
}

/// Returns a source for each root; a folder that two roots lead to is entered once.
///
/// Where the project's and the user's root are one folder, it is the user's.
fn directories(roots: &[Root]) -> Vec<Arc<dyn SkillSource>> {
    let mut folders: Vec<(PathBuf, &Root)> = Vec::new();
    for root in roots {
        let real = root
            .path
            .canonicalize()
            .unwrap_or_else(|_| root.path.clone());
        let known = folders
            .iter_mut()
            .find(|(folder, known)| *folder == real && known.lite == root.lite);
        match known {
            Some((_, known)) if known.scope == Scope::Project && root.scope == Scope::User => {
                *known = root;
            }
            Some(_) => {}
            None => folders.push((real, root)),
        }
    }
    let source = |(_, root): (PathBuf, &Root)| -> Arc<dyn SkillSource> {
        Arc::new(DirectorySource::new(root.clone()))
    };
    folders.into_iter().map(source).collect()
}

fn build(sources: &[Arc<dyn SkillSource>], limits: ScanLimits) -> Snapshot {
    let mut entries = Vec::new();
    let mut reports = Vec::new();
    let mut positions = Vec::new();
    let mut diagnostics = Vec::new();
    for source in sources {
        let scan = source.scan(&limits);
        diagnostics.extend(scan.diagnostics);
        for candidate in scan.candidates {
            let (entry, report) = judge(candidate, source);
            if let Some(entry) = entry {
                positions.push(reports.len());
                entries.push(entry);
            }
            reports.push(report);
        }
    }
    let digest = snapshot_digest(&entries);
    resolve::report_shadows(&entries, &positions, &mut reports);
    resolve::report_look_alikes(&entries, &positions, &mut reports);
    Snapshot {
        revision: 1,
        digest,
        entries,
        reports,
        diagnostics,
        limits,
    }
}

fn judge(candidate: Candidate, source: &Arc<dyn SkillSource>) -> (Option<Entry>, CandidateReport) {
    let verdict = verdict(&candidate.diagnostics);
    let skill = candidate.skill.map(Arc::new);
    let entry = match (&skill, &verdict) {
        (Some(skill), Verdict::Loaded | Verdict::Repaired) => Some(Entry {
            skill: Arc::clone(skill),
            source: Arc::clone(source),
            folded_id: fold(skill.id.as_str()).into_boxed_str(),
            real_path: candidate.real_path,
            yields: candidate.yields,
        }),
        _ => None,
    };
    let report = CandidateReport {
        path: candidate.path,
        verdict,
        skill,
        diagnostics: candidate.diagnostics,
    };
    (entry, report)
}

/// Returns the verdict that findings alone lead to.
fn verdict(diagnostics: &[Diagnostic]) -> Verdict {
    match diagnostics.iter().map(|finding| finding.severity).min() {
        Some(Severity::Error) => Verdict::Refused,
        Some(Severity::Warning) => Verdict::Repaired,
        Some(Severity::Info) | None => Verdict::Loaded,
    }
}

fn snapshot_digest(entries: &[Entry]) -> String {
    let mut digester = Digester::new("tekne skill snapshot 1");
    for entry in entries {
        digester.part(entry.skill.scope.as_str().as_bytes());
        digester.part(entry.skill.format.as_str().as_bytes());
        digester.part(entry.skill.id.as_str().as_bytes());
        digester.part(entry.skill.content_digest.as_bytes());
    }
    digester.finish()
}
