//! The record of who did what to the registry and to trust, kept before it takes effect.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Keeps audit records.
///
/// A record is durable when the call returns. What is recorded as done takes effect only after
/// that; a sink that fails therefore keeps the deed from happening. Implementations may block.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// Keeps a record.
    ///
    /// # Errors
    ///
    /// [`AuditError`] when it is not certain that the record is kept.
    fn record(&self, record: &AuditRecord) -> Result<(), AuditError>;
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// When, in milliseconds since the epoch.
    pub at_ms: u64,
    /// Who.
    pub actor: String,
    /// What was attempted.
    pub action: AuditAction,
    /// What it was about: a skill as `id@version`, a package that could not be read, a project.
    pub subject: String,
    /// The digest of the content it was about, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What was attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditAction {
    /// To register a skill.
    Register,
    /// To take a skill out of the registry.
    Unregister,
    /// To switch a registered version on.
    Enable,
    /// To switch a registered version off.
    Disable,
    /// To trust something of a project.
    Trust,
    /// To take trust in a project back.
    Revoke,
}

impl AuditAction {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Unregister => "unregister",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Trust => "trust",
            Self::Revoke => "revoke",
        }
    }
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditOutcome {
    /// It was done.
    Done,
    /// Whoever attempted it may not.
    Refused,
    /// The same version of the skill is there already.
    Conflict,
    /// It could not be done.
    Failed,
}

impl AuditOutcome {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
            Self::Failed => "failed",
        }
    }
}

/// A record that could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep the audit record: {problem}")]
pub struct AuditError {
    /// What is wrong.
    pub problem: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}
