//! `tekne trace`: the calls that models made, and how each of them went.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::{local_time, one_line, visible};
use crate::setup;

/// Subcommands of `tekne trace`.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// List calls, the last one first
    List(ListArgs),
    /// Show everything that is known of a call
    Show(ShowArgs),
}

/// Arguments of `tekne trace list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only calls of this tool or executable skill
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls of the session whose id begins like this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// How many to list
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Arguments of `tekne trace show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The trace's id, the end of it, or `last`
    id: String,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &TraceCommand) -> Result<Exit, CliError> {
    match command {
        TraceCommand::List(arguments) => list(context, arguments)?,
        TraceCommand::Show(arguments) => show(context, &arguments.id)?,
    }
    Ok(Exit::Done)
}

fn list(context: &Context, arguments: &ListArgs) -> Result<(), CliError> {
    let wanted = |trace: &Value| {
        let tool = arguments
            .tool
            .as_deref()
            .is_none_or(|tool| text(trace, "tool") == tool || text(trace, "skill_id") == tool);
        let session = arguments.session.as_deref();
        tool && session.is_none_or(|session| text(trace, "session").starts_with(session))
    };
    let traces: Vec<Value> = setup::traces(context)
        .into_iter()
        .filter(wanted)
        .take(arguments.limit as usize)
        .collect();
    if context.output.is_json() {
        return context.output.json_line(&json!({"v": 1, "traces": traces}));
    }
    if traces.is_empty() {
        context
            .output
            .notice("no calls yet; a run in which a model uses tools leaves some");
    }
    let rows: Vec<Vec<String>> = traces.iter().map(row).collect();
    context.output.data(&table(&rows))
}

fn row(trace: &Value) -> Vec<String> {
    let id = text(trace, "id");
    let name = match text(trace, "skill_id") {
        "" => text(trace, "tool"),
        skill => skill,
    };
    vec![
        visible(id.get(id.len().saturating_sub(8)..).unwrap_or(id)),
        local_time(
            trace
                .get("at_ms")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
        ),
        one_line(name, 32),
        visible(text(trace, "status")),
        format!(
            "{} ms",
            trace
                .get("duration_ms")
                .and_then(Value::as_u64)
                .unwrap_or(0)
        ),
        one_line(text(trace, "query"), 48),
    ]
}

fn show(context: &Context, id: &str) -> Result<(), CliError> {
    let mut found = setup::traces(context)
        .into_iter()
        .filter(|trace| id == "last" || text(trace, "id").ends_with(id));
    let Some(trace) = found.next().filter(|_| !id.is_empty()) else {
        return Err(
            CliError::usage(format!("no trace whose id ends with `{id}`"))
                .with_code("trace_not_found")
                .with_hint("`tekne trace list` shows the calls there are"),
        );
    };
    if context.output.is_json() {
        return context.output.json_line(&trace);
    }
    let fields = trace.as_object().into_iter().flatten();
    let rows: Vec<Vec<String>> = fields
        .filter(|(name, _)| name.as_str() != "v")
        .map(|(name, value)| {
            let shown = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            vec![name.clone(), visible(&shown)]
        })
        .collect();
    context.output.data(&table(&rows))
}

fn text<'t>(trace: &'t Value, field: &str) -> &'t str {
    trace.get(field).and_then(Value::as_str).unwrap_or_default()
}
