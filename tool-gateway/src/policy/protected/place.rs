//! Where the workspace lies, and what links make of the protected paths around it.

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
        for folder in root.ancestors() {
            for place in usual_places().filter(|place| has_link(folder, place)) {
                self.add_place(workspace, &folder.join(place));
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

/// Returns the protected paths that may stand in any folder.
fn usual_places() -> impl Iterator<Item = PathBuf> {
    let names = NAMES.iter().chain(AGENT_FOLDERS).map(PathBuf::from);
    let skills = AGENT_FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join("skills"));
    let sequences = SEQUENCES.iter().map(|sequence| sequence.iter().collect());
    names.chain(skills).chain(sequences)
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
