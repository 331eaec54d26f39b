//! The fast path: one provider call on the caller's task, no worker, no channel, no tools.

use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, TurnReport, TurnRequest};
use crate::event::Emitter;
use crate::session::Session;

/// Runs a turn right here; the journal is written once, after the last delta.
pub(crate) async fn run(
    agent: &Agent,
    session: Session,
    request: TurnRequest,
    cancel: CancellationToken,
    emitter: Emitter<'_>,
) -> TurnReport {
    agent.drive(session, request, cancel, emitter).await
}
