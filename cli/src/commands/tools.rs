//! `tekne tools`: the tools that a model gets, and what would be decided about a call.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use skill_core::{CallStatus, ToolCall};
use tool_gateway::{Decision, Effect, Gateway, NoLog, ToolContext};

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::render::terminal::{one_line, visible};
use crate::setup::{self, Wanted};

/// Subcommands of `tekne tools`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that a model may call
    List,
    /// Call a tool as a model would, or say what would be decided
    Call(CallArgs),
}

/// Arguments of `tekne tools call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool
    name: String,
    /// Its arguments, as a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    /// Run nothing: say what would be decided, and by which rule
    #[arg(long)]
    explain: bool,
    /// Allow this for this call, such as `write(notes/**)`
    #[arg(long = "yes", value_name = "RULE")]
    rules: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &ToolsCommand) -> Result<Exit, CliError> {
    let wanted = match command {
        ToolsCommand::List => Wanted::default(),
        ToolsCommand::Call(arguments) => Wanted {
            rules: arguments.rules.clone(),
            ..Wanted::default()
        },
    };
    super::runtime()?.block_on(async {
        let loaded = setup::configuration_for(context, &wanted)?;
        setup::tell_notices(context, &loaded);
        let (gateway, tools) = setup::tools(context, &loaded, &wanted)?;
        match command {
            ToolsCommand::List => list(context, &gateway),
            ToolsCommand::Call(arguments) => call(context, &gateway, &tools, arguments).await,
        }
    })
}

fn list(context: &Context, gateway: &Gateway) -> Result<Exit, CliError> {
    let tools = gateway.definitions();
    if context.output.is_json() {
        let document = json!({"v": 1, "tools": tools});
        context.output.json_line(&document)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = tools
        .iter()
        .map(|tool| vec![visible(&tool.name), one_line(&tool.description, 90)])
        .collect();
    context.output.data(&table(&rows))?;
    Ok(Exit::Done)
}

async fn call(
    context: &Context,
    gateway: &Gateway,
    tools: &ToolContext,
    arguments: &CallArgs,
) -> Result<Exit, CliError> {
    let call = ToolCall {
        id: "command-line".to_owned(),
        name: arguments.name.clone(),
        arguments: arguments.arguments.clone(),
    };
    if arguments.explain {
        return explain(context, gateway.explain(&call, tools));
    }
    let records = gateway
        .dispatch(std::slice::from_ref(&call), tools, &NoLog)
        .await;
    let records = records.map_err(|error| {
        CliError::new(Exit::Failed, "call", "the call could not be recorded").with_source(error)
    })?;
    let Some(record) = records.into_iter().next() else {
        return Err(CliError::new(
            Exit::Failed,
            "call",
            "the call came to nothing",
        ));
    };
    let result = &record.result;
    if context.output.is_json() {
        context.output.json_line(&json!({
            "v": 1, "status": result.status.as_str(), "error": record.error_kind,
            "content": result.content, "detail": record.detail, "duration_ms": record.duration_ms,
        }))?;
    } else {
        let line_end = if result.content.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        context
            .output
            .data(&format!("{}{line_end}", visible(&result.content)))?;
        if let Some(detail) = &record.detail {
            context.output.notice(&visible(detail));
        }
    }
    Ok(match result.status {
        CallStatus::Success => Exit::Done,
        CallStatus::Rejected | CallStatus::AwaitingApproval => Exit::Approval,
        _ => Exit::Failed,
    })
}

/// Says what would be decided: 0 if the call would run, 4 if it would be asked about or denied.
fn explain(context: &Context, decided: Result<Decision, String>) -> Result<Exit, CliError> {
    let decision = match decided {
        Ok(decision) => decision,
        Err(refusal) => {
            if context.output.is_json() {
                let document =
                    json!({"v": 1, "effect": "refuse", "why": refusal, "judgements": []});
                context.output.json_line(&document)?;
            } else {
                context
                    .output
                    .data(&format!("refuse: {}\n", visible(&refusal)))?;
            }
            return Ok(Exit::Approval);
        }
    };
    if context.output.is_json() {
        let judgements: Vec<Value> = decision
            .judgements
            .iter()
            .map(|one| {
                json!({
                    "capability": one.access.to_string(), "effect": one.effect.as_str(),
                    "decided_by": one.decided_by.to_string(),
                })
            })
            .collect();
        context.output.json_line(&json!({
            "v": 1, "effect": decision.effect.as_str(), "why": decision.explain(),
            "judgements": judgements,
        }))?;
    } else {
        let mut text = format!("{}\n", decision.effect.as_str());
        for judgement in &decision.judgements {
            text.push_str(&format!("  {}\n", visible(&judgement.to_string())));
        }
        context.output.data(&text)?;
    }
    Ok(match decision.effect {
        Effect::Allow => Exit::Done,
        _ => Exit::Approval,
    })
}
