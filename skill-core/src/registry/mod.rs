//! Skills registered at run time: copied with their digest into a folder of their own, by whoever
//! may, with a record of every attempt.

mod attempt;
mod audit;
mod copy;
mod error;
mod record;
mod source;
mod version;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use audit::{AuditAction, AuditError, AuditOutcome, AuditRecord, AuditSink};
pub use error::{RegistryError, RegistryErrorKind};
pub use record::Registered;

use crate::discovery::{Root, ScanLimits, Stamp};
use crate::skill::{Diagnostic, Scope, Skill};
use crate::source::{DirectorySource, SkillSource};
use crate::time::Clock;
use crate::trust::lock_beside;
use crate::view::Principal;
use attempt::Attempt;
use copy::Staged;
use record::{Damaged, label, same};

/// Who asks for a change of the registry.
#[derive(Clone, Copy, Debug)]
pub enum Authority<'a> {
    /// The user of this machine, at the command line; may register.
    LocalUser,
    /// A principal; may register if [`Principal::can_register`] says so.
    Principal(&'a Principal),
}

impl Authority<'_> {
    fn may_register(&self) -> bool {
        match self {
            Self::LocalUser => true,
            Self::Principal(principal) => principal.can_register,
        }
    }
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalUser => formatter.write_str("local user"),
            Self::Principal(principal) => write!(formatter, "principal {}", principal.assistant),
        }
    }
}

/// The skills that were registered.
///
/// Each version lies in a folder of its own, copied with the digest over its files; what is there
/// survives restarts. As a [`SkillSource`] the registry brings the highest enabled release of each
/// skill under its id, and every other enabled version, unlisted, under `id@version`.
///
/// Methods block for as long as the file system and the audit sink take.
#[derive(Debug)]
pub struct Registry {
    folder: PathBuf,
    limits: ScanLimits,
    audit: Arc<dyn AuditSink>,
    clock: Arc<dyn Clock>,
    /// Reads bodies and files of what is registered.
    reader: DirectorySource,
    held: Mutex<Held>,
}

/// What is registered, and what the folder was like when that was read.
#[derive(Debug, Default)]
struct Held {
    skills: Vec<Arc<Registered>>,
    /// What is there and cannot be used.
    damaged: Vec<Damaged>,
    diagnostics: Vec<Diagnostic>,
    stamp: Option<Stamp>,
}

impl Registry {
    /// Opens the registry in `folder`, which need not exist.
    pub fn open(
        folder: impl Into<PathBuf>,
        limits: ScanLimits,
        audit: Arc<dyn AuditSink>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let folder = folder.into();
        let held = record::read_all(&folder, &limits);
        Self {
            reader: DirectorySource::new(Root::new(&folder, Scope::User)),
            limits,
            audit,
            clock,
            held: Mutex::new(held),
            folder,
        }
    }

    /// Registers the skill in `package`, a folder or a single file.
    ///
    /// # Errors
    ///
    /// [`RegistryError`]; of callers that register one version at the same time, one succeeds and
    /// all others get [`RegistryErrorKind::Conflict`]. Every attempt is recorded.
    pub fn register(
        &self,
        authority: &Authority<'_>,
        package: &Path,
    ) -> Result<Arc<Registered>, RegistryError> {
        let attempt = Attempt::new(self, authority, AuditAction::Register);
        if !authority.may_register() {
            return Err(attempt.refused(&package.display().to_string()));
        }
        let staged = Staged::new(&self.folder, package, &self.limits)
            .map_err(|error| attempt.failed(error, None))?;
        let subject = staged.subject();
        let digest = Some(staged.digest().to_owned());
        let (_alone, mut held) = self.alone(&attempt, &subject)?;
        if staged.is_taken() {
            *held = record::read_all(&self.folder, &self.limits);
        }
        // Version `1` of `a` and a skill of the name `a@1` are called alike, so there is one of them.
        let is_taken = |one: &Arc<Registered>| staged.is_same(one) || one.reference() == subject;
        if held.skills.iter().any(is_taken) {
            return Err(attempt.conflict(&subject, digest));
        }
        attempt.record(&subject, digest.clone(), AuditOutcome::Done, None)?;
        let now_ms = self.clock.now_ms();
        match staged.commit(now_ms, &authority.to_string()) {
            Ok(registered) => {
                copy::tidy(&self.folder, now_ms);
                let registered = Arc::new(registered);
                held.skills.push(Arc::clone(&registered));
                held.stamp = Stamp::at(&self.folder);
                Ok(registered)
            }
            Err(error) => Err(attempt.failed(RegistryError::io(&subject, error), digest)),
        }
    }

    /// Takes versions of the skill `id` out, damaged ones too: the one given, or all. Returns how
    /// many there were; none is no error.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when it is not allowed or cannot be done. Every attempt is recorded.
    pub fn unregister(
        &self,
        authority: &Authority<'_>,
        id: &str,
        version: Option<&str>,
    ) -> Result<usize, RegistryError> {
        let subject = label(id, version);
        let attempt = Attempt::new(self, authority, AuditAction::Unregister);
        if !authority.may_register() {
            return Err(attempt.refused(&subject));
        }
        let (_alone, mut held) = self.alone(&attempt, &subject)?;
        let skills = held.skills.iter().cloned();
        let (gone, kept): (Vec<_>, Vec<_>) = skills.partition(|one| one.is_meant(id, version));
        let is_meant = |one: &Damaged| one.is_meant(id, version);
        let damaged: Vec<_> = held.damaged.extract_if(.., |one| is_meant(one)).collect();
        let count = gone.len() + damaged.len();
        let reason = (count == 0).then(|| "not registered".to_owned());
        attempt.record(&subject, None, AuditOutcome::Done, reason)?;
        for one in &gone {
            copy::remove(&self.folder, one)
                .map_err(|error| attempt.failed(RegistryError::io(&subject, error), None))?;
        }
        for one in &damaged {
            copy::move_out(&self.folder, &one.folder)
                .map_err(|error| attempt.failed(RegistryError::io(&subject, error), None))?;
        }
        if damaged.is_empty() {
            held.skills = kept;
            held.stamp = Stamp::at(&self.folder);
        } else {
            *held = record::read_all(&self.folder, &self.limits);
        }
        Ok(count)
    }

    /// Switches versions of the skill `id` on or off: the one given, or all. Returns how many
    /// there are.
    ///
    /// # Errors
    ///
    /// As [`Registry::unregister`].
    pub fn set_enabled(
        &self,
        authority: &Authority<'_>,
        id: &str,
        version: Option<&str>,
        enabled: bool,
    ) -> Result<usize, RegistryError> {
        let subject = label(id, version);
        let action = if enabled {
            AuditAction::Enable
        } else {
            AuditAction::Disable
        };
        let attempt = Attempt::new(self, authority, action);
        if !authority.may_register() {
            return Err(attempt.refused(&subject));
        }
        let (_alone, mut held) = self.alone(&attempt, &subject)?;
        if held.damaged.iter().any(|one| one.is_meant(id, version)) {
            let detail = "what was registered is damaged; unregister it".to_owned();
            let error = RegistryError {
                detail: Some(detail),
                ..RegistryError::new(&subject, RegistryErrorKind::NotASkill)
            };
            return Err(attempt.failed(error, None));
        }
        let meant = |one: &&mut Arc<Registered>| one.is_meant(id, version);
        let mut slots: Vec<_> = held.skills.iter_mut().filter(meant).collect();
        if slots.is_empty() {
            let reason = Some("not registered".to_owned());
            attempt.record(&subject, None, AuditOutcome::Failed, reason)?;
            return Ok(0);
        }
        attempt.record(&subject, None, AuditOutcome::Done, None)?;
        for slot in &mut slots {
            let changed = Registered {
                enabled,
                ..Registered::clone(slot)
            };
            copy::rewrite(&self.folder, &changed)
                .map_err(|error| attempt.failed(RegistryError::io(&subject, error), None))?;
            **slot = Arc::new(changed);
        }
        let count = slots.len();
        held.stamp = Stamp::at(&self.folder);
        Ok(count)
    }

    /// Returns everything that is registered, by id and then by version.
    pub fn list(&self) -> Vec<Arc<Registered>> {
        let mut skills = self.up_to_date().skills.clone();
        skills.sort_by(|left, right| {
            let by_version = || version::compare(left.version_text(), right.version_text());
            left.id.cmp(&right.id).then_with(by_version)
        });
        skills
    }

    /// Returns the enabled skill that `reference` means: `id@version`, or `id` for the highest
    /// release, or the highest version where there is no release.
    pub fn route(&self, reference: &str) -> Option<Arc<Registered>> {
        let held = self.up_to_date();
        let of = |id: &str| -> Vec<&Arc<Registered>> {
            let skills = held.skills.iter();
            skills
                .filter(|one| one.enabled && one.id.as_str() == id)
                .collect()
        };
        if let Some(default) = record::default_of(&of(reference)) {
            return Some(Arc::clone(default));
        }
        let (id, version) = reference.rsplit_once('@')?;
        let found = of(id)
            .into_iter()
            .find(|one| same(&one.version, Some(version)));
        found.cloned()
    }

    /// Keeps other processes from changing the registry, and returns what is registered.
    fn alone(
        &self,
        attempt: &Attempt<'_>,
        subject: &str,
    ) -> Result<(File, MutexGuard<'_, Held>), RegistryError> {
        // First the lock within the process: waiting for it must not keep other processes waiting.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let file = lock_beside(&self.folder)
            .map_err(|error| attempt.failed(RegistryError::io(subject, error), None))?;
        Ok((file, self.read_if_changed(held)))
    }

    /// Returns what is registered, read anew if another process changed the folder.
    fn up_to_date(&self) -> MutexGuard<'_, Held> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_if_changed(held)
    }

    fn read_if_changed<'a>(&self, mut held: MutexGuard<'a, Held>) -> MutexGuard<'a, Held> {
        if Stamp::at(&self.folder) != held.stamp {
            *held = record::read_all(&self.folder, &self.limits);
        }
        held
    }
}

/// Reads the one skill at `package`.
fn read_skill(package: &Path, limits: &ScanLimits) -> Result<Arc<Skill>, RegistryError> {
    let subject = package.display().to_string();
    let not_a_skill = |detail: String| RegistryError {
        detail: Some(detail),
        ..RegistryError::new(&subject, RegistryErrorKind::NotASkill)
    };
    let scan = DirectorySource::new(Root::new(package, Scope::Flag)).scan(limits);
    let [candidate] = scan.candidates.as_slice() else {
        let count = scan.candidates.len();
        return Err(not_a_skill(format!("it holds {count} skills, not one")));
    };
    let error = candidate.diagnostics.iter().find(|one| one.is_error());
    match (&candidate.skill, error) {
        (_, Some(error)) => Err(not_a_skill(format!("{}: {}", error.code, error.message))),
        (Some(skill), None) => Ok(Arc::clone(skill)),
        (None, None) => Err(not_a_skill("it cannot be read".to_owned())),
    }
}

#[cfg(test)]
mod tests;
