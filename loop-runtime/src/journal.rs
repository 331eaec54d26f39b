//! The journal: what happened in a session, append-only. A request is a projection of it.
//!
//! An effect has three records: its intent ([`JournalEvent::ToolStarted`]), the effect itself, and
//! its result ([`JournalEvent::ToolFinished`]). An intent without a result means that nobody knows.

use serde::{Deserialize, Serialize};
use skill_core::{Message, StateDelta, StopReason, ToolResult, Usage};
use tool_gateway::SkillOpened;

use crate::turn::TurnOutcome;

/// The version of the journal's events.
pub const JOURNAL_VERSION: u32 = 1;

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum JournalEvent {
    /// A user's input began a turn.
    TurnStarted {
        /// The turn's id.
        turn: String,
        /// The profile.
        profile: String,
        /// The model.
        model: String,
        /// The agent whose skills the state keys name.
        agent: String,
        /// How many skills may be open at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_loaded: Option<usize>,
        /// The input.
        input: Message,
    },
    /// A request is about to be sent.
    ModelRequested {
        /// The step.
        step: u32,
        /// The tokens of the request, as compiled.
        tokens: u64,
        /// The digest of skills, profile, tools and model.
        environment: String,
    },
    /// The model answered.
    ModelReplied {
        /// The step.
        step: u32,
        /// What it said, as far as it came.
        message: Message,
        /// Why it stopped; absent when the stream was cut.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// What it cost.
        usage: Usage,
    },
    /// A call needed a decision.
    ApprovalAsked {
        /// The call.
        call_id: String,
        /// Exactly what would be done.
        action: String,
        /// Why it has to be asked.
        reason: String,
    },
    /// A call is about to have its effect.
    ToolStarted {
        /// The call.
        call_id: String,
        /// The digest of exactly what runs.
        arguments_digest: String,
        /// Whether anything may change; a journal that does not say is taken at its worst.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        has_effect: bool,
    },
    /// A call ended.
    ToolFinished {
        /// What the model reads.
        result: ToolResult,
        /// The state it changes.
        #[serde(default, skip_serializing_if = "StateDelta::is_empty")]
        state: StateDelta,
        /// The skill it opened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opened: Option<OpenedRecord>,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// Whether it was denied.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        denied: bool,
    },
    /// The runtime added a word to the model behind the result of a call.
    Advised {
        /// The call.
        call_id: String,
        /// What it was told.
        text: String,
    },
    /// State changed by the runtime itself: skills were declared, expired or dropped.
    StateChanged {
        /// The changes.
        delta: StateDelta,
        /// Why.
        reason: String,
        /// The skills it opened, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opened: Vec<OpenedRecord>,
    },
    /// The oldest messages were summed up; requests carry the summary in their place.
    Compacted {
        /// The number of messages, from the oldest, that it stands for.
        upto: usize,
        /// The summary, which holds earlier ones, too.
        summary: String,
        /// Who wrote it: a model, or `excerpts`.
        by: String,
        /// The tokens of the request before.
        before: u64,
        /// The tokens of the request after, about.
        after: u64,
        /// What writing it cost.
        #[serde(default)]
        usage: Usage,
    },
    /// The turn ended.
    TurnFinished {
        /// Why.
        outcome: TurnOutcome,
        /// What it cost.
        usage: Usage,
        /// How many calls were denied.
        denied: u32,
        /// What went wrong, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// An event of a later version. It is never written again, so nothing of it is lost.
    #[serde(other)]
    Unknown,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// A skill that a call opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedRecord {
    /// Its id.
    pub id: String,
    /// Its version, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of its content.
    pub digest: String,
}

impl From<&SkillOpened> for OpenedRecord {
    fn from(opened: &SkillOpened) -> Self {
        Self {
            id: opened.id.clone(),
            version: opened.version.clone(),
            digest: opened.digest.clone(),
        }
    }
}

/// An event with its place and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its position in the session, from 1 without gaps.
    pub seq: u64,
    /// When it was recorded, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What happened.
    pub event: JournalEvent,
}
