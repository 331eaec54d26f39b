//! One call while it runs: on a task of its own, until it ends, is cancelled, or its time is up.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::context::ToolContext;
use crate::tool::{DynTool, ToolError, ToolOutput};

/// How long a stopped task gets to drop what it holds before its call is reported.
const GRACE: Duration = Duration::from_millis(10);

/// A call that runs.
pub(crate) struct Running {
    task: AbortOnDropHandle<Result<ToolOutput, ToolError>>,
    cancel: CancellationToken,
    started: Instant,
    limit: Duration,
    wind_down: Duration,
}

/// How a call ended.
pub(crate) enum Outcome {
    Returned(Result<ToolOutput, ToolError>),
    Panicked(String),
    TimedOut(Duration),
    Cancelled,
}

impl Running {
    pub(crate) fn start(
        tool: Arc<dyn DynTool>,
        context: ToolContext,
        arguments: Value,
        limit: Duration,
    ) -> Self {
        let cancel = context.cancel.clone();
        let wind_down = tool.wind_down();
        let task = tokio::spawn(async move { tool.invoke(&context, arguments).await });
        Self {
            task: AbortOnDropHandle::new(task),
            cancel,
            started: Instant::now(),
            limit,
            wind_down,
        }
    }

    /// Waits for the end; returns it with the milliseconds that the call ran.
    ///
    /// What the task brings after that is discarded.
    pub(crate) async fn end(mut self) -> (Outcome, u64) {
        let outcome = tokio::select! {
            biased;
            joined = &mut self.task => match Outcome::from(joined) {
                // It saw the cancellation before we did, and ended by itself.
                Outcome::Returned(Err(_))
                    if self.cancel.is_cancelled() && !self.wind_down.is_zero() =>
                {
                    Outcome::Cancelled
                }
                outcome => outcome,
            },
            () = self.cancel.cancelled() => Outcome::Cancelled,
            () = tokio::time::sleep_until(self.started + self.limit) => Outcome::TimedOut(self.limit),
        };
        let duration = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if matches!(outcome, Outcome::Cancelled | Outcome::TimedOut(_)) {
            self.cancel.cancel();
            if !self.wind_down.is_zero() && !self.task.is_finished() {
                let _ = tokio::time::timeout(self.wind_down, &mut self.task).await;
            }
            self.task.abort();
            if !self.task.is_finished() {
                let _ = tokio::time::timeout(GRACE, &mut self.task).await;
            }
        }
        (outcome, duration)
    }
}

impl From<Result<Result<ToolOutput, ToolError>, JoinError>> for Outcome {
    fn from(joined: Result<Result<ToolOutput, ToolError>, JoinError>) -> Self {
        match joined {
            Ok(returned) => Self::Returned(returned),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => Self::Panicked(panic_text(&*panic)),
                Err(_) => Self::Cancelled,
            },
        }
    }
}

/// Returns the text of a panic where it has one.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without text".to_owned())
}
