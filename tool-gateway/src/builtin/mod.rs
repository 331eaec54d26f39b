//! The tools that come with the gateway, one a file.

mod list_skills;
mod open_skill;
mod skill_text;

use std::sync::Arc;

use crate::tool::{DynTool, ToolError, erase};

/// Returns the tools that list and open the skills of a call's view.
pub fn skill_tools() -> Vec<Arc<dyn DynTool>> {
    vec![erase(open_skill::OpenSkill), erase(list_skills::ListSkills)]
}

/// Runs file work on a thread that may block; a panic there ends the call like any other.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(ToolError::failed("the work was stopped").with_source(error)),
        },
    }
}
