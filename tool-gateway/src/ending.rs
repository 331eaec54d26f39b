//! How calls end: the text for the model, the text for the operator, the record of both.

use skill_core::{CallStatus, StateDelta, ToolCall, ToolResult};

use crate::call::CallRecord;
use crate::escape::escape_line;
use crate::policy::Decision;
use crate::running::Outcome;
use crate::tool::{ErrorKind, ToolError, ToolOutput};

/// How a call ended, before it becomes a record.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) status: CallStatus,
    pub(crate) kind: Option<ErrorKind>,
    pub(crate) content: String,
    pub(crate) detail: Option<String>,
}

impl Ending {
    /// An error that the model may react to.
    pub(crate) fn error(kind: ErrorKind, content: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Error,
            kind: Some(kind),
            content: content.into(),
            detail: None,
        }
    }

    /// A refusal before anything ran.
    pub(crate) fn rejected(kind: ErrorKind, content: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Rejected,
            ..Self::error(kind, content)
        }
    }

    /// An ending that is no error of the tool: aborted, timed out, waiting.
    pub(crate) fn of(status: CallStatus, content: impl Into<String>) -> Self {
        Self {
            status,
            kind: None,
            content: content.into(),
            detail: None,
        }
    }

    /// Adds what only an operator reads.
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn into_record(
        self,
        call: &ToolCall,
        arguments_digest: Option<String>,
    ) -> CallRecord {
        CallRecord {
            result: ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                status: self.status,
                content: self.content,
            },
            error_kind: self.kind.map(ErrorKind::as_str),
            detail: self.detail,
            state: StateDelta::default(),
            opened: None,
            duration_ms: 0,
            arguments_digest,
            denied: self.kind == Some(ErrorKind::Denied),
        }
    }
}

/// Turns how a call that ran ended into its record.
pub(crate) fn ended(
    call: &ToolCall,
    outcome: Outcome,
    digest: String,
    has_effect: bool,
) -> CallRecord {
    let name = &call.name;
    let left = if has_effect {
        "part of its effect may have happened"
    } else {
        "it only reads, so nothing changed"
    };
    let (ending, output) = match outcome {
        Outcome::Returned(Ok(output)) => (
            Ending::of(CallStatus::Success, output.content),
            ToolOutput {
                content: String::new(),
                ..output
            },
        ),
        Outcome::Returned(Err(error)) => (failed(error), ToolOutput::default()),
        Outcome::Panicked(text) => (panicked(name, text), ToolOutput::default()),
        Outcome::TimedOut(limit) => {
            let text = format!("`{name}` did not finish within {limit:?} and was stopped; {left}");
            (
                Ending::of(CallStatus::TimedOut, text),
                ToolOutput::default(),
            )
        }
        Outcome::Cancelled => {
            let text = format!("`{name}` was cancelled while it ran; {left}");
            (Ending::of(CallStatus::Aborted, text), ToolOutput::default())
        }
    };
    let mut record = ending.into_record(call, Some(digest));
    record.state = output.state;
    record.opened = output.opened;
    record
}

/// The tool could not do it.
pub(crate) fn failed(error: ToolError) -> Ending {
    let detail = error.operator_text();
    let status = match error.kind {
        ErrorKind::Denied => CallStatus::Rejected,
        ErrorKind::TimedOut => CallStatus::TimedOut,
        _ => CallStatus::Error,
    };
    Ending {
        status,
        kind: Some(error.kind),
        content: error.message,
        detail,
    }
}

/// The tool panicked.
pub(crate) fn panicked(name: &str, text: String) -> Ending {
    let message =
        format!("`{name}` failed inside; the fault is the tool's, not that of the arguments");
    Ending::error(ErrorKind::Panic, message).with_detail(text)
}

/// The reply asks for more calls than run at once.
pub(crate) fn beyond(call: &ToolCall, calls: usize, limit: usize) -> Ending {
    let text = format!(
        "`{}` did not run: of {calls} calls in one reply only the first {limit} are taken; call it again once these are done",
        call.name
    );
    Ending::rejected(ErrorKind::RateLimited, text)
}

/// The call was cancelled before it ran.
pub(crate) fn aborted_before() -> Ending {
    Ending::of(
        CallStatus::Aborted,
        "cancelled before it ran; nothing happened",
    )
}

/// The policy says no.
pub(crate) fn denied(call: &ToolCall, decision: &Decision) -> Ending {
    let what = decision
        .deciding()
        .map(|judgement| escape_line(&judgement.access.to_string()))
        .unwrap_or_default();
    let why = if decision.wants_asking() {
        "needs an approval, and nobody can be asked"
    } else {
        "is not allowed"
    };
    let text = format!(
        "`{}` was denied: {what} {why}. It did not run and nothing changed; go on without it.",
        call.name
    );
    Ending::rejected(ErrorKind::Denied, text).with_detail(decision.explain())
}

/// Whoever was asked says no.
pub(crate) fn refused(call: &ToolCall, reason: &str) -> Ending {
    let text = format!(
        "`{}` was denied: {}. It did not run and nothing changed; go on without it.",
        call.name,
        escape_line(reason.trim_end_matches('.'))
    );
    Ending::rejected(ErrorKind::Denied, text)
}
