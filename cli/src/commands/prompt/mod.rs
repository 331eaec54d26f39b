//! `tekne prompt`: what a model would see, without asking one.

mod diff;
mod explain;
mod picture;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use loop_runtime::{Agent, PreviewError, TurnRequest};
use prompt_compiler::{CompileError, CompiledPrompt};

use crate::app::Context;
use crate::commands::sessions;
use crate::commands::turn::declare_skills;
use crate::error::{CliError, Exit};
use crate::setup::{self, Wanted};
use crate::task;

/// Subcommands of `tekne prompt`.
#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Compile the request for a task and show it with its ledger
    Show(TaskArgs),
    /// Say what each section asked for, got and lost, and why
    Explain(TaskArgs),
    /// Compare two requests: where they part, why, and what each section takes
    Diff(diff::DiffArgs),
}

/// The task whose request is compiled.
#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// The task; `-` reads it from standard input
    task: String,
    /// The file that you work on: it comes with the task
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// The session that the task would go on with
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Draw the ledger into this file as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &PromptCommand) -> Result<Exit, CliError> {
    match command {
        PromptCommand::Show(arguments) => {
            let prompt = of_task(context, arguments)?;
            show::show(context, &prompt)
        }
        PromptCommand::Explain(arguments) => {
            let prompt = of_task(context, arguments)?;
            explain::show(context, &prompt)
        }
        PromptCommand::Diff(arguments) => diff::run(context, arguments),
    }?;
    Ok(Exit::Done)
}

fn of_task(context: &Context, arguments: &TaskArgs) -> Result<CompiledPrompt, CliError> {
    let mut request = TurnRequest::task(task::text(&arguments.task)?);
    request.session.clone_from(&arguments.resume);
    request.file.clone_from(&arguments.file);
    let prompt = preview(context, &request, &wanted(request.session.is_some()))?;
    if let Some(path) = &arguments.html {
        picture::draw_one(context, path, &prompt)?;
    }
    Ok(prompt)
}

/// Returns what an agent needs here: exact counts, and the journal where a session is gone on with.
fn wanted(journal: bool) -> Wanted {
    Wanted {
        journal,
        exact: true,
        ..Wanted::default()
    }
}

/// Compiles the request of a task and sends nothing.
pub(super) fn preview(
    context: &Context,
    request: &TurnRequest,
    wanted: &Wanted,
) -> Result<CompiledPrompt, CliError> {
    super::runtime()?.block_on(async {
        let agent = agent(context, wanted).await?;
        compile(context, agent, request).await
    })
}

async fn agent(context: &Context, wanted: &Wanted) -> Result<Agent, CliError> {
    let loaded = setup::configuration(context)?;
    setup::tell_notices(context, &loaded);
    setup::agent(context, &loaded, wanted).await
}

async fn compile(
    context: &Context,
    mut agent: Agent,
    request: &TurnRequest,
) -> Result<CompiledPrompt, CliError> {
    let mut request = request.clone();
    if let Some(session) = &request.session {
        request.session = Some(sessions::resolve(context, &*agent.store, session).await?);
    }
    agent.principal.files = setup::worked_on(&context.environment, &*agent.store, &request).await;
    declare_skills(&agent, &mut request)?;
    agent.preview(&request).await.map_err(failure)
}

fn failure(error: PreviewError) -> CliError {
    match error {
        PreviewError::Compile(CompileError::Limit(limit)) => {
            CliError::new(Exit::Limit, "context_limit", limit.to_string())
                .with_hint("shorten the largest part, or choose a model with a larger window")
        }
        error => CliError::usage(error.to_string()),
    }
}
