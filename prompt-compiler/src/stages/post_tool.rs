//! What the model reads behind its calls: a call that says nothing still says how it ended.

use skill_core::{CallStatus, ToolResult};

use crate::pipeline::Stage;

#[derive(Debug)]
pub(crate) struct PostTool;

impl Stage for PostTool {
    fn name(&self) -> &'static str {
        "post_tool"
    }

    fn settle(&self, result: &mut ToolResult) {
        if result.content.trim().is_empty() {
            result.content = words(result.status).to_owned();
        }
    }
}

/// Returns what the model reads of a call without any text of its own.
fn words(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Success => "(no output)",
        CallStatus::Error => "The call failed and says no more.",
        CallStatus::TimedOut => "The call ran past its deadline and was stopped.",
        CallStatus::Aborted => "The call was aborted before it ended.",
        CallStatus::Rejected => "The call was rejected. It did not run and nothing changed.",
        CallStatus::Unknown => "It is not known how the call ended. It may have taken effect.",
        CallStatus::Pending | CallStatus::AwaitingApproval | CallStatus::Running => {
            "The call has not ended yet."
        }
    }
}
