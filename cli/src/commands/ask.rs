//! `tekne ask`: one question, one request, no tools.

use clap::Args;
use loop_runtime::{Profile, TurnRequest};

use crate::app::Context;
use crate::commands::turn;
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;
use crate::setup::Wanted;
use crate::task;

/// Arguments of `tekne ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question; `-` reads it from standard input
    question: String,
    /// Go on with this session: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &AskArgs) -> Result<Exit, CliError> {
    let interrupts = Interrupts::new();
    let mut request = TurnRequest::task(task::text(&arguments.question)?);
    request.session.clone_from(&arguments.resume);
    let wanted = Wanted {
        profile: Some(Profile::QUICK_ASK),
        journal: true,
        ..Wanted::default()
    };
    turn::run(context, interrupts, &wanted, request, false)
}
