//! What an operator can ask of a call afterwards: what was asked, judged, filled in, and what it
//! came to.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::call::CallRecord;
use crate::context::ToolContext;
use crate::output::cut;

/// How much of a result is kept.
const MAX_RESULT_BYTES: usize = 4_096;

/// How much of what the user said is kept.
const MAX_QUERY_BYTES: usize = 400;

/// One call as it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallTrace {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The beginning of what the user said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The executable skill, where one was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// The arguments as the model gave them.
    pub given: Value,
    /// The arguments as they ran: complete, and without what is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// What was wrong with them; nothing if they were valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// What the policy said, and which rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The digest of what ran or would have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How it ended.
    pub status: &'static str,
    /// The kind of error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// The beginning of what the model read.
    pub result: String,
    /// What only an operator reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long the tool ran, in milliseconds.
    pub duration_ms: u64,
}

/// Keeps traces.
///
/// A call never waits for its trace and never fails with it: a sink that cannot keep one says so by
/// its own ways.
pub trait TraceSink: Send + Sync + fmt::Debug {
    /// Keeps a trace; called when a call has ended.
    fn record(&self, trace: &CallTrace);
}

/// What is known of a call before it has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub(crate) given: Value,
    pub(crate) arguments: Option<Value>,
    pub(crate) decision: Option<String>,
}

impl Note {
    /// Returns the trace of the call with its end.
    pub(crate) fn ended(self, record: &CallRecord, context: &ToolContext) -> CallTrace {
        let is_invalid = record.error_kind == Some("invalid_arguments");
        let text = |value: &Value, field: &str| value.get(field)?.as_str().map(str::to_owned);
        let skill = self.arguments.as_ref().unwrap_or(&self.given);
        let content = &record.result.content;
        CallTrace {
            session: context.session.clone(),
            query: context
                .query
                .as_deref()
                .map(|query| cut(query, MAX_QUERY_BYTES).to_owned()),
            call_id: record.result.call_id.clone(),
            tool: record.result.name.clone(),
            skill_id: text(skill, "skill_id"),
            given: self.given,
            arguments: self.arguments,
            validation: is_invalid.then(|| content.clone()),
            decision: self.decision,
            digest: record.arguments_digest.clone(),
            status: record.result.status.as_str(),
            error: record.error_kind,
            result: cut(content, MAX_RESULT_BYTES).to_owned(),
            detail: record.detail.clone(),
            duration_ms: record.duration_ms,
        }
    }
}
