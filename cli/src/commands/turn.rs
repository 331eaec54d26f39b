//! One turn from the command line: runs it, shows it, and turns its outcome into an exit code.

use std::sync::Arc;

use loop_runtime::{
    Agent, LoadError, RunError, StoreErrorKind, TurnOutcome, TurnReport, TurnRequest, loads_in,
};

use tokio_util::sync::CancellationToken;

use crate::app::Context;
use crate::commands::sessions;
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;
use crate::render::run::RunView;
use crate::render::terminal::counted;
use crate::setup::{self, Wanted};

/// Runs a turn to its end.
pub(crate) fn run(
    context: &Context,
    interrupts: Interrupts,
    wanted: &Wanted,
    request: TurnRequest,
    fail_on_denied: bool,
) -> Result<Exit, CliError> {
    let cancel = interrupts.token();
    let runtime = super::runtime()?;
    let ended = runtime.block_on(turn(context, wanted, request, cancel));
    // A thread that waits for an answer at the terminal would hold the process back.
    runtime.shutdown_background();
    let report = ended?;
    if fail_on_denied && report.denied > 0 && report.outcome == TurnOutcome::Completed {
        let message = format!("{} denied", counted(report.denied as usize, "call"));
        return Err(CliError::new(Exit::Approval, "denied", message)
            .with_hint("allow what is needed with --yes, or in `tools.policy`"));
    }
    exit(&report)
}

async fn turn(
    context: &Context,
    wanted: &Wanted,
    request: TurnRequest,
    cancel: CancellationToken,
) -> Result<TurnReport, CliError> {
    let loaded = setup::configuration_for(context, wanted)?;
    setup::tell_notices(context, &loaded);
    let mut agent = setup::agent(context, &loaded, wanted).await?;
    let mut request = request;
    if let Some(session) = &request.session {
        request.session = Some(sessions::resolve(context, &*agent.store, session).await?);
    }
    agent.principal.files = setup::worked_on(&context.environment, &*agent.store, &request).await;
    declare_skills(&agent, &mut request)?;
    let agent = Arc::new(agent);
    let live = context.environment.stdout_terminal;
    let mut view = RunView::new(&context.output, live, context.options.verbose > 0);
    let stop = cancel.clone();
    let mut sink = |event| {
        view.show(&event);
        if view.has_failed() {
            stop.cancel();
        }
    };
    let ran = agent.run(request, cancel, &mut sink).await;
    // A turn whose answer nobody could read is no success, even if the reader just went away.
    view.finish().map_err(|error| CliError {
        exit: Exit::Failed,
        ..error
    })?;
    ran.map_err(failed_to_begin)
}

/// Takes the skills that a task names as `/skill` for those that the turn begins with.
pub(crate) fn declare_skills(agent: &Agent, request: &mut TurnRequest) -> Result<(), CliError> {
    if agent.profile.shows_skills {
        let view = agent.catalog.view(&agent.principal);
        let task = request.input.joined_text();
        request.loads = loads_in(&task, &view).map_err(|error| not_loaded(&error))?;
    }
    Ok(())
}

fn not_loaded(error: &LoadError) -> CliError {
    CliError::usage(error.to_string())
        .with_code("skill_not_loaded")
        .with_hint(
            "`tekne skills list` shows those there are; a task may not begin with another `/word`",
        )
}

fn failed_to_begin(error: RunError) -> CliError {
    match error {
        RunError::Store(error) if error.kind == StoreErrorKind::NotFound => {
            sessions::unreadable(&error)
        }
        RunError::Store(error) => {
            let failure = CliError::new(Exit::Failed, "journal", error.to_string());
            match error.kind {
                StoreErrorKind::Busy => failure
                    .with_code("session_busy")
                    .with_hint("wait until it has ended, or begin another session"),
                StoreErrorKind::Corrupt => failure.with_hint(
                    "`tekne sessions show` shows what can be read; begin another session to go on",
                ),
                _ => failure,
            }
        }
        RunError::Load(error) => not_loaded(&error),
        error => CliError::new(Exit::Failed, "internal", error.to_string()),
    }
}

/// Returns a code for programs: the outcome's name, or the kind of an error.
fn code(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Error(kind) => kind.as_str().to_owned(),
        outcome => outcome.to_string(),
    }
}

/// Turns an outcome into the program's end.
fn exit(report: &TurnReport) -> Result<Exit, CliError> {
    let (exit, words) = match &report.outcome {
        TurnOutcome::Completed => return Ok(Exit::Done),
        TurnOutcome::AwaitingApproval => (Exit::Approval, "a call waits for an approval"),
        TurnOutcome::MaxSteps => (Exit::Limit, "the step limit was reached"),
        TurnOutcome::Budget => (Exit::Limit, "a limit of the turn was reached"),
        TurnOutcome::RepeatedCall => (Exit::Limit, "the model goes round in circles"),
        TurnOutcome::RepeatedFailure => (Exit::Limit, "calls failed again and again"),
        TurnOutcome::ContextLimit => (Exit::Limit, "the request does not fit the model's window"),
        TurnOutcome::Aborted => (Exit::Cancelled, "cancelled"),
        TurnOutcome::Truncated => (Exit::Failed, "the answer was cut"),
        TurnOutcome::Refused => (Exit::Failed, "the model refused"),
        _ => (Exit::Failed, "the turn failed"),
    };
    let message = match &report.failure {
        Some(failure) => format!("{words}: {}", failure.message),
        None => words.to_owned(),
    };
    let mut error = CliError::new(exit, &code(&report.outcome), message);
    error.hint = report
        .failure
        .as_ref()
        .and_then(|failure| failure.hint.clone())
        .or_else(|| {
            (report.outcome != TurnOutcome::Aborted).then(|| {
                format!(
                    "go on with `tekne run --resume {} \"go on\"`",
                    report.session
                )
            })
        });
    Err(error)
}
