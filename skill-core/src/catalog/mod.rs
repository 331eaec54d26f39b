//! The catalogue: every candidate of every source, in one order of precedence, as an immutable
//! snapshot.

mod resolve;
mod scan;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub(crate) use resolve::{Standing, resolve};

use crate::digest::Digester;
use crate::discovery::{Root, ScanLimits};
use crate::reload::{Bodies, KEPT, Reload};
use crate::skill::{Diagnostic, Scope, Severity, Skill, fold};
use crate::source::{BuiltinSource, Candidate, DirectorySource, SkillSource, SourceScan};
use crate::trust::{Admission, PackageTree, SkillGuard};
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
    /// It waits for trust, and nobody sees it until then.
    pub pending: bool,
}

/// A loaded skill and what resolving names needs to know of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) skill: Arc<Skill>,
    pub(crate) source: Arc<dyn SkillSource>,
    pub(crate) folded_id: Box<str>,
    /// Where links on the way to its file lead, if there are any.
    pub(crate) real_path: Option<PathBuf>,
    /// It may not take a bare name from a user or managed skill.
    pub(crate) yields: bool,
    /// It waits for trust: nobody sees it.
    pub(crate) pending: bool,
    /// Its file is broken by now; this is what it held before.
    pub(crate) kept: bool,
    /// The files of its package as they were trusted or locked; nothing else of it is read.
    pub(crate) pins: Option<Arc<PackageTree>>,
}

/// A candidate and what it came to.
#[derive(Clone, Debug)]
struct Judged {
    candidate: Arc<Candidate>,
    entry: Option<Arc<Entry>>,
    /// Why it waits for trust.
    waits: Option<Arc<Diagnostic>>,
}

/// Everything the catalogue held at one moment. Never changes.
#[derive(Debug)]
pub struct Snapshot {
    revision: u64,
    digest: String,
    entries: Vec<Arc<Entry>>,
    judged: Vec<Judged>,
    /// The positions of entries that share their id or their file with another, made for the first
    /// view; all others hold their id whoever looks.
    contested: OnceLock<Vec<usize>>,
    /// Made when somebody asks; no turn does.
    reports: OnceLock<Vec<CandidateReport>>,
    diagnostics: Vec<Diagnostic>,
    limits: ScanLimits,
    bodies: Arc<Bodies>,
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
        self.reports.get_or_init(|| {
            let mut reports: Vec<CandidateReport> = self.judged.iter().map(report).collect();
            let loaded = (0..self.judged.len())
                .filter(|&at| self.judged.get(at).is_some_and(|one| one.entry.is_some()));
            let positions: Vec<usize> = loaded.collect();
            resolve::report_shadows(&self.entries, &positions, &mut reports);
            resolve::report_look_alikes(&self.entries, &positions, &mut reports);
            reports
        })
    }

    /// Returns the findings that belong to no candidate.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns how many skills wait for trust.
    pub fn waiting(&self) -> usize {
        self.entries.iter().filter(|entry| entry.pending).count()
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub(crate) fn contested(&self) -> &[usize] {
        self.contested
            .get_or_init(|| resolve::contested(&self.entries))
    }

    pub(crate) fn limits(&self) -> &ScanLimits {
        &self.limits
    }

    /// Returns the bodies that were opened lately, for skills whose file broke meanwhile.
    pub(crate) fn bodies(&self) -> &Bodies {
        &self.bodies
    }
}

/// The skills of several sources, and the one way to a [`SkillView`] of them.
#[derive(Debug)]
pub struct SkillCatalog {
    current: RwLock<Arc<Snapshot>>,
    pub(crate) reload: Reload,
}

impl SkillCatalog {
    /// Scans the folders `roots`, given in the order of precedence, and the built-in skills.
    pub fn scan(roots: &[Root], limits: &ScanLimits) -> Self {
        let mut sources = directory_sources(roots);
        sources.push(Arc::new(BuiltinSource::default()));
        Self::new(sources, *limits)
    }

    /// Scans `sources`, given in the order of precedence, several at once.
    pub fn new(sources: Vec<Arc<dyn SkillSource>>, limits: ScanLimits) -> Self {
        Self::guarded(sources, limits, None)
    }

    /// Scans `sources`; `guard` says what of them waits for trust.
    pub fn guarded(
        sources: Vec<Arc<dyn SkillSource>>,
        limits: ScanLimits,
        guard: Option<Arc<dyn SkillGuard>>,
    ) -> Self {
        let scans = scan::scan(&sources, &limits);
        let reload = Reload::new(sources, limits, guard, scans);
        let snapshot = reload.first();
        Self {
            current: RwLock::new(Arc::new(snapshot)),
            reload,
        }
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Makes `snapshot` the current one.
    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    /// Returns what `principal` may see of the current snapshot.
    pub fn view(&self, principal: &Principal) -> SkillView {
        SkillView::new(self.snapshot(), principal)
    }
}

/// Returns a source for each root; a folder that two roots lead to is entered once.
///
/// Where the project's and the user's root are one folder, it is the user's.
pub fn directory_sources(roots: &[Root]) -> Vec<Arc<dyn SkillSource>> {
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

/// Makes a snapshot of what the sources brought, the one that follows on `before`.
pub(crate) fn build(
    sources: &[Arc<dyn SkillSource>],
    scans: &[SourceScan],
    guard: Option<&dyn SkillGuard>,
    limits: ScanLimits,
    before: Option<&Snapshot>,
) -> Snapshot {
    let known = Known::of(before.map_or(&[], |before| &before.judged));
    let mut judged = Vec::with_capacity(scans.iter().map(|scan| scan.candidates.len()).sum());
    let mut diagnostics = Vec::new();
    for (source, scan) in sources.iter().zip(scans) {
        diagnostics.extend(scan.diagnostics.iter().cloned());
        for candidate in &scan.candidates {
            let taken_over = known.get(judged.len(), candidate, guard.is_some());
            judged.push(taken_over.unwrap_or_else(|| judge(candidate, source, guard)));
        }
    }
    let entries: Vec<Arc<Entry>> = judged.iter().filter_map(|one| one.entry.clone()).collect();
    let digest = snapshot_digest(&entries);
    let grown = before.map_or(1, |before| u64::from(before.digest != digest));
    Snapshot {
        revision: before.map_or(0, |before| before.revision) + grown,
        digest,
        entries,
        judged,
        contested: OnceLock::new(),
        reports: OnceLock::new(),
        diagnostics,
        limits,
        bodies: before
            .map(|before| Arc::clone(&before.bodies))
            .unwrap_or_default(),
    }
}

/// What was judged before, to be taken over where the candidate is the same.
struct Known<'a> {
    judged: &'a [Judged],
    /// Where each candidate stood; needed only when one came or went.
    positions: OnceCell<HashMap<*const Candidate, usize>>,
}

impl<'a> Known<'a> {
    fn of(judged: &'a [Judged]) -> Self {
        Self {
            judged,
            positions: OnceCell::new(),
        }
    }

    /// Returns what `candidate` came to before; what a guard watches is always judged anew.
    fn get(&self, at: usize, candidate: &Arc<Candidate>, guarded: bool) -> Option<Judged> {
        let scope = candidate.skill.as_ref().map(|skill| skill.scope);
        if guarded && scope == Some(Scope::Project) {
            return None;
        }
        let same = |known: &&Judged| Arc::ptr_eq(&known.candidate, candidate);
        let known = self.judged.get(at).filter(same);
        known.or_else(|| self.elsewhere(candidate)).cloned()
    }

    fn elsewhere(&self, candidate: &Arc<Candidate>) -> Option<&'a Judged> {
        let positions = self.positions.get_or_init(|| {
            let judged = self.judged.iter().enumerate();
            judged
                .map(|(at, known)| (Arc::as_ptr(&known.candidate), at))
                .collect()
        });
        self.judged.get(*positions.get(&Arc::as_ptr(candidate))?)
    }
}

fn judge(
    candidate: &Arc<Candidate>,
    source: &Arc<dyn SkillSource>,
    guard: Option<&dyn SkillGuard>,
) -> Judged {
    let skill = candidate
        .skill
        .as_ref()
        .filter(|_| !candidate.diagnostics.iter().any(Diagnostic::is_error));
    let Some(skill) = skill else {
        return Judged {
            candidate: Arc::clone(candidate),
            entry: None,
            waits: None,
        };
    };
    let admission = guard.map_or_else(
        || Admission::open(candidate.yields),
        |guard| guard.admit(skill, candidate.yields),
    );
    let pending = admission.pending.is_some();
    let entry = Entry {
        skill: Arc::clone(skill),
        source: Arc::clone(source),
        folded_id: fold(skill.id.as_str()).into_boxed_str(),
        real_path: candidate.real_path.clone(),
        yields: admission.yields,
        pending,
        kept: candidate.diagnostics.iter().any(|one| one.code == KEPT),
        pins: admission.pins,
    };
    Judged {
        candidate: Arc::clone(candidate),
        entry: Some(Arc::new(entry)),
        waits: admission.pending.map(Arc::new),
    }
}

fn report(judged: &Judged) -> CandidateReport {
    let candidate = &judged.candidate;
    let mut diagnostics = candidate.diagnostics.clone();
    diagnostics.extend(judged.waits.as_deref().cloned());
    CandidateReport {
        path: candidate.path.clone(),
        verdict: verdict(&diagnostics),
        skill: candidate.skill.clone(),
        diagnostics,
        pending: judged.waits.is_some(),
    }
}

/// Returns the verdict that findings alone lead to.
fn verdict(diagnostics: &[Diagnostic]) -> Verdict {
    match diagnostics.iter().map(|finding| finding.severity).min() {
        Some(Severity::Error) => Verdict::Refused,
        Some(Severity::Warning) => Verdict::Repaired,
        Some(Severity::Info) | None => Verdict::Loaded,
    }
}

fn snapshot_digest(entries: &[Arc<Entry>]) -> String {
    let mut digester = Digester::new("tekne skill snapshot 3");
    for Entry {
        skill,
        yields,
        pending,
        ..
    } in entries.iter().map(Arc::as_ref)
    {
        digester.part(skill.scope.as_str().as_bytes());
        digester.part(skill.format.as_str().as_bytes());
        digester.part(skill.id.as_str().as_bytes());
        digester.part(skill.content_digest.as_bytes());
        digester.part(&[u8::from(*yields), u8::from(*pending)]);
    }
    digester.finish()
}
