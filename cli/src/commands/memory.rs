//! `tekne memory`: the facts that a session keeps, for the user to see and take out.

use clap::{Args, Subcommand};
use loop_runtime::{Projection, SessionStore, facts, forget_in};
use serde_json::{Value, json};
use skill_core::Clock as _;

use crate::app::Context;
use crate::commands::sessions;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::one_line;
use crate::setup;
use crate::system::SystemClock;

/// Subcommands of `tekne memory`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List the facts of a session
    List(ListArgs),
    /// Take a fact out of a session
    Remove(RemoveArgs),
}

/// Arguments of `tekne memory list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The session: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID", default_value = "last")]
    session: String,
}

/// Arguments of `tekne memory remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The name of the fact
    key: String,
    /// The session: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID", default_value = "last")]
    session: String,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &MemoryCommand) -> Result<Exit, CliError> {
    super::runtime()?.block_on(async {
        match command {
            MemoryCommand::List(arguments) => list(context, arguments).await,
            MemoryCommand::Remove(arguments) => remove(context, arguments).await,
        }
    })?;
    Ok(Exit::Done)
}

async fn list(context: &Context, arguments: &ListArgs) -> Result<(), CliError> {
    let store = sessions::open(context)?;
    let store = store.ok_or_else(|| sessions::missing(&arguments.session))?;
    let id = sessions::find(&*store, &arguments.session).await?.header.id;
    let record = store.load(&id).await;
    let record = record.map_err(|error| sessions::unreadable(&error))?;
    let projection = Projection::of(&record.entries);
    let facts = facts(&projection.state);
    if context.output.is_json() {
        let facts: Vec<Value> = facts
            .iter()
            .map(|(key, value)| json!({"key": key, "value": value}))
            .collect();
        return context
            .output
            .json_line(&json!({"v": 1, "session": id, "facts": facts}));
    }
    if facts.is_empty() {
        context
            .output
            .notice("nothing is remembered in this session");
    }
    let rows: Vec<Vec<String>> = facts
        .iter()
        .map(|(key, value)| vec![one_line(key, 64), one_line(value, 400)])
        .collect();
    context.output.data(&table(&rows))
}

async fn remove(context: &Context, arguments: &RemoveArgs) -> Result<(), CliError> {
    if !context.environment.journal().exists() {
        return Err(sessions::missing(&arguments.session));
    }
    let store = setup::journal(context)?;
    let id = sessions::find(&store, &arguments.session).await?.header.id;
    let now = SystemClock::new().now_ms();
    let removed = forget_in(&store as &dyn SessionStore, &id, &arguments.key, now)
        .await
        .map_err(|error| sessions::unreadable(&error))?;
    if !removed {
        return Err(
            CliError::usage(format!("nothing is remembered as `{}`", arguments.key))
                .with_code("fact_not_found")
                .with_hint("`tekne memory list` shows what is"),
        );
    }
    if context.output.is_json() {
        let removed = &arguments.key;
        return context
            .output
            .json_line(&json!({"v": 1, "session": id, "removed": removed}));
    }
    context
        .output
        .notice(&format!("forgotten: {}", arguments.key));
    Ok(())
}
