//! The first scan: several sources at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::discovery::ScanLimits;
use crate::source::{SkillSource, SourceScan};

/// Scans every source, by as many threads as `limits` allow; the scans stand in the order of the
/// sources.
pub(super) fn scan(sources: &[Arc<dyn SkillSource>], limits: &ScanLimits) -> Vec<SourceScan> {
    let next = AtomicUsize::new(0);
    // Whoever is free takes the next source, since one may hold nothing and another thousands.
    let share = || {
        let mut scans = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(source) = sources.get(at)
        {
            scans.push((at, source.scan(limits)));
        }
        scans
    };
    let helpers = limits.threads.min(sources.len()).saturating_sub(1);
    let mut scans = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(share)).collect();
        let mut scans = share();
        for helper in helpers {
            let joined = helper.join();
            scans.extend(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        scans
    });
    scans.sort_unstable_by_key(|(at, _)| *at);
    scans.into_iter().map(|(_, scan)| scan).collect()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Barrier;

    use super::*;
    use crate::{Diagnostic, MemorySource, OpenedSkill, Resource, Skill};

    /// A source whose scan begins only when that of another one has begun.
    #[derive(Debug)]
    struct Meeting(Arc<Barrier>, MemorySource);

    impl SkillSource for Meeting {
        fn scan(&self, limits: &ScanLimits) -> SourceScan {
            self.0.wait();
            self.1.scan(limits)
        }

        fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
            self.1.open(skill, limits)
        }

        fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
            self.1.files(skill, limits)
        }

        fn read_file(
            &self,
            skill: &Skill,
            path: &str,
            limits: &ScanLimits,
        ) -> io::Result<Resource> {
            self.1.read_file(skill, path, limits)
        }
    }

    #[test]
    fn sources_are_scanned_at_once_and_keep_their_order() {
        let barrier = Arc::new(Barrier::new(2));
        let names = ["c", "a", "d", "b"];
        let sources: Vec<Arc<dyn SkillSource>> = names
            .iter()
            .map(|name| {
                let held = MemorySource::new().with(Skill::new(name, "d"), "");
                Arc::new(Meeting(Arc::clone(&barrier), held)) as _
            })
            .collect();
        let limits = ScanLimits {
            threads: 2,
            ..ScanLimits::default()
        };
        let scans = scan(&sources, &limits);
        let ids: Vec<String> = scans
            .iter()
            .flat_map(|scan| &scan.candidates)
            .filter_map(|candidate| Some(candidate.skill.as_ref()?.id.to_string()))
            .collect();
        assert_eq!(ids, names);
    }
}
