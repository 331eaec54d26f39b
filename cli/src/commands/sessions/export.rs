//! `tekne sessions export`: a session as JSON Lines, for programs and for keeping.

use std::path::PathBuf;

use clap::Args;
use loop_runtime::{JournalEntry, JournalEvent};
use serde_json::json;

use super::{find, missing, open, unreadable};
use crate::app::Context;
use crate::commands::write_out;
use crate::error::CliError;
use crate::render::terminal::{counted, visible};

/// Arguments of `tekne sessions export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session's id, the beginning of it, or `last`
    id: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the header and then every event, as far as the session can be read.
pub(super) async fn export(context: &Context, arguments: &ExportArgs) -> Result<(), CliError> {
    let store = open(context)?.ok_or_else(|| missing(&arguments.id))?;
    let id = find(&*store, &arguments.id).await?.header.id;
    let record = store.load(&id).await.map_err(|error| unreadable(&error))?;
    let text = record.to_json_lines().map_err(|error| unreadable(&error))?;
    if let Some(damage) = &record.damage {
        let damage = visible(damage);
        context
            .output
            .notice(&format!("{damage}; nothing after it is exported"));
    }
    let later = |entry: &&JournalEntry| entry.event == JournalEvent::Unknown;
    match record.entries.iter().filter(later).count() {
        0 => {}
        count => context.output.notice(&format!(
            "{} of a later version, exported without what it holds",
            counted(count, "event")
        )),
    }
    let Some(out) = &arguments.out else {
        return context.output.data(&text);
    };
    let path = write_out(context, out, &text, ("the session", "export"))?;
    let count = record.entries.len();
    if context.output.is_json() {
        let path = path.display().to_string();
        return context
            .output
            .json_line(&json!({"v": 1, "session": id, "events": count, "path": path}));
    }
    let (events, shown) = (counted(count, "event"), context.environment.shown(&path));
    context.output.talk(&format!("{events} written to {shown}"));
    Ok(())
}
