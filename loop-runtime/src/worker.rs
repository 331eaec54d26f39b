//! The worker: a task of its own owns the turn; the caller only receives what happens.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, RunError, TurnReport};
use crate::driver::{Driver, Start};
use crate::event::{AgentEvent, Emitter};

/// Runs a turn on a task of its own and hands its events to `sink` in order.
pub(crate) async fn run(
    agent: Arc<Agent>,
    start: Start,
    cancel: CancellationToken,
    sink: &mut (dyn FnMut(AgentEvent) + Send),
) -> Result<TurnReport, RunError> {
    // If this future is dropped, nobody waits for the turn any more: it must not go on acting.
    let cancel = cancel.child_token();
    let _stop_when_dropped = cancel.clone().drop_guard();
    let (sender, mut events) = mpsc::unbounded_channel();
    let worker = tokio::spawn(async move {
        let mut forward = move |event| {
            // The caller may be gone; the journal still gets everything.
            let _ = sender.send(event);
        };
        let emitter = Emitter::new(start.session.id().to_owned(), &mut forward);
        let driver = Driver::new(&agent, start, cancel, emitter);
        driver.run().await
    });
    while let Some(event) = events.recv().await {
        sink(event);
    }
    worker.await.map_err(RunError::Worker)
}
