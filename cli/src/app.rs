//! The command line: what may be written, and which command it leads to.

#![expect(
    clippy::disallowed_methods,
    reason = "whether output is coloured is decided before anything else is read"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::commands;
use crate::environment::Environment;
use crate::error::{CliError, Exit};
use crate::output::Output;

/// A runtime for agents that work by skills.
///
/// Skills are files in which people write down how a job is done. tekne shows a model what there
/// is, opens what a task needs, runs tools inside one folder, and keeps a journal of what was seen
/// and done.
#[derive(Debug, Parser)]
#[command(
    name = "tekne",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = EXIT_CODES)]
struct CommandLine {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the turn failed, 2 usage or configuration, 3 a \
    check failed, 4 an approval is needed, 5 a limit stopped the turn, 130 cancelled.";

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalOptions {
    /// Work in this folder: it is the workspace, and the start of the search for skills
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Read this configuration on top of the others
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Work as this assistant of the configuration
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) assistant: Option<String>,
    /// Use this model: PROVIDER/MODEL, or `offline` for none
    #[arg(long, value_name = "MODEL", global = true)]
    pub(crate) model: Option<String>,
    /// Reach the model's provider at this address
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) base_url: Option<String>,
    /// Show skills the way of this preset
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) preset: Option<String>,
    /// Print for programs: one JSON document, or JSON Lines for runs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more on standard error
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to use colour
    #[arg(long, value_enum, default_value_t = clap::ColorChoice::Auto, value_name = "WHEN", global = true)]
    pub(crate) color: clap::ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a commented configuration and a first skill into this folder
    Init(commands::init::InitArgs),
    /// Run one task to its end, with tools
    Run(commands::run::RunArgs),
    /// Answer one question, without tools
    Ask(commands::ask::AskArgs),
    /// Complete the text of a file at a cursor
    Complete(commands::complete::CompleteArgs),
    /// List, show, check, write, register and lock skills
    #[command(subcommand)]
    Skills(commands::skills::SkillsCommand),
    /// Show what a model would see
    #[command(subcommand)]
    Prompt(commands::prompt::PromptCommand),
    /// List what a session remembers, and take facts out
    #[command(subcommand)]
    Memory(commands::memory::MemoryCommand),
    /// List the tools of a model, call one, and say what would be decided about a call
    #[command(subcommand)]
    Tools(commands::tools::ToolsCommand),
    /// List the calls that models made, and show how each of them went
    #[command(subcommand)]
    Trace(commands::trace::TraceCommand),
    /// List, show, export and delete sessions
    #[command(subcommand)]
    Sessions(commands::sessions::SessionsCommand),
    /// Show what of this project may act, and trust it
    Trust(commands::trust::TrustArgs),
    /// Show the configuration and where it comes from
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    /// Check this machine and say what is missing
    Doctor,
}

/// What every command gets.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) options: GlobalOptions,
    pub(crate) environment: Environment,
    pub(crate) output: Output,
}

/// Reads the command line, runs the command, and says how it ended.
pub(crate) fn main() -> ExitCode {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => return usage(&error),
    };
    let colour = wants_colour(line.global.color);
    let output = Output::new(line.global.json, colour);
    let ended = Environment::read(line.global.directory.as_deref()).and_then(|environment| {
        let context = Context {
            options: line.global.clone(),
            environment,
            output: Output::new(line.global.json, colour),
        };
        dispatch(line.command, &context)
    });
    match ended {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(error) => {
            if !error.shown {
                output.error(&error);
            }
            ExitCode::from(error.exit as u8)
        }
    }
}

fn dispatch(command: Command, context: &Context) -> Result<Exit, CliError> {
    match command {
        Command::Init(arguments) => commands::init::run(context, &arguments),
        Command::Run(arguments) => commands::run::run(context, &arguments),
        Command::Ask(arguments) => commands::ask::run(context, &arguments),
        Command::Complete(arguments) => commands::complete::run(context, &arguments),
        Command::Skills(command) => commands::skills::run(context, &command),
        Command::Prompt(command) => commands::prompt::run(context, &command),
        Command::Memory(command) => commands::memory::run(context, &command),
        Command::Tools(command) => commands::tools::run(context, &command),
        Command::Trace(command) => commands::trace::run(context, &command),
        Command::Sessions(command) => commands::sessions::run(context, &command),
        Command::Trust(arguments) => commands::trust::run(context, &arguments),
        Command::Config(command) => commands::config::run(context, &command),
        Command::Doctor => commands::doctor::run(context),
    }
}

/// Shows what clap has to say; with `--json` a wrong line is an error document as well.
fn usage(error: &clap::Error) -> ExitCode {
    let wrong = error.use_stderr();
    if wrong && wants_json() {
        let failure = CliError::usage(summary(error)).with_hint("see `tekne --help`");
        let _ = Output::new(true, false).json_line(&failure.document());
    }
    let _ = error.print();
    if error.kind() == clap::error::ErrorKind::UnknownArgument {
        Output::new(false, false).talk("hint: a task of several words stands in quotes");
    }
    ExitCode::from(if wrong {
        Exit::Usage as u8
    } else {
        Exit::Done as u8
    })
}

/// Decides about colour on standard error: the flag, else `NO_COLOR`, else the terminal.
fn wants_colour(choice: clap::ColorChoice) -> bool {
    use std::io::IsTerminal;
    match choice {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => {
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::io::stderr().is_terminal()
        }
    }
}

/// Returns what clap has to say in one line: its first paragraph, which names what is wrong.
fn summary(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn wants_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        CommandLine::command().debug_assert();
    }
}
