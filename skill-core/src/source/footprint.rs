//! What a scan depended on, so that the next one reads only what changed.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::discovery::{Stamp, parallel};
use crate::skill::{SkillFormat, companion};
use crate::source::watching::Watching;

/// What the file system was like when a scan began to read it.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// What would be different if an entry file came, went or moved.
    pub(crate) folders: Vec<(PathBuf, Option<Stamp>)>,
    /// The files behind each candidate, where they were read.
    pub(crate) files: Vec<Option<Mark>>,
    /// What would tell of changes to the files; the scans of one source share it.
    pub(crate) watching: Arc<Mutex<Watching>>,
}

impl Footprint {
    /// Tells whether a folder, or whether it is there, is another by now.
    pub(crate) fn moved(&self, threads: usize) -> bool {
        let moved = parallel(&self.folders, threads, |(path, stamp), _| {
            Stamp::at(path) != *stamp
        });
        moved.contains(&true)
    }

    /// Returns the folders whose paths lead to the same folders as before, whatever is in them.
    pub(crate) fn same_folders(&self) -> HashSet<&Path> {
        let same = self.folders.iter().filter(|(path, stamp)| {
            let now = Stamp::at(path);
            matches!((now, stamp), (Some(now), Some(before)) if now.is_same_file(before))
        });
        same.map(|(path, _)| path.as_path()).collect()
    }
}

/// The files that a record was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The entry file.
    pub(crate) entry: Option<Stamp>,
    /// What lies beside it.
    pub(crate) beside: Beside,
}

impl Mark {
    /// Returns the mark of an entry file that could not be read.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            entry: Stamp::at(path),
            beside: Beside::Apart,
        }
    }

    /// Tells whether the files behind `path` are still as they were.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        Stamp::at(path) == self.entry && self.beside.holds(path)
    }
}

/// What another dialect keeps beside the entry file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing, whatever lies there: a skill of one file has no folder.
    Apart,
    /// No folder for it, as with most skills.
    Nothing,
    /// The folder, and the file in it; boxed, because it is rare and every skill has room for it.
    Something(Box<[Option<Stamp>; 2]>),
}

impl Beside {
    /// Looks beside the entry file at `path`.
    pub(crate) fn of(path: &Path, format: SkillFormat) -> Self {
        match path.parent().filter(|_| format.has_folder()) {
            Some(folder) => Self::within(folder),
            None => Self::Apart,
        }
    }

    fn within(folder: &Path) -> Self {
        // A look for the folder costs less than one for a file in it.
        let agents = folder.join(companion::FOLDER);
        match agents.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Nothing,
            _ => {
                let file = Stamp::at(&folder.join(companion::PATH));
                Self::Something(Box::new([Stamp::at(&agents), file]))
            }
        }
    }

    /// Tells whether the same lies beside the entry file at `path`.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let folder = path.parent().filter(|_| *self != Self::Apart);
        folder.is_none_or(|folder| Self::within(folder) == *self)
    }
}
