//! Why a change of the registry was not made.

use std::io;

/// What a caller can do about a [`RegistryError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegistryErrorKind {
    /// Whoever asks may not; ask somebody who may.
    Refused,
    /// The same version of the skill is registered; register another version.
    Conflict,
    /// What was given is no sound skill; mend it.
    NotASkill,
    /// The record of the attempt could not be kept, so nothing was done.
    Audit,
    /// The file system failed.
    Io,
}

/// A change of the registry that was not made.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.describe())]
pub struct RegistryError {
    /// What it was about: a skill as `id@version`, or a package that could not be read.
    pub subject: String,
    /// What the caller can do.
    pub kind: RegistryErrorKind,
    /// What is wrong, where the kind does not say it.
    pub detail: Option<String>,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl RegistryError {
    pub(super) fn new(subject: &str, kind: RegistryErrorKind) -> Self {
        Self {
            subject: subject.to_owned(),
            kind,
            detail: None,
            source: None,
        }
    }

    pub(super) fn io(subject: &str, source: io::Error) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..Self::new(subject, RegistryErrorKind::Io)
        }
    }

    fn describe(&self) -> String {
        let subject = &self.subject;
        let text = match self.kind {
            RegistryErrorKind::Refused => format!("not allowed to change `{subject}`"),
            RegistryErrorKind::Conflict => format!("skill `{subject}` is registered already"),
            RegistryErrorKind::NotASkill => format!("`{subject}` is no skill to register"),
            RegistryErrorKind::Audit => format!("nothing was done about `{subject}`"),
            RegistryErrorKind::Io => format!("the registry cannot be changed for `{subject}`"),
        };
        match &self.detail {
            Some(detail) => format!("{text}: {detail}"),
            None => text,
        }
    }
}
