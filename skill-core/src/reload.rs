//! Bringing a catalogue up to date: only what changed is read again, callers share one scan, and a
//! file that breaks keeps what it held.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::catalog::{SkillCatalog, Snapshot, build};
use crate::discovery::ScanLimits;
use crate::skill::{Diagnostic, Severity};
use crate::source::{Candidate, OpenedSkill, SkillSource, SourceScan};
use crate::trust::SkillGuard;

/// The code of a skill whose file is broken by now.
pub(crate) const KEPT: &str = "SK104";

/// Errors in a file's text; any other refuses the file for where it is, not for what it holds.
const BREAKS: &[&str] = &["SK010", "SK011", "SK065", "SK102", "SK110"];

/// What a catalogue needs to scan again.
#[derive(Debug)]
pub(crate) struct Reload {
    sources: Vec<Arc<dyn SkillSource>>,
    limits: ScanLimits,
    guard: Option<Arc<dyn SkillGuard>>,
    /// What each source brought last; held while scanning.
    scans: Mutex<Vec<SourceScan>>,
    /// How many refreshes have ended.
    ended: AtomicU64,
}

impl Reload {
    pub(crate) fn new(
        sources: Vec<Arc<dyn SkillSource>>,
        limits: ScanLimits,
        guard: Option<Arc<dyn SkillGuard>>,
        scans: Vec<SourceScan>,
    ) -> Self {
        Self {
            sources,
            limits,
            guard,
            scans: Mutex::new(scans),
            ended: AtomicU64::new(0),
        }
    }

    /// Returns the snapshot of the scans at hand.
    pub(crate) fn first(&self) -> Snapshot {
        self.build(&self.lock(), None)
    }

    fn build(&self, scans: &[SourceScan], before: Option<&Snapshot>) -> Snapshot {
        let guard = self.guard.as_deref();
        build(&self.sources, scans, guard, self.limits, before)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SourceScan>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scans every source again; tells whether anything is another now.
    fn rescan(&self, scans: &mut [SourceScan]) -> bool {
        let mut changed = self.guard.as_ref().is_some_and(|guard| guard.refresh());
        for (source, scan) in self.sources.iter().zip(scans) {
            if let Some(mut again) = source.rescan(&self.limits, scan) {
                keep_last_good(&scan.candidates, &mut again.candidates);
                *scan = again;
                changed = true;
            }
        }
        changed
    }
}

impl SkillCatalog {
    /// Brings the catalogue up to date and returns the current snapshot.
    ///
    /// Meant for the beginning of a turn: it looks at what the last scan visited and reads again
    /// only what changed. Callers that come while another one scans wait for it and share what it
    /// brought. Snapshots and views that were handed out stay as they are. The revision grows only
    /// if the content of some skill, or what waits for trust, changed. A file that can no longer be
    /// loaded keeps what it held before, with a finding SK104.
    ///
    /// From the second call on the files of local folders are watched (Linux: one open file a source,
    /// at most 16,384 watches, which a user's programs share), and only what the kernel tells of is
    /// looked at. Everywhere else, and for links, files of several names and network file systems,
    /// each call looks at every file. What a program writes through a memory map into a file that it
    /// has closed is not told; opening such a skill says that it changed.
    ///
    /// Blocks for as long as the file system takes.
    pub fn refresh(&self) -> Arc<Snapshot> {
        let reload = &self.reload;
        let seen = reload.ended.load(Ordering::Acquire);
        let mut scans = reload.lock();
        if reload.ended.load(Ordering::Acquire) != seen {
            return self.snapshot();
        }
        let before = self.snapshot();
        let current = if reload.rescan(&mut scans) {
            let snapshot = Arc::new(reload.build(&scans, Some(&before)));
            self.publish(Arc::clone(&snapshot));
            snapshot
        } else {
            before
        };
        reload.ended.fetch_add(1, Ordering::Release);
        current
    }
}

/// Puts what a file held before in the place of what cannot be loaded any more.
fn keep_last_good(before: &[Arc<Candidate>], now: &mut [Arc<Candidate>]) {
    let broken: Vec<&mut Arc<Candidate>> = now.iter_mut().filter(|one| is_broken(one)).collect();
    if broken.is_empty() {
        return;
    }
    let good = before
        .iter()
        .filter(|candidate| !candidate.diagnostics.iter().any(Diagnostic::is_error));
    let good: HashMap<&Path, &Arc<Candidate>> = good
        .map(|candidate| (candidate.path.as_path(), candidate))
        .collect();
    for slot in broken {
        if let Some(held) = good.get(slot.path.as_path()) {
            *slot = Arc::new(kept(slot, held));
        }
    }
}

/// Returns the broken candidate with the skill that its file `held` before.
fn kept(broken: &Candidate, held: &Candidate) -> Candidate {
    let mut candidate = broken.clone();
    candidate.skill.clone_from(&held.skill);
    for finding in &mut candidate.diagnostics {
        finding.severity = finding.severity.max(Severity::Warning);
    }
    let message = "the file is broken now; what it held before is kept";
    let finding = Diagnostic::about(KEPT, &candidate.path, message);
    candidate.diagnostics.push(finding);
    candidate
}

/// Tells whether a candidate is refused for its text alone.
fn is_broken(candidate: &Candidate) -> bool {
    let mut errors = candidate
        .diagnostics
        .iter()
        .filter(|finding| finding.is_error())
        .peekable();
    errors.peek().is_some() && errors.all(|finding| BREAKS.contains(&finding.code))
}

/// How many bodies are remembered, and how many bytes of them.
const MOST_BODIES: usize = 64;
const MOST_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The bodies opened lately: what an open skill goes on with while its file is broken.
#[derive(Debug, Default)]
pub(crate) struct Bodies(Mutex<VecDeque<OpenedSkill>>);

impl Bodies {
    pub(crate) fn remember(&self, opened: &OpenedSkill) {
        let mut bodies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &OpenedSkill| known.content_digest == opened.content_digest;
        if bodies.iter().any(is_same) {
            return;
        }
        bodies.push_front(opened.clone());
        let mut bytes = 0;
        bodies.retain(|known| {
            bytes += known.body.len();
            bytes <= MOST_BODY_BYTES
        });
        bodies.truncate(MOST_BODIES);
    }

    /// Returns the body whose skill has the digest `pinned`.
    pub(crate) fn recall(&self, pinned: &str) -> Option<OpenedSkill> {
        let bodies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bodies = bodies.iter();
        bodies.find(|known| known.content_digest == pinned).cloned()
    }
}

#[cfg(test)]
mod tests;
