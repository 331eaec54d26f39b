//! `tekne prompt`: what a model would see, without asking one.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use loop_runtime::{PreviewError, TurnRequest};
use prompt_compiler::{CompileError, CompiledPrompt, Preset, Report};
use serde_json::json;
use skill_core::{CompletionRequest, ContentBlock};

use crate::app::Context;
use crate::commands::{sessions, turn};
use crate::error::{CliError, Exit};
use crate::render::table::table;
use crate::setup::{self, Wanted};
use crate::task;

/// Subcommands of `tekne prompt`.
#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Compile the request for a task and show it with its ledger
    Show(ShowArgs),
}

/// Arguments of `tekne prompt show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The task; `-` reads it from standard input
    task: String,
    /// The file that you work on: it comes with the task
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// The session that the task would go on with
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &PromptCommand) -> Result<Exit, CliError> {
    let PromptCommand::Show(arguments) = command;
    let mut request = TurnRequest::task(task::text(&arguments.task)?);
    request.session.clone_from(&arguments.resume);
    request.file.clone_from(&arguments.file);
    let wanted = Wanted {
        journal: request.session.is_some(),
        exact: true,
        ..Wanted::default()
    };
    let (prompt, _) = preview(context, &request, &wanted)?;
    show(context, &prompt)?;
    Ok(Exit::Done)
}

/// Compiles the request of a task and sends nothing; also returns the preset it follows.
pub(super) fn preview(
    context: &Context,
    request: &TurnRequest,
    wanted: &Wanted,
) -> Result<(CompiledPrompt, Preset), CliError> {
    super::runtime()?.block_on(compile(context, request, wanted))
}

async fn compile(
    context: &Context,
    request: &TurnRequest,
    wanted: &Wanted,
) -> Result<(CompiledPrompt, Preset), CliError> {
    let loaded = setup::configuration(context)?;
    let mut agent = setup::agent(context, &loaded, wanted).await?;
    let mut request = request.clone();
    if let Some(session) = &request.session {
        request.session = Some(sessions::resolve(context, &*agent.store, session).await?);
    }
    agent.principal.files = setup::worked_on(&context.environment, &*agent.store, &request).await;
    turn::declare_skills(&agent, &mut request)?;
    let prompt = agent.preview(&request).await.map_err(|error| match error {
        PreviewError::Compile(CompileError::Limit(limit)) => {
            CliError::new(Exit::Limit, "context_limit", limit.to_string())
                .with_hint("shorten the largest part, or choose a model with a larger window")
        }
        error => CliError::usage(error.to_string()),
    })?;
    Ok((prompt, agent.preset))
}

fn show(context: &Context, prompt: &CompiledPrompt) -> Result<(), CliError> {
    if context.output.is_json() {
        let request = &prompt.request;
        return context.output.json_line(&json!({
            "v": 1,
            "request": {"system": request.system, "messages": request.messages, "tools": request.tools},
            "report": prompt.report,
        }));
    }
    let mut text = transcript(&prompt.request);
    text.push_str(&ledger(&prompt.report));
    context.output.data(&text)
}

fn transcript(request: &CompletionRequest) -> String {
    let mut text = String::new();
    for block in &request.system {
        section(&mut text, "system", block);
    }
    for message in &request.messages {
        let role = format!("{:?}", message.role).to_lowercase();
        for block in &message.content {
            match block {
                ContentBlock::Text { text: said } => section(&mut text, &role, said),
                ContentBlock::ToolCall(call) => {
                    section(
                        &mut text,
                        &format!("{role} calls {} {}", call.name, call.id),
                        &call.arguments,
                    );
                }
                ContentBlock::ToolResult(result) => {
                    section(
                        &mut text,
                        &format!("result of {}", result.call_id),
                        &result.content,
                    );
                }
                other => section(&mut text, &role, &format!("{other:?}")),
            }
        }
    }
    for tool in request.tools.iter() {
        section(
            &mut text,
            &format!("tool {}", tool.name),
            &format!("{}\n{}", tool.description, tool.parameters),
        );
    }
    text
}

fn section(text: &mut String, head: &str, body: &str) {
    let _ = writeln!(text, "──── {head}\n{}\n", body.trim_end());
}

fn ledger(report: &Report) -> String {
    let mut rows = vec![
        ["section", "asked", "given", "cut"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for section in report.sections.iter().filter(|section| section.asked > 0) {
        rows.push(vec![
            section.name.clone(),
            section.asked.to_string(),
            section.given.to_string(),
            section.cut.join("; "),
        ]);
    }
    let counts = if report.exact {
        "exact counts"
    } else {
        "estimated counts"
    };
    format!(
        "──── tokens ({counts})\n{}total {} of {} ({} kept for the answer), stable prefix {}\n",
        table(&rows),
        report.total,
        report.window,
        report.reserve_output,
        report.stable_prefix,
    )
}
