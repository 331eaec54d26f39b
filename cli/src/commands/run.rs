//! `tekne run`: one task to its end, with tools.

use std::path::PathBuf;

use clap::Args;
use loop_runtime::TurnRequest;

use crate::app::Context;
use crate::commands::turn;
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;
use crate::setup::Wanted;
use crate::task;

/// Arguments of `tekne run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The task; `-` reads it from standard input
    task: String,
    /// Go on with this session: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// The most steps the turn may take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// The most tokens the turn may cost, read and written together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_tokens: Option<u64>,
    /// The most US dollars the turn may cost; needs the model's price in the configuration
    #[arg(long, value_name = "USD")]
    budget_usd: Option<f64>,
    /// Allow this for the run without asking, for example `write(notes/**)`; may be given again
    #[arg(long, value_name = "RULE")]
    yes: Vec<String>,
    /// Exit with 4 if any call was denied
    #[arg(long)]
    fail_on_denied: bool,
    /// The file that you work on: it comes with the task
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Add the skill or the folder of skills at this path
    #[arg(long, value_name = "PATH")]
    skill: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &RunArgs) -> Result<Exit, CliError> {
    let interrupts = Interrupts::new();
    let mut request = TurnRequest::task(task::text(&arguments.task)?);
    request.session.clone_from(&arguments.resume);
    request.file.clone_from(&arguments.file);
    let wanted = Wanted {
        skills: arguments.skill.clone(),
        rules: arguments.yes.clone(),
        max_steps: arguments.max_steps,
        budget_tokens: arguments.budget_tokens,
        budget_usd: arguments.budget_usd,
        journal: true,
        ..Wanted::default()
    };
    turn::run(
        context,
        interrupts,
        &wanted,
        request,
        arguments.fail_on_denied,
    )
}
