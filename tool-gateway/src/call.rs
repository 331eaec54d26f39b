//! The life of one call: its events, its record, and the log that must hold them first.

use std::fmt;

use skill_core::{StateDelta, ToolCall, ToolResult};

use crate::tool::SkillOpened;

/// One step in the life of a call, in this order; not every call takes every step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallEvent {
    /// The call was received; nothing is decided.
    Pending {
        /// The call as the model wrote it.
        call: ToolCall,
    },
    /// Somebody is about to be asked.
    Approval {
        /// The call.
        call_id: String,
        /// Exactly what would run, on one line, with everything invisible escaped.
        action: String,
        /// Why it is asked.
        reason: String,
    },
    /// The intent: every check passed and the effect is about to happen.
    Running {
        /// The call.
        call_id: String,
        /// The digest of what will run.
        arguments_digest: String,
        /// Whether anything may change; a call that only reads needs no durable intent.
        has_effect: bool,
    },
    /// The call reached its one terminal state.
    Finished {
        /// What it came to.
        record: CallRecord,
    },
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// What the model reads.
    pub result: ToolResult,
    /// The kind of an `error` or `rejected` result, as [`crate::ErrorKind::as_str`] names it.
    pub error_kind: Option<&'static str>,
    /// What an operator reads and the model does not: the deciding rule, a cause, a panic message.
    pub detail: Option<String>,
    /// The changes of session state that the tool declares.
    pub state: StateDelta,
    /// The skill that the call opened.
    pub opened: Option<SkillOpened>,
    /// How long the tool ran, in milliseconds; zero where it did not.
    pub duration_ms: u64,
    /// The digest of what ran or would have run; `None` where the arguments could not be read.
    pub arguments_digest: Option<String>,
    /// Whether policy, whitelist or a person said no.
    pub denied: bool,
}

/// Keeps the events of calls.
///
/// Returning `Ok` means the event is as durable as this log promises. The gateway relies on it: if
/// `record` fails for [`CallEvent::Running`] the call does not run. Calls that run at the same
/// time record concurrently; the events of one call arrive in order.
#[async_trait::async_trait]
pub trait CallLog: Send + Sync {
    /// Records one event.
    async fn record(&self, event: &CallEvent) -> Result<(), LogError>;
}

/// A log that keeps nothing, for programs that keep no journal.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

#[async_trait::async_trait]
impl CallLog for NoLog {
    async fn record(&self, _event: &CallEvent) -> Result<(), LogError> {
        Ok(())
    }
}

/// An event that could not be recorded.
#[derive(Debug)]
pub struct LogError {
    /// What happened.
    pub message: String,
    /// The cause.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl LogError {
    /// Returns an error without a cause.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "call event not recorded: {}", self.message)
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
