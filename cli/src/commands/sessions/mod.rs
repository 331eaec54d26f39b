//! `tekne sessions`: what there is, and what happened in one; taking one elsewhere, and out.

mod delete;
mod export;

use std::fmt::Write as _;
use std::sync::Arc;

use clap::{Args, Subcommand};
use loop_runtime::{
    JournalEntry, JournalEvent, Projection, SessionRecord, SessionStore, SessionSummary,
    SqliteStore, StoreError, StoreErrorKind,
};
use serde_json::{Value, json};
use skill_core::ContentBlock;

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::{local_time, one_line, visible};

/// Stands for the session used last.
const LAST: &str = "last";

/// Subcommands of `tekne sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the last used first
    List(ListArgs),
    /// Show what happened in a session
    Show(ShowArgs),
    /// Write a session as JSON Lines, one event a line
    Export(export::ExportArgs),
    /// Delete sessions with everything that was recorded of them
    Delete(delete::DeleteArgs),
}

/// Arguments of `tekne sessions list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// How many to list
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Arguments of `tekne sessions show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id, the beginning of it, or `last`
    id: String,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &SessionsCommand) -> Result<Exit, CliError> {
    super::runtime()?.block_on(async {
        match command {
            SessionsCommand::List(arguments) => {
                list(context, open(context)?, arguments.limit as usize).await?;
            }
            SessionsCommand::Show(arguments) => {
                show(context, open(context)?, &arguments.id).await?;
            }
            SessionsCommand::Export(arguments) => export::export(context, arguments).await?,
            SessionsCommand::Delete(arguments) => return delete::delete(context, arguments).await,
        }
        Ok(Exit::Done)
    })
}

/// Opens the journal for reading; a machine that has none has no sessions.
pub(crate) fn open(context: &Context) -> Result<Option<Arc<dyn SessionStore>>, CliError> {
    let path = context.environment.journal();
    if !path.exists() {
        return Ok(None);
    }
    let store = SqliteStore::open_read_only(&path).map_err(|error| unreadable(&error))?;
    Ok(Some(Arc::new(store)))
}

/// Returns the id of the session that `wanted` means, and says so if it was begun elsewhere.
pub(crate) async fn resolve(
    context: &Context,
    store: &dyn SessionStore,
    wanted: &str,
) -> Result<String, CliError> {
    let session = find(store, wanted).await?;
    let here = context.environment.cwd.display().to_string();
    if session.header.workspace != here {
        let begun = session.header.workspace;
        context.output.notice(&format!(
            "the session was begun in {begun}; it goes on in {here}"
        ));
    }
    Ok(session.header.id)
}

/// Finds a session by its id, by the beginning of its id, or the one used last.
pub(crate) async fn find(
    store: &dyn SessionStore,
    wanted: &str,
) -> Result<SessionSummary, CliError> {
    let sessions = store
        .list(usize::MAX)
        .await
        .map_err(|error| unreadable(&error))?;
    if wanted == LAST {
        let last = sessions.into_iter().next();
        return last.ok_or_else(|| missing(wanted));
    }
    let mut found = sessions
        .into_iter()
        .filter(|one| one.header.id.starts_with(wanted));
    match (found.next(), found.next()) {
        (Some(session), None) if !wanted.is_empty() => Ok(session),
        (Some(_), Some(_)) => Err(CliError::usage(format!(
            "more than one session begins with `{wanted}`"
        ))
        .with_code("session_ambiguous")
        .with_hint("give more of the id")),
        _ => Err(missing(wanted)),
    }
}

/// Returns the error for a session that is not there.
pub(crate) fn missing(wanted: &str) -> CliError {
    unreadable(&StoreError::not_found(wanted))
}

pub(crate) fn unreadable(error: &StoreError) -> CliError {
    match error.kind {
        StoreErrorKind::NotFound => CliError::usage(error.to_string())
            .with_code("session_not_found")
            .with_hint("`tekne sessions list` shows the sessions there are"),
        _ => CliError::usage(error.to_string())
            .with_code("journal")
            .with_hint("`tekne doctor` says what is wrong with the data folder"),
    }
}

async fn list(
    context: &Context,
    store: Option<Arc<dyn SessionStore>>,
    limit: usize,
) -> Result<(), CliError> {
    let sessions = match store {
        Some(store) => store
            .list(limit)
            .await
            .map_err(|error| unreadable(&error))?,
        None => Vec::new(),
    };
    if context.output.is_json() {
        return context
            .output
            .json_line(&json!({"v": 1, "sessions": sessions}));
    }
    if sessions.is_empty() {
        context
            .output
            .notice("no sessions yet; `tekne run` and `tekne ask` begin one");
    }
    let rows: Vec<Vec<String>> = sessions.iter().map(row).collect();
    context.output.data(&table(&rows))
}

fn row(session: &SessionSummary) -> Vec<String> {
    vec![
        visible(&session.header.id),
        local_time(session.updated_ms),
        one_line(&session.header.assistant, 24),
        one_line(&session.header.workspace, 32),
        one_line(&session.header.title, 60),
    ]
}

async fn show(
    context: &Context,
    store: Option<Arc<dyn SessionStore>>,
    id: &str,
) -> Result<(), CliError> {
    let store = store.ok_or_else(|| missing(id))?;
    let id = find(&*store, id).await?.header.id;
    let record = store.load(&id).await.map_err(|error| unreadable(&error))?;
    if context.output.is_json() {
        return context.output.json_line(&document(&record));
    }
    let mut text = format!(
        "session {}\nbegun {} in {} by {}\n",
        record.header.id,
        local_time(record.header.created_ms),
        record.header.workspace,
        record.header.assistant
    );
    record
        .entries
        .iter()
        .for_each(|entry| write_entry(&mut text, entry));
    if let Some(damage) = &record.damage {
        text.push_str(&format!(
            "= damaged: {damage}; nothing after it can be read\n"
        ));
    } else if Projection::of(&record.entries).open_turn.is_some() {
        text.push_str("= the turn has not ended: it runs, or the program was stopped\n");
    }
    context.output.data(&visible(&text))
}

fn document(record: &SessionRecord) -> Value {
    json!({
        "v": 1, "session": record.header, "events": record.entries, "damage": record.damage,
    })
}

fn write_entry(text: &mut String, entry: &JournalEntry) {
    let line = match &entry.event {
        JournalEvent::TurnStarted {
            profile,
            model,
            input,
            ..
        } => {
            format!("\n# {profile} with {model}\n> {}", input.joined_text())
        }
        JournalEvent::ModelReplied {
            step,
            message,
            usage,
            stop,
            ..
        } => {
            let mut said = format!("[step {step}: {} in, {} out]", usage.input, usage.output);
            if stop.is_none() {
                said.push_str(" cut");
            }
            message
                .content
                .iter()
                .for_each(|block| write_block(&mut said, block));
            said
        }
        JournalEvent::ApprovalAsked { action, reason, .. } => format!("asked: {action} ({reason})"),
        JournalEvent::ToolFinished {
            result,
            duration_ms,
            ..
        } => format!(
            "{} {} {} ({duration_ms} ms)\n{}",
            result.name,
            result.call_id,
            result.status.as_str(),
            indented(&result.content)
        ),
        JournalEvent::Unknown => "an event that a later version wrote".to_owned(),
        JournalEvent::Compacted { summary, by, .. } => {
            format!("summed up by {by}:\n{}", indented(summary))
        }
        JournalEvent::Advised { text, .. } => format!("told the model: {text}"),
        JournalEvent::StateChanged { reason, .. } => format!("state changed: {reason}"),
        JournalEvent::TurnFinished {
            outcome,
            usage,
            denied,
            failure,
        } => {
            let why = failure
                .as_ref()
                .map(|failure| format!(": {failure}"))
                .unwrap_or_default();
            format!(
                "= {outcome}{why}, {} in, {} out, {denied} denied",
                usage.input, usage.output
            )
        }
        // Intents are told by their results.
        _ => return,
    };
    let _ = writeln!(text, "{line}");
}

fn write_block(said: &mut String, block: &ContentBlock) {
    let _ = match block {
        ContentBlock::Text { text } => write!(said, "\n{text}"),
        ContentBlock::ToolCall(call) => {
            write!(said, "\ncalls {} {} {}", call.name, call.id, call.arguments)
        }
        _ => Ok(()),
    };
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("  {line}\n"))
        .collect::<String>()
        .trim_end()
        .to_owned()
}
