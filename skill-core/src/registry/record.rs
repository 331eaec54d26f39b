//! What is known of a registered skill, and how the folder of the registry is read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digester;
use crate::discovery::{ScanLimits, Stamp, read_whole};
use crate::registry::{Held, read_skill, version};
use crate::skill::{Diagnostic, Scope, Skill, SkillId};
use crate::trust::PackageTree;

/// The file beside a package that says what was registered.
pub(super) const ENTRY: &str = "entry.json";
/// The most bytes that file may have.
const MOST_ENTRY: u64 = 64 * 1024;
/// The folder that the package lies in.
pub(super) const FILES: &str = "files";
/// The version of the format.
const VERSION: u32 = 1;

/// One version of a skill that was registered.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    /// Its id.
    pub id: SkillId,
    /// Its version, as written.
    pub version: Option<String>,
    /// The digest over its files, as [`PackageTree`] takes it.
    pub digest: String,
    /// It can be used.
    pub enabled: bool,
    /// When it was registered, in milliseconds since the epoch.
    pub at_ms: u64,
    /// Who registered it.
    pub by: String,
    /// The record of the copy that is kept.
    pub skill: Arc<Skill>,
    /// The copy: the folder of the package, or its file.
    pub package: PathBuf,
}

impl Registered {
    /// Returns `id@version`, or the id where there is no version.
    pub fn reference(&self) -> String {
        label(self.id.as_str(), self.version.as_deref())
    }

    /// Tells whether it is of the skill `id`, and the version where one is given.
    pub(super) fn is_meant(&self, id: &str, version: Option<&str>) -> bool {
        let is_version = |version| same(&self.version, Some(version));
        self.id.as_str() == id && version.is_none_or(is_version)
    }

    pub(super) fn version_text(&self) -> &str {
        self.version.as_deref().unwrap_or_default()
    }
}

/// The file beside a package.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    v: u32,
    id: String,
    version: Option<String>,
    digest: String,
    enabled: bool,
    at_ms: u64,
    by: String,
    /// The name of the package below [`FILES`].
    package: String,
}

impl Document {
    pub(super) fn of(registered: &Registered) -> Self {
        let name = registered.package.file_name().unwrap_or_default();
        Self {
            v: VERSION,
            id: registered.id.as_str().to_owned(),
            version: registered.version.clone(),
            digest: registered.digest.clone(),
            enabled: registered.enabled,
            at_ms: registered.at_ms,
            by: registered.by.clone(),
            package: name.to_string_lossy().into_owned(),
        }
    }
}

/// Returns how a version of a skill is called.
pub(super) fn label(id: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("{id}@{version}"),
        None => id.to_owned(),
    }
}

/// Tells whether two versions are the same one.
pub(super) fn same(one: &Option<String>, other: Option<&str>) -> bool {
    one.as_deref() == other
}

/// Returns the name of the folder that a version is kept in; ids are never used as paths.
pub(super) fn key(id: &SkillId, version: Option<&str>) -> String {
    let mut digester = Digester::new("tekne registry key 1");
    digester.part(id.as_str().as_bytes());
    digester.part(version.unwrap_or_default().as_bytes());
    digester.part(&[u8::from(version.is_some())]);
    digester.finish()
}

/// Returns the one of several versions of a skill that its bare id means.
pub(super) fn default_of<'a>(versions: &[&'a Arc<Registered>]) -> Option<&'a Arc<Registered>> {
    let is_release = |one: &Registered| version::is_release(one.version_text());
    versions.iter().copied().max_by(|left, right| {
        let by_release = is_release(left).cmp(&is_release(right));
        by_release.then_with(|| version::compare(left.version_text(), right.version_text()))
    })
}

/// Reads everything that lies in the folder of the registry.
pub(super) fn read_all(folder: &Path, limits: &ScanLimits) -> Held {
    let mut held = Held {
        stamp: Stamp::at(folder),
        ..Held::default()
    };
    let Ok(items) = fs::read_dir(folder) else {
        return held;
    };
    let mut folders: Vec<PathBuf> = items.flatten().map(|item| item.path()).collect();
    // What begins with a dot is on its way in or out.
    folders.retain(|path| {
        let name = path.file_name().unwrap_or_default();
        path.is_dir() && !name.as_encoded_bytes().starts_with(b".")
    });
    folders.sort();
    for folder in folders {
        match read(&folder, limits) {
            Ok(registered) => held.skills.push(Arc::new(registered)),
            Err(Unusable { code, problem }) => {
                held.damaged.push(Damaged::of(&folder));
                let finding = Diagnostic::about(code, &folder, problem);
                held.diagnostics.push(finding);
            }
        }
    }
    held
}

/// A version that is there and cannot be used.
#[derive(Debug)]
pub(super) struct Damaged {
    pub(super) folder: PathBuf,
    /// What it was registered as, where that can still be read.
    label: Option<(String, Option<String>)>,
}

impl Damaged {
    fn of(folder: &Path) -> Self {
        let bytes = read_whole(&folder.join(ENTRY), MOST_ENTRY).ok();
        let document = bytes.and_then(|bytes| serde_json::from_slice::<Document>(&bytes).ok());
        Self {
            folder: folder.to_owned(),
            label: document.map(|document| (document.id, document.version)),
        }
    }

    /// Tells whether it was registered as the skill `id`, and the version where one is given.
    pub(super) fn is_meant(&self, id: &str, version: Option<&str>) -> bool {
        let name = key(&SkillId::new(id), version);
        let is_label = self.label.as_ref().is_some_and(|(known, of)| {
            known == id && version.is_none_or(|version| same(of, Some(version)))
        });
        is_label
            || self
                .folder
                .file_name()
                .is_some_and(|folder| *folder == *name)
    }
}

/// Why a version is not to be used.
struct Unusable {
    code: &'static str,
    problem: String,
}

impl Unusable {
    /// What is kept of it cannot be read.
    fn unreadable(problem: impl ToString) -> Self {
        Self {
            code: "SK065",
            problem: format!(
                "the registered skill cannot be read: {}",
                problem.to_string()
            ),
        }
    }

    /// It is not what was registered.
    fn changed() -> Self {
        Self {
            code: "SK091",
            problem: "the skill changed since it was registered; register it anew".to_owned(),
        }
    }
}

/// Reads one version.
fn read(folder: &Path, limits: &ScanLimits) -> Result<Registered, Unusable> {
    let document: Document = read_whole(&folder.join(ENTRY), MOST_ENTRY)
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::from))
        .map_err(Unusable::unreadable)?;
    if document.v != VERSION {
        let problem = "it was registered by a later version of this program";
        return Err(Unusable::unreadable(problem));
    }
    let is_name = !document.package.is_empty() && !document.package.contains(['/', '\\']);
    let package = folder.join(FILES).join(&document.package);
    if !is_name || document.package == ".." {
        return Err(Unusable::changed());
    }
    let tree = PackageTree::read(&package).map_err(Unusable::unreadable)?;
    if tree.digest != document.digest {
        return Err(Unusable::changed());
    }
    let skill = read_skill(&package, limits).map_err(Unusable::unreadable)?;
    // What the digest covers says which skill this is; the entry only repeats it.
    let is_this = skill.id.as_str() == document.id && skill.version == document.version;
    let name = key(&skill.id, skill.version.as_deref());
    if !is_this || folder.file_name().is_none_or(|folder| *folder != *name) {
        return Err(Unusable::changed());
    }
    Ok(registered(&skill, document, package))
}

fn registered(skill: &Skill, document: Document, package: PathBuf) -> Registered {
    Registered {
        id: SkillId::new(&document.id),
        version: document.version,
        digest: document.digest,
        enabled: document.enabled,
        at_ms: document.at_ms,
        by: document.by,
        skill: Arc::new(Skill {
            scope: Scope::User,
            ..skill.clone()
        }),
        package,
    }
}
