//! `skills.lock`: which bytes a project's skills consist of, in a file that goes with the project.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::discovery::read_whole;
use crate::skill::{Scope, Skill};
use crate::trust::{PackageTree, TreeError, TreeFile, slashed, write_whole};

/// The version of the file.
const VERSION: u32 = 1;

/// The most bytes a lock may have; some ten thousand skills.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The skills of a project with the digests of their files.
///
/// The file is JSON: `{"v": 1, "skills": {PATH: {id, version?, source, tree_digest, files: {PATH:
/// {kind, sha256, bytes}}}}}`, keys sorted, without time or machine, so that the same files give
/// the same lock everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillsLock {
    /// The skills by the path of their package below the project's top folder.
    pub skills: BTreeMap<String, LockedSkill>,
}

/// One skill as it was locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedSkill {
    /// Its id.
    pub id: String,
    /// Its version, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it comes from: `path:` and the path in the project.
    pub source: String,
    /// The digest over all of its files.
    pub tree_digest: String,
    /// Its files.
    pub files: BTreeMap<String, TreeFile>,
}

/// A lock that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("lock file {} {problem}", path.display())]
pub struct LockError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
    /// The cause.
    #[source]
    pub source: Option<io::Error>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    v: u32,
    skills: BTreeMap<String, LockedSkill>,
}

impl SkillsLock {
    /// The name of the file, at the project's top folder.
    pub const FILE: &'static str = "skills.lock";

    /// Locks those of `skills` that belong to the project and lie below its top folder.
    ///
    /// # Errors
    ///
    /// [`TreeError`] when the files of one cannot be read, or are too many.
    pub fn of<'a>(
        project: &Path,
        skills: impl IntoIterator<Item = &'a Skill>,
    ) -> Result<Self, TreeError> {
        let mut lock = Self::default();
        for skill in skills {
            let package = skill.package_path().to_owned();
            let path = package.strip_prefix(project).ok().and_then(slashed);
            let Some(path) = path.filter(|_| skill.scope == Scope::Project) else {
                continue;
            };
            let tree = PackageTree::of_skill(skill, project)?;
            let locked = LockedSkill {
                id: skill.id.as_str().to_owned(),
                version: skill.version.clone(),
                source: format!("path:{path}"),
                tree_digest: tree.digest,
                files: tree.files,
            };
            lock.skills.insert(path, locked);
        }
        Ok(lock)
    }

    /// Returns where the skill with this id is locked, whatever the case of its letters.
    pub(crate) fn place_of(&self, id: &str) -> Option<&str> {
        let id = id.to_lowercase();
        let mut skills = self.skills.iter();
        let (path, _) = skills.find(|(_, locked)| locked.id.to_lowercase() == id)?;
        Some(path)
    }

    /// Reads the lock at `path`; `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`LockError`] when it cannot be read or understood, is no regular file, or has more than
    /// 16 MiB.
    pub fn read(path: &Path) -> Result<Option<Self>, LockError> {
        let failed = |problem: &str, source| LockError {
            path: path.to_owned(),
            problem: problem.to_owned(),
            source,
        };
        let text = match read_whole(path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&format!("cannot be read: {error}"), Some(error))),
        };
        let document: Document = serde_json::from_slice(&text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let problem = format!("is damaged at line {line}, column {column}: {error}");
            failed(&problem, Some(error.into()))
        })?;
        if document.v != VERSION {
            let problem = format!("has version {}, not {VERSION}", document.v);
            return Err(failed(&problem, None));
        }
        if let Some(path) = document.skills.keys().find(|path| !is_plain(path)) {
            let problem = format!("names `{path}`, which is no plain path below the project");
            return Err(failed(&problem, None));
        }
        Ok(Some(Self {
            skills: document.skills,
        }))
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let document = Document {
            v: VERSION,
            skills: self.skills.clone(),
        };
        // A map of texts and numbers has no value that JSON could not hold.
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text + "\n"
    }

    /// Writes the file at `path`, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`LockError`] when it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        write_whole(path, self.to_text().as_bytes()).map_err(|error| LockError {
            path: path.to_owned(),
            problem: "cannot be written".to_owned(),
            source: Some(error),
        })
    }
}

/// Tells whether a path is written as this program writes it; any other spelling would never be
/// met, and lock nothing.
fn is_plain(path: &str) -> bool {
    let named = |part: &str| !matches!(part, "" | "." | "..");
    path.split('/').all(named)
}

#[cfg(test)]
mod tests;
