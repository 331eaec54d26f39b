//! Where the workspace lies, and what links make of the protected paths around it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::policy::glob::fold;
use crate::policy::protected::{AGENT_FOLDERS, NAMES, Protected, SEQUENCES};
use crate::workspace::Workspace;

impl Protected {
    /// Takes in where the workspace lies: the names above it count, and where a usual place there
    /// is a link into the workspace, what it leads to is protected by its other name too.
    pub(in crate::policy) fn locate(&mut self, workspace: &Workspace) {
        let root = workspace.path();
        self.above = root
            .iter()
            .filter_map(|name| name.to_str())
            .filter(|name| *name != "/")
            .map(fold)
            .collect();
        let places = usual_places();
        for folder in root.ancestors() {
            for (first, rests) in &places {
                self.locate_below(workspace, &folder.join(first), rests);
            }
        }
    }

    /// Takes in the places that begin with one name: what is not there is looked for once.
    fn locate_below(&mut self, workspace: &Workspace, at: &Path, rests: &BTreeSet<PathBuf>) {
        let Ok(found) = at.symlink_metadata() else {
            return;
        };
        for rest in rests {
            if found.is_symlink() || has_link(at, rest) {
                self.add_place(workspace, &at.join(rest));
            }
        }
    }

    /// Protects a path by every name below the root that leads there.
    pub(in crate::policy) fn add_place(&mut self, workspace: &Workspace, path: &Path) {
        for way in workspace.reached_as(path) {
            self.add(&way);
        }
    }
}

/// Returns the protected paths that may stand in any folder: by their first name, what follows it.
fn usual_places() -> BTreeMap<&'static str, BTreeSet<PathBuf>> {
    let names = NAMES.iter().chain(AGENT_FOLDERS).map(|name| (*name, ""));
    let skills = AGENT_FOLDERS.iter().map(|name| (*name, "skills"));
    let mut places: BTreeMap<_, BTreeSet<PathBuf>> = BTreeMap::new();
    for (first, rest) in names.chain(skills) {
        places.entry(first).or_default().insert(PathBuf::from(rest));
    }
    for sequence in SEQUENCES {
        if let Some((first, rest)) = sequence.split_first() {
            let rest = rest.iter().collect();
            places.entry(first).or_default().insert(rest);
        }
    }
    places
}

/// Tells whether a link stands on the way from `folder` to `place`.
fn has_link(folder: &Path, place: &Path) -> bool {
    let mut at = folder.to_owned();
    for name in place {
        at.push(name);
        match at.symlink_metadata() {
            Ok(found) if found.is_symlink() => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}
