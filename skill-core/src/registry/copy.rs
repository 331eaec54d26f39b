//! Packages on their way into the registry and out of it: whole, or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::discovery::{Root, ScanLimits};
use crate::registry::record::{Document, ENTRY, FILES, Registered, key, label, same};
use crate::registry::{RegistryError, RegistryErrorKind, read_skill};
use crate::skill::{Scope, Skill};
use crate::source::form::{Claim, claim};
use crate::trust::{PackageTree, TreeFileKind, beside, sync_folder, write_whole};

/// How the name of what is on its way in or out begins.
const MOVING: &str = ".moving";

/// A package that was copied and waits to be put in its place; dropped, it is gone.
pub(super) struct Staged {
    registry: PathBuf,
    folder: PathBuf,
    package: PathBuf,
    skill: Arc<Skill>,
    tree: PackageTree,
}

impl Staged {
    /// Copies `package` beside its place in the registry, and reads the copy.
    pub(super) fn new(
        registry: &Path,
        package: &Path,
        limits: &ScanLimits,
    ) -> Result<Self, RegistryError> {
        let subject = package.display().to_string();
        // What is registered is the package, whatever the path to it looks like.
        let package = fs::canonicalize(package).map_err(|error| RegistryError {
            source: Some(Box::new(error)),
            ..RegistryError::new(&subject, RegistryErrorKind::NotASkill)
        })?;
        let package = whole(package);
        read_skill(&package, limits)?;
        let unfit = |detail: String| RegistryError {
            detail: Some(detail),
            ..RegistryError::new(&subject, RegistryErrorKind::NotASkill)
        };
        let tree = PackageTree::read(&package).map_err(|error| unfit(error.to_string()))?;
        let links = tree.files.iter();
        let mut links = links.filter(|(_, file)| file.kind == TreeFileKind::Link);
        if let Some((path, _)) = links.next() {
            return Err(unfit(format!("`{path}` is a link")));
        }
        let folder = hidden(registry);
        let name = package.file_name().unwrap_or_default();
        let copy = folder.join(FILES).join(name);
        let staged = Self {
            registry: registry.to_owned(),
            package: copy.clone(),
            folder,
            skill: Arc::new(Skill::new("", "")),
            tree,
        };
        staged
            .copy(&package)
            .map_err(|error| RegistryError::io(&subject, error))?;
        let copied = PackageTree::read(&copy).map_err(|error| unfit(error.to_string()))?;
        if copied != staged.tree {
            return Err(unfit("it changed while it was copied".to_owned()));
        }
        let skill = read_skill(&copy, limits)?;
        Ok(staged.with(skill))
    }

    fn with(mut self, skill: Arc<Skill>) -> Self {
        self.skill = skill;
        self
    }

    fn copy(&self, from: &Path) -> io::Result<()> {
        let is_folder = from.is_dir();
        for path in self.tree.files.keys() {
            let (source, target) = if is_folder {
                (from.join(path), self.package.join(path))
            } else {
                (from.to_owned(), self.package.clone())
            };
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(source, &target)?;
            plain_mode(&target, self.tree.files.get(path).map(|file| file.kind))?;
            fs::File::open(&target)?.sync_all()?;
        }
        Ok(())
    }

    pub(super) fn subject(&self) -> String {
        label(self.skill.id.as_str(), self.skill.version.as_deref())
    }

    pub(super) fn digest(&self) -> &str {
        &self.tree.digest
    }

    pub(super) fn is_same(&self, other: &Registered) -> bool {
        other.id == self.skill.id && same(&other.version, self.skill.version.as_deref())
    }

    /// Tells whether something is in its place, whatever it is.
    pub(super) fn is_taken(&self) -> bool {
        fs::symlink_metadata(self.place()).is_ok()
    }

    fn place(&self) -> PathBuf {
        let name = key(&self.skill.id, self.skill.version.as_deref());
        self.registry.join(name)
    }

    /// Puts the package in its place; what is there but is damaged makes way.
    pub(super) fn commit(self, at_ms: u64, by: &str) -> io::Result<Registered> {
        let place = self.place();
        let package = place
            .join(FILES)
            .join(self.package.file_name().unwrap_or_default());
        let entry = self.skill.path.strip_prefix(&self.package);
        let path = match entry {
            Ok(entry) if !entry.as_os_str().is_empty() => package.join(entry),
            _ => package.clone(),
        };
        let registered = Registered {
            id: self.skill.id.clone(),
            version: self.skill.version.clone(),
            digest: self.tree.digest.clone(),
            enabled: true,
            at_ms,
            by: by.to_owned(),
            skill: Arc::new(Skill {
                scope: Scope::User,
                path,
                ..Skill::clone(&self.skill)
            }),
            package,
        };
        let document = serde_json::to_vec_pretty(&Document::of(&registered))?;
        write_whole(&self.folder.join(ENTRY), &document)?;
        if self.is_taken() {
            move_out(&self.registry, &place)?;
        }
        fs::rename(&self.folder, &place)?;
        sync_folder(&self.registry)?;
        Ok(registered)
    }
}

/// Leaves nothing of a file's mode but whether it may be executed: that is what the digest knows.
#[cfg(unix)]
fn plain_mode(path: &Path, kind: Option<TreeFileKind>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let executable = kind == Some(TreeFileKind::Executable);
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn plain_mode(_path: &Path, _kind: Option<TreeFileKind>) -> io::Result<()> {
    Ok(())
}

/// After how long what is on its way in or out was left behind by a process that is gone.
const LEFT_BEHIND_MS: u64 = 60 * 60 * 1000;

/// Removes what processes that were killed left on its way in or out.
pub(super) fn tidy(registry: &Path, now_ms: u64) {
    let Ok(items) = fs::read_dir(registry) else {
        return;
    };
    let moving = |item: &fs::DirEntry| {
        let name = item.file_name();
        name.as_encoded_bytes().starts_with(MOVING.as_bytes())
    };
    for item in items.flatten().filter(moving) {
        let modified = item.metadata().and_then(|metadata| metadata.modified());
        let since = modified
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at_ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
        if at_ms.is_some_and(|at_ms| at_ms.saturating_add(LEFT_BEHIND_MS) < now_ms) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(item.path());
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once it is in its place there is nothing left here; else what is left is of no use.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the folder of an entry file that stands for its folder; anything else is itself.
fn whole(package: PathBuf) -> PathBuf {
    let name = package.file_name().and_then(|name| name.to_str());
    let stands_for = |folder: &Path| {
        let claim = name.map(|name| claim(name, &Root::new(folder, Scope::Flag)).1);
        matches!(claim, Some(Claim::Folder(_)))
    };
    match package.parent() {
        Some(folder) if package.is_file() && stands_for(folder) => folder.to_owned(),
        _ => package,
    }
}

/// Takes a version out.
pub(super) fn remove(registry: &Path, registered: &Registered) -> io::Result<()> {
    let name = key(&registered.id, registered.version.as_deref());
    move_out(registry, &registry.join(name))
}

pub(super) fn move_out(registry: &Path, place: &Path) -> io::Result<()> {
    let hidden = hidden(registry);
    match fs::rename(place, &hidden) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed?,
    }
    sync_folder(registry)?;
    // It is out; a folder that cannot be removed is in nobody's way.
    let _ = fs::remove_dir_all(hidden);
    Ok(())
}

/// Writes anew what is said of a version.
pub(super) fn rewrite(registry: &Path, registered: &Registered) -> io::Result<()> {
    let name = key(&registered.id, registered.version.as_deref());
    let document = serde_json::to_vec_pretty(&Document::of(registered))?;
    // By way of the registry's own folder, so that others see that something changed.
    let written = hidden(registry);
    write_whole(&written, &document)?;
    let folder = registry.join(name);
    fs::rename(written, folder.join(ENTRY))?;
    sync_folder(&folder)
}

/// Returns a name in the registry that no reader looks at.
fn hidden(registry: &Path) -> PathBuf {
    beside(&registry.join(MOVING))
}
