//! One run of a skill, and what it comes to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use skill_core::Skill;
use tokio_util::sync::CancellationToken;

/// One run of a skill: made for it, and dropped after it.
#[derive(Clone, Debug)]
pub struct SkillJob {
    /// The skill.
    pub skill: Arc<Skill>,
    /// The folder of its package.
    pub folder: PathBuf,
    /// The digest of its package.
    pub digest: String,
    /// The complete parameters.
    pub params: Map<String, Value>,
    /// The call.
    pub call_id: String,
    /// On whose behalf it runs.
    pub user_id: Option<String>,
    /// The time of the call, with its zone.
    pub now: String,
    /// The name of the time zone.
    pub zone: String,
    /// The facts of the session, as they were when it began.
    pub facts: BTreeMap<String, String>,
    /// The secrets that it declares and that are set.
    pub secrets: BTreeMap<String, String>,
    /// Cancelled when it should stop.
    pub cancel: CancellationToken,
}

/// What a skill brings back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillResult {
    /// What it returns.
    pub value: Value,
    /// Facts of the session that it sets; `None` removes one. They count only if it succeeds.
    pub facts: BTreeMap<String, Option<String>>,
    /// What it logged, for an operator.
    pub log: Vec<String>,
}

impl SkillResult {
    /// Returns a result that changes nothing.
    pub fn ok(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SkillFailure {
    /// What the model reads.
    pub message: String,
    /// What only an operator reads.
    pub detail: Option<String>,
    /// The kind, which `retry.on` names: `transient`, or a word of the skill's own.
    pub kind: String,
}

impl SkillFailure {
    /// The kind of what may go well the next time.
    pub const TRANSIENT: &'static str = "transient";
    /// The kind of what the skill itself says did not work.
    pub const BUSINESS: &'static str = "error";
    /// The kind of what broke.
    pub const BROKEN: &'static str = "broken";

    /// Returns a failure.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            detail: None,
            kind: kind.to_owned(),
        }
    }

    /// Adds what only an operator reads.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Tells whether it says something about the skill's health: a breaker counts these.
    pub(super) fn is_fault(&self) -> bool {
        self.kind != Self::BUSINESS
    }
}
