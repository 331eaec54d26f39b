//! Which files of a scan are still as they were: those that look so, and those that the system would
//! have told of, where it does.

use std::path::Path;
use std::sync::PoisonError;

use crate::discovery::{Stamp, Watch, parallel};
use crate::source::footprint::{Beside, Mark};
use crate::source::{Candidate, SourceScan};

/// How far the files of a source are watched.
#[derive(Debug, Default)]
pub(crate) enum Watching {
    /// Nobody asked for changes yet; most processes never do, or once.
    #[default]
    NotAsked,
    /// Somebody asked, and may well do so again.
    Asked,
    /// They are, where the system can do that; with the root's stamp.
    Begun(Option<(Watch, Stamp)>),
}

/// What is known of an entry file before anybody looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing happened to it.
    Still,
    /// Nothing is known.
    Nothing,
    /// Something happened to it.
    Touched,
}

impl SourceScan {
    /// Returns what is known of each entry file below `root`.
    pub(crate) fn known(&self, root: &Path) -> Vec<Known> {
        let mut watching = self
            .footprint
            .watching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let nothing = vec![Known::Nothing; self.candidates.len()];
        match &mut *watching {
            Watching::NotAsked => {
                *watching = Watching::Asked;
                return nothing;
            }
            Watching::Asked => {
                let begun = || Some((Watch::below(root)?, Stamp::at(root)?));
                *watching = Watching::Begun(begun());
            }
            Watching::Begun(_) => {}
        }
        match &mut *watching {
            Watching::Begun(Some((watch, root))) => self.told(watch, root),
            _ => nothing,
        }
    }

    /// Returns the positions of the entry files that have to be read again.
    pub(crate) fn changed(&self, known: &[Known], threads: usize) -> Vec<usize> {
        let files = self.candidates.iter().zip(&self.footprint.files).zip(known);
        let suspects: Vec<(usize, &Candidate, &Mark, Known)> = files
            .enumerate()
            .filter(|(_, (_, known))| **known != Known::Still)
            .filter_map(|(at, ((candidate, mark), known))| {
                Some((at, candidate.as_ref(), mark.as_ref()?, *known))
            })
            .collect();
        let changed = parallel(&suspects, threads, |(_, candidate, mark, known), _| {
            *known == Known::Touched || !mark.holds(&candidate.path)
        });
        let suspects = suspects.iter().zip(changed);
        suspects
            .filter(|(_, changed)| *changed)
            .map(|((at, ..), _)| *at)
            .collect()
    }

    /// Returns what the watch tells, and has it watch what it does not yet.
    fn told(&self, watch: &mut Watch, root: &Stamp) -> Vec<Known> {
        let happened = watch.ask();
        let files = self.candidates.iter().zip(&self.footprint.files);
        files
            .map(|(candidate, mark)| match mark {
                _ if happened.lost => Known::Nothing,
                _ if happened.touched.contains(&*candidate.path) => Known::Touched,
                Some(mark) if can_be_watched(candidate, mark, root) => {
                    if watch.covers(&candidate.path) {
                        return Known::Still;
                    }
                    watch.add(&candidate.path);
                    Known::Nothing
                }
                _ => Known::Nothing,
            })
            .collect()
    }
}

/// Tells whether nobody changes a file but through its own folder, on the device of the root.
fn can_be_watched(candidate: &Candidate, mark: &Mark, root: &Stamp) -> bool {
    let entry = mark.entry.as_ref();
    let alone = entry.is_some_and(|entry| entry.has_one_name() && entry.is_on_device_of(root));
    alone && candidate.real_path.is_none() && !matches!(mark.beside, Beside::Something(..))
}
