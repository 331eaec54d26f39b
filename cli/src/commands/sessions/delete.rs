//! `tekne sessions delete`: sessions go, each as a whole, once the user has said so.

use clap::Args;
use loop_runtime::{Lease, SessionStore, SessionSummary, StoreError, StoreErrorKind};
use serde_json::{Value, json};

use super::{find, missing, row, unreadable};
use crate::app::Context;
use crate::approver::confirm;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::{counted, visible};
use crate::setup;

/// Arguments of `tekne sessions delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The sessions: their ids, the beginnings of them, or `last`
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Delete without asking
    #[arg(long)]
    yes: bool,
}

/// Deletes what is named; nothing, if one of them is not there or in use.
pub(super) async fn delete(context: &Context, arguments: &DeleteArgs) -> Result<Exit, CliError> {
    if !context.environment.journal().exists() {
        let first = arguments.ids.first().map(String::as_str);
        return Err(missing(first.unwrap_or_default()));
    }
    let store = setup::journal(context)?;
    let sessions = named(&store, &arguments.ids).await?;
    let _leases = leases(&store, &sessions).await?;
    if !may_delete(context, arguments, &sessions)? {
        return Err(CliError::new(
            Exit::Approval,
            "approval_needed",
            format!("{} not deleted", counted(sessions.len(), "session")),
        )
        .with_hint("give `--yes` to delete without being asked"));
    }
    for session in &sessions {
        let id = &session.header.id;
        store.delete(id).await.map_err(|error| unreadable(&error))?;
        if !context.output.is_json() {
            let events = counted(
                usize::try_from(session.events).unwrap_or(usize::MAX),
                "event",
            );
            context
                .output
                .talk(&format!("deleted {} with {events}", visible(id)));
        }
    }
    if context.output.is_json() {
        let deleted: Vec<Value> = sessions
            .iter()
            .map(|session| json!({"id": session.header.id, "events": session.events}))
            .collect();
        context
            .output
            .json_line(&json!({"v": 1, "deleted": deleted}))?;
    }
    Ok(Exit::Done)
}

/// Returns the sessions that were named, each once.
async fn named(store: &dyn SessionStore, ids: &[String]) -> Result<Vec<SessionSummary>, CliError> {
    let mut sessions: Vec<SessionSummary> = Vec::new();
    for wanted in ids {
        let found = find(store, wanted).await?;
        if !sessions.contains(&found) {
            sessions.push(found);
        }
    }
    Ok(sessions)
}

/// Takes the right to write to all of them, so that none is in use while the user decides.
async fn leases(
    store: &dyn SessionStore,
    sessions: &[SessionSummary],
) -> Result<Vec<Lease>, CliError> {
    let mut leases = Vec::new();
    for session in sessions {
        let lease = store.lease(&session.header.id).await;
        leases.push(lease.map_err(|error| refused(&error))?);
    }
    Ok(leases)
}

fn may_delete(
    context: &Context,
    arguments: &DeleteArgs,
    sessions: &[SessionSummary],
) -> Result<bool, CliError> {
    if arguments.yes {
        return Ok(true);
    }
    if !context.environment.is_interactive(context.output.is_json()) {
        return Ok(false);
    }
    let rows: Vec<Vec<String>> = sessions.iter().map(row).collect();
    context.output.data(&table(&rows))?;
    let count = counted(sessions.len(), "session");
    Ok(confirm(&format!("delete {count} for good?")))
}

fn refused(error: &StoreError) -> CliError {
    match error.kind {
        StoreErrorKind::Busy => CliError::new(Exit::Failed, "session_busy", error.to_string())
            .with_hint("wait until it has ended; nothing was deleted"),
        _ => unreadable(error),
    }
}
