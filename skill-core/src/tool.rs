//! Tools as the model sees them: definitions, calls, results, and the state a call changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name the model calls.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// A JSON Schema object for the arguments.
    pub parameters: Value,
}

/// A call the model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that pairs call and result; unique within a session.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, possibly malformed.
    pub arguments: String,
}

/// Where a call stands in its life: `pending → awaiting_approval? → running →` one terminal state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Received, not decided yet.
    Pending,
    /// Waits for a person's decision.
    AwaitingApproval,
    /// Runs.
    Running,
    /// Ended well.
    Success,
    /// Ended with an error the model may react to.
    Error,
    /// Ran past its deadline and was stopped.
    TimedOut,
    /// Cancelled before or while it ran.
    Aborted,
    /// Refused before it ran; no effect happened.
    Rejected,
    /// Started, but how it ended was not recorded; the effect may have happened.
    Unknown,
}

impl CallStatus {
    /// Tells whether no further state follows.
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Pending | Self::AwaitingApproval | Self::Running)
    }

    /// Returns the name used in events and in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Running => "running",
            Self::Success => "success",
            Self::Error => "error",
            Self::TimedOut => "timed_out",
            Self::Aborted => "aborted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// What a call came to, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The name of the tool called.
    pub name: String,
    /// The terminal state.
    pub status: CallStatus,
    /// The text for the model.
    pub content: String,
}

impl ToolResult {
    /// Tells whether the model should read this as a failure.
    pub fn is_error(&self) -> bool {
        self.status != CallStatus::Success
    }
}

/// Changes of a session's typed state, as a tool declares them and the runtime applies them.
///
/// Keys are those of [`crate::state`]; an empty value is a tombstone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateDelta(pub BTreeMap<String, String>);

impl StateDelta {
    /// Tells whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets `key` to `value`.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }
}
