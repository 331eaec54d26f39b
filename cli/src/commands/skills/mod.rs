//! `tekne skills`: what there is, one of them, and what is wrong with their files.

mod check;
mod findings;
mod fix;
mod list;
mod lock;
mod new;
mod register;
mod show;
mod stats;
mod warnings;
mod why;

use clap::Subcommand;
use serde_json::{Value, json};
use skill_core::{Diagnostic, Severity};

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::terminal::{on_one_line, visible};

/// Subcommands of `tekne skills`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills there are
    List,
    /// Show a skill: what is known of it, and its text
    Show(show::ShowArgs),
    /// Say why a model sees a skill, or does not
    Why(why::WhyArgs),
    /// Check skill files and say what is wrong with each
    Check(check::CheckArgs),
    /// Show what was shadowed, mended or refused
    Warnings,
    /// Write a new skill
    New(new::NewArgs),
    /// Copy a skill into the registry, from where it can be used everywhere
    Register(register::RegisterArgs),
    /// Take a skill out of the registry
    Unregister(register::RegisteredArgs),
    /// Switch a registered skill, or a version of it, on again
    Enable(register::RegisteredArgs),
    /// Switch a registered skill, or a version of it, off without taking it out
    Disable(register::RegisteredArgs),
    /// Write down which bytes this project's skills consist of
    Lock(lock::LockArgs),
    /// Show what each skill costs, and what disclosure saves
    Stats(stats::StatsArgs),
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &SkillsCommand) -> Result<Exit, CliError> {
    match command {
        SkillsCommand::List => list::run(context),
        SkillsCommand::Show(arguments) => show::run(context, arguments),
        SkillsCommand::Why(arguments) => why::run(context, arguments),
        SkillsCommand::Check(arguments) => check::run(context, arguments),
        SkillsCommand::Warnings => warnings::run(context),
        SkillsCommand::New(arguments) => new::run(context, arguments),
        SkillsCommand::Register(arguments) => register::register(context, arguments),
        SkillsCommand::Unregister(arguments) => register::unregister(context, arguments),
        SkillsCommand::Enable(arguments) => register::switch(context, arguments, true),
        SkillsCommand::Disable(arguments) => register::switch(context, arguments, false),
        SkillsCommand::Lock(arguments) => lock::run(context, arguments),
        SkillsCommand::Stats(arguments) => stats::run(context, arguments),
    }
}

/// Returns a diagnostic as it stands in JSON.
fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.as_str(),
        "path": diagnostic.path.display().to_string(),
        "line": diagnostic.line,
        "column": diagnostic.column,
        "message": diagnostic.message,
        "text": diagnostic.text,
        "fix": diagnostic.fix,
    })
}

/// Returns a diagnostic as a person reads it: place, code, message, and the fix below.
fn diagnostic_text(context: &Context, diagnostic: &Diagnostic) -> String {
    let mut place = context.environment.shown(&diagnostic.path);
    for number in [diagnostic.line, diagnostic.column].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let mut text = format!(
        "{place}: {word}[{}]: {}",
        diagnostic.code,
        on_one_line(&diagnostic.message)
    );
    if let Some(fix) = &diagnostic.fix {
        // A fix of several lines stays recognisable as one.
        text.push_str(&format!("\n  fix: {}", fix.replace('\n', "\n       ")));
    }
    visible(&text)
}
