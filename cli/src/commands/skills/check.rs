//! `tekne skills check`: one verdict for every file.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use skill_core::{
    CandidateReport, Diagnostic, Origin, Root, ScanLimits, Scope, Severity, SkillCatalog, Verdict,
    directory_sources, portability,
};

use super::findings::{self, Index};
use super::fix::{self, Fix};
use super::{diagnostic_json, diagnostic_text};
use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::terminal::{counted, visible};
use crate::setup::{self, Assistant};

/// Arguments of `tekne skills check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders to check; without any, every root
    paths: Vec<PathBuf>,
    /// Fail on warnings, too, and on what the validator of the standard refuses
    #[arg(long)]
    strict: bool,
    /// Fail unless these skills can be used
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    require: Vec<String>,
    /// Write the quoted form of values that had to be repaired; shows what changes and asks first
    #[arg(long)]
    fix: bool,
    /// With --fix: do not ask
    #[arg(long, requires = "fix")]
    yes: bool,
}

/// Counts of one check.
#[derive(Debug, Default)]
struct Summary {
    files: usize,
    loaded: usize,
    repaired: usize,
    shadowed: usize,
    refused: usize,
}

/// Everything that was found.
struct Checked<'a> {
    reports: &'a [CandidateReport],
    /// What belongs to no file: a link that leads nowhere, a root.
    beside: &'a [Diagnostic],
    /// What the files come to for this assistant; it says nothing about them, so no verdict
    /// depends on it.
    of_view: Vec<Diagnostic>,
    /// The skills that were required and cannot be used.
    missing: &'a [&'a str],
    fixes: Option<&'a [Fix]>,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &CheckArgs) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let catalog = if arguments.paths.is_empty() {
        setup::catalog(context, &loaded.config, &[])
    } else {
        of_paths(context, &arguments.paths)?
    };
    let fixes = if arguments.fix {
        let fixes = fix::run(context, &catalog.snapshot(), arguments.yes)?;
        catalog.refresh();
        Some(fixes)
    } else {
        None
    };
    let principal = assistant.principal(&loaded.config);
    let view = catalog.view(&principal);
    let missing: Vec<&str> = arguments
        .require
        .iter()
        .map(String::as_str)
        .filter(|name| view.find(Some(name), None).is_none())
        .collect();
    let snapshot = catalog.snapshot();
    let mut reports = snapshot.reports().to_vec();
    for report in &mut reports {
        let skill = report.skill.as_ref();
        let absent = skill.map(|skill| snapshot.missing_references(skill));
        report.diagnostics.extend(absent.unwrap_or_default());
        if arguments.strict {
            hold_against_standard(report);
        }
    }
    let index = Index::new(context, &loaded.config, &assistant, &view);
    let checked = Checked {
        reports: &reports,
        beside: snapshot.diagnostics(),
        of_view: findings::of_view(&view, &principal, &index),
        missing: &missing,
        fixes: fixes.as_deref(),
    };
    let summary = show(context, &checked)?;
    if fixes.iter().flatten().any(|fix| !fix.written) {
        let error = CliError::new(Exit::Approval, "not_fixed", "nothing was written")
            .with_hint("say yes when asked, or add --yes");
        return after_document(context, error);
    }
    verdict(
        context,
        arguments,
        &summary,
        snapshot.diagnostics(),
        &missing,
    )
}

/// Adds what the standard's own validator refuses; whoever is strict wants to pass there.
fn hold_against_standard(report: &mut CandidateReport) {
    let Some(skill) = &report.skill else {
        return;
    };
    let origin = Origin {
        path: report.path.clone(),
        format: skill.format,
        scope: skill.scope,
    };
    // What cannot be read has its finding already.
    let found = std::fs::read(&report.path).map(|bytes| portability(&bytes, &origin));
    let found = found.unwrap_or_default();
    if !found.is_empty() && report.verdict == Verdict::Loaded {
        report.verdict = Verdict::Repaired;
    }
    report.diagnostics.extend(found);
}

/// Reads only what was named: a file, a skill's folder, or a folder of skills.
fn of_paths(context: &Context, paths: &[PathBuf]) -> Result<SkillCatalog, CliError> {
    let mut roots = Vec::with_capacity(paths.len());
    for path in paths {
        let path = context.environment.cwd.join(path);
        if let Err(error) = path.metadata() {
            return Err(CliError::usage(format!("cannot read {}", path.display()))
                .with_path(path)
                .with_hint("name a skill file, a skill's folder, or a folder of skills")
                .with_source(error));
        }
        roots.push(Root {
            lite: path.is_file(),
            ..Root::new(path, Scope::Flag)
        });
    }
    // What is built in was not named.
    let sources = directory_sources(&roots);
    Ok(SkillCatalog::new(sources, ScanLimits::default()))
}

fn show(context: &Context, checked: &Checked<'_>) -> Result<Summary, CliError> {
    let summary = summary(checked.reports);
    if context.output.is_json() {
        context.output.json_line(&document(checked, &summary))?;
        return Ok(summary);
    }
    let worth_saying =
        |one: &&Diagnostic| context.options.verbose > 0 || one.severity != Severity::Info;
    for report in checked.reports {
        let verdict = match &report.verdict {
            Verdict::Shadowed { by } => format!("shadowed by {}", context.environment.shown(by)),
            other => other.as_str().to_owned(),
        };
        let path = context.environment.shown(&report.path);
        let mut text = visible(&format!("{path}: {verdict}\n"));
        for diagnostic in report.diagnostics.iter().filter(worth_saying) {
            text.push_str(&format!("{}\n", diagnostic_text(context, diagnostic)));
        }
        context.output.data(&text)?;
    }
    for diagnostic in checked.of_view.iter().filter(worth_saying) {
        let text = diagnostic_text(context, diagnostic);
        context.output.data(&format!("{text}\n"))?;
    }
    context.output.talk(&format!(
        "{}: {} loaded, {} repaired, {} shadowed, {} refused",
        counted(summary.files, "file"),
        summary.loaded,
        summary.repaired,
        summary.shadowed,
        summary.refused
    ));
    for diagnostic in checked.beside {
        context.output.talk(&diagnostic_text(context, diagnostic));
    }
    Ok(summary)
}

fn summary(reports: &[CandidateReport]) -> Summary {
    let mut summary = Summary {
        files: reports.len(),
        ..Summary::default()
    };
    for report in reports {
        match report.verdict {
            Verdict::Loaded => summary.loaded += 1,
            Verdict::Repaired => summary.repaired += 1,
            Verdict::Shadowed { .. } => summary.shadowed += 1,
            Verdict::Refused => summary.refused += 1,
        }
    }
    summary
}

fn document(checked: &Checked<'_>, summary: &Summary) -> Value {
    let files: Vec<Value> = checked.reports.iter().map(file).collect();
    let list = |found: &[Diagnostic]| -> Value { found.iter().map(diagnostic_json).collect() };
    let mut document = json!({"v": 1, "files": files, "summary": {
        "files": summary.files, "loaded": summary.loaded, "repaired": summary.repaired,
        "shadowed": summary.shadowed, "refused": summary.refused,
    }, "missing": checked.missing, "diagnostics": list(checked.beside), "view": list(&checked.of_view)});
    if let (Some(fixes), Some(fields)) = (checked.fixes, document.as_object_mut()) {
        let fixes = fixes.iter().map(Fix::json).collect();
        fields.insert("fixes".to_owned(), fixes);
    }
    document
}

fn file(report: &CandidateReport) -> Value {
    let skill = report.skill.as_ref();
    let shadowed = matches!(report.verdict, Verdict::Shadowed { .. });
    json!({
        "path": report.path.display().to_string(),
        "verdict": report.verdict.as_str(),
        "id": skill.map(|skill| skill.id.as_str()),
        "name": skill.map(|skill| skill.name.as_str()),
        "description": skill.map(|skill| skill.description.as_str()),
        "listed": !shadowed && skill.is_some_and(|skill| skill.listed),
        "diagnostics": report.diagnostics.iter().map(diagnostic_json).collect::<Vec<_>>(),
    })
}

/// Ends the command with `error`; in JSON its one document is printed and says as much already.
fn after_document(context: &Context, error: CliError) -> Result<Exit, CliError> {
    if !context.output.is_json() {
        return Err(error);
    }
    context.output.talk(&error.to_string());
    Ok(error.exit)
}

fn verdict(
    context: &Context,
    arguments: &CheckArgs,
    summary: &Summary,
    beside: &[Diagnostic],
    missing: &[&str],
) -> Result<Exit, CliError> {
    if !missing.is_empty() {
        let message = format!("not usable: {}", missing.join(", "));
        let error = CliError::new(Exit::Check, "required_skill_missing", message)
            .with_hint("`tekne skills list` shows what can be used");
        return after_document(context, error);
    }
    // What was found on the way belongs to no candidate: a link that leads nowhere, a root.
    let strict = |diagnostic: &&Diagnostic| match diagnostic.severity {
        Severity::Error => true,
        Severity::Warning => arguments.strict,
        Severity::Info => false,
    };
    let bad = summary.refused
        + beside.iter().filter(strict).count()
        + if arguments.strict {
            summary.repaired
        } else {
            0
        };
    Ok(if bad == 0 { Exit::Done } else { Exit::Check })
}
