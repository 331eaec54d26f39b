//! The bridge from the gateway's call events to journal and caller: recorded first, then shown.

use serde_json::Value;
use tokio::sync::Mutex;
use tool_gateway::{CallEvent, CallLog, CallRecord, LogError};

use crate::event::{Emitter, EventKind};
use crate::journal::{JournalEvent, OpenedRecord};
use crate::session::Session;

type Sinks<'s, 'e> = (&'s mut Session, &'s mut Emitter<'e>);

/// Writes call events to the session and shows them.
pub(crate) struct DriverLog<'s, 'e> {
    sinks: Mutex<Sinks<'s, 'e>>,
}

impl<'s, 'e> DriverLog<'s, 'e> {
    pub(crate) fn new(sinks: Mutex<Sinks<'s, 'e>>) -> Self {
        Self { sinks }
    }
}

#[async_trait::async_trait]
impl CallLog for DriverLog<'_, '_> {
    async fn record(&self, event: &CallEvent) -> Result<(), LogError> {
        let mut sinks = self.sinks.lock().await;
        let (session, emitter) = &mut *sinks;
        match event {
            CallEvent::Pending { call } => emitter.emit(EventKind::ToolPending {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: serde_json::from_str(&call.arguments)
                    .unwrap_or_else(|_| Value::String(call.arguments.clone())),
            }),
            CallEvent::Approval {
                call_id,
                action,
                reason,
            } => {
                session.push(JournalEvent::ApprovalAsked {
                    call_id: call_id.clone(),
                    action: action.clone(),
                    reason: reason.clone(),
                });
                // Whoever is asked may answer after this process has died: the question must be on
                // record, so that it can be asked afresh.
                commit(session).await?;
                emitter.emit(EventKind::ToolApproval {
                    id: call_id.clone(),
                    action: action.clone(),
                    reason: reason.clone(),
                });
            }
            CallEvent::Running {
                call_id,
                arguments_digest,
                has_effect,
            } => {
                session.push(JournalEvent::ToolStarted {
                    call_id: call_id.clone(),
                    arguments_digest: arguments_digest.clone(),
                    has_effect: *has_effect,
                });
                // An intent protects an effect from happening twice; reading has none.
                if *has_effect {
                    commit(session).await?;
                }
                emitter.emit(EventKind::ToolRunning {
                    id: call_id.clone(),
                });
            }
            CallEvent::Finished { record } => finished(session, emitter, record).await?,
            // A newer gateway's events carry nothing that a result would not repeat.
            _ => {}
        }
        Ok(())
    }
}

async fn finished(
    session: &mut Session,
    emitter: &mut Emitter<'_>,
    record: &CallRecord,
) -> Result<(), LogError> {
    session.push(JournalEvent::ToolFinished {
        result: record.result.clone(),
        state: record.state.clone(),
        opened: record.opened.as_ref().map(OpenedRecord::from),
        duration_ms: record.duration_ms,
        denied: record.denied,
    });
    commit(session)
        .await
        .map_err(|error| unrecorded(record, error))?;
    emitter.emit(EventKind::ToolFinished {
        id: record.result.call_id.clone(),
        status: record.result.status.as_str().to_owned(),
        content: record.result.content.clone(),
        is_error: record.result.is_error(),
        duration_ms: record.duration_ms,
    });
    if let Some(opened) = &record.opened {
        emitter.emit(EventKind::SkillOpened {
            id: opened.id.clone(),
            version: opened.version.clone(),
            digest: opened.digest.clone(),
            via: record.result.name.clone(),
        });
    }
    Ok(())
}

/// Names the call that ran and whose result is not on record: a later run calls it unknown.
fn unrecorded(record: &CallRecord, error: LogError) -> LogError {
    let (id, name) = (&record.result.call_id, &record.result.name);
    LogError {
        message: format!(
            "call `{id}` of `{name}` has run, but its result is not on record: {}",
            error.message
        ),
        ..error
    }
}

async fn commit(session: &mut Session) -> Result<(), LogError> {
    session.commit().await.map_err(|error| LogError {
        message: error.to_string(),
        source: Some(Box::new(error)),
    })
}
