//! `tekne trust`: what of the project may act, with digests and differences, and the answer to it.

mod items;

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};
use skill_core::{
    AuditAction, AuditError, AuditOutcome, AuditRecord, AuditSink, Clock, PackageTree, TreeError,
    TrustError, TrustItem, TrustKind,
};

use crate::app::Context;
use crate::approver::agreed;
use crate::error::{CliError, Exit};
use crate::render::terminal::{counted, on_one_line, visible};
use crate::setup::{self, Project};
use crate::system::SystemClock;
use items::{Shown, State};

pub(crate) use items::texts;

/// Arguments of `tekne trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust everything that is shown without asking
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Take all trust in this project back
    #[arg(long)]
    revoke: bool,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &TrustArgs) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let Some(project) = Project::of(&context.environment) else {
        return Err(CliError::usage("there is no project here")
            .with_code("no_project")
            .with_hint("choose a project's folder with -C"));
    };
    if let Some(problem) = &project.problem {
        return Err(CliError::usage(problem.clone())
            .with_code("trust_file")
            .with_path(project.store.path())
            .with_hint("move the file away and trust anew"));
    }
    if arguments.revoke {
        return revoke(context, &project);
    }
    let catalog = setup::catalog(context, &loaded.config, &[]);
    let shown = items::items(&project, &loaded, &catalog.snapshot()).map_err(unreadable)?;
    if !context.output.is_json() {
        context.output.data(&text(context, &project, &shown))?;
    }
    let open: Vec<&Shown> = shown
        .iter()
        .filter(|one| one.state != State::Trusted)
        .collect();
    let granted = !open.is_empty() && may_grant(context, arguments, &open);
    if granted {
        grant(context, &project, &open)?;
    }
    if context.output.is_json() {
        let items: Vec<Value> = shown.iter().map(Shown::json).collect();
        let count = if granted { open.len() } else { 0 };
        context.output.json_line(
            &json!({"v": 1, "project": project.root, "items": items, "granted": count, "revoked": 0}),
        )?;
    }
    match (open.len(), granted) {
        (0, _) => Ok(Exit::Done),
        (count, true) => {
            context
                .output
                .talk(&format!("trusted {}", counted(count, "item")));
            Ok(Exit::Done)
        }
        (count, false) => {
            context.output.notice(&format!(
                "{} waiting; what they would do is left out, the rest works",
                counted(count, "item")
            ));
            Ok(Exit::Approval)
        }
    }
}

fn may_grant(context: &Context, arguments: &TrustArgs, open: &[&Shown]) -> bool {
    let question = format!("\ntrust {} as shown?", counted(open.len(), "item"));
    agreed(context, arguments.yes, &question)
}

fn revoke(context: &Context, project: &Project) -> Result<Exit, CliError> {
    record(context, project, AuditAction::Revoke, None)?;
    let count = project.store.revoke(&project.root).map_err(unwritten)?;
    if context.output.is_json() {
        context.output.json_line(
            &json!({"v": 1, "project": project.root, "items": [], "granted": 0, "revoked": count}),
        )?;
    } else {
        let items = counted(count, "item");
        context.output.talk(&format!("{items} no longer trusted"));
    }
    Ok(Exit::Done)
}

fn grant(context: &Context, project: &Project, open: &[&Shown]) -> Result<(), CliError> {
    for one in open {
        one.keep_texts(&project.store).map_err(unwritten)?;
    }
    let items: Vec<TrustItem> = open.iter().map(|one| one.item.clone()).collect();
    give(context, project, &items)
}

/// Trusts the files that were just written, each with its text, and nothing else: what lies beside
/// them is not what was written, and waits.
pub(crate) fn trust_written(context: &Context, written: &[(&str, &str)]) -> Result<(), CliError> {
    let project = Project::of(&context.environment).filter(|project| project.problem.is_none());
    let Some(project) = project else {
        return Ok(());
    };
    let item = |(path, text): &(&str, &str)| {
        let path = context.environment.cwd.join(path);
        let name = path.file_name()?.to_str()?;
        let (kind, place) = if name == "config.yaml" {
            (TrustKind::Config, path.as_path())
        } else {
            (TrustKind::Skill, path.parent()?)
        };
        let tree = PackageTree::of_file(name, text.as_bytes());
        Some(TrustItem {
            kind,
            path: project.relative(place)?,
            digest: tree.digest,
            files: tree.files,
            target: None,
        })
    };
    let items: Vec<TrustItem> = written.iter().filter_map(item).collect();
    if items.is_empty() {
        return Ok(());
    }
    give(context, &project, &items)
}

fn give(context: &Context, project: &Project, items: &[TrustItem]) -> Result<(), CliError> {
    for item in items {
        record(context, project, AuditAction::Trust, Some(item))?;
    }
    let now = SystemClock::new().now_ms();
    project
        .store
        .grant(&project.root, items, now)
        .map_err(unwritten)
}

fn record(
    context: &Context,
    project: &Project,
    action: AuditAction,
    item: Option<&TrustItem>,
) -> Result<(), CliError> {
    let record = AuditRecord {
        at_ms: SystemClock::new().now_ms(),
        actor: "local user".to_owned(),
        action,
        subject: project.root.display().to_string(),
        digest: item.map(|item| item.digest.clone()),
        outcome: AuditOutcome::Done,
        reason: item.map(|item| format!("{} {}", item.kind.as_str(), item.path)),
    };
    let failed = |error: AuditError| {
        CliError::usage("nothing was changed")
            .with_code("audit")
            .with_source(error)
    };
    setup::audit(context)?.record(&record).map_err(failed)
}

fn unreadable(error: TreeError) -> CliError {
    CliError::usage(error.to_string())
        .with_code("not_shown")
        .with_path(&error.path)
        .with_hint("look again; what is trusted is exactly what was shown")
        .with_source(error)
}

fn unwritten(error: TrustError) -> CliError {
    CliError::usage("the trust file cannot be written")
        .with_code("trust_file")
        .with_hint("make the data folder writable, or set XDG_DATA_HOME to one that is")
        .with_source(error)
}

fn text(context: &Context, project: &Project, shown: &[Shown]) -> String {
    let mut text = format!("project {}\n", context.environment.shown(&project.root));
    if shown.is_empty() {
        text.push_str("nothing of it needs trust\n");
    }
    for one in shown {
        let _ = writeln!(
            text,
            "\n{} {}: {}\n  digest {}",
            one.item.kind.as_str(),
            on_one_line(&one.item.path),
            one.state.as_str(),
            one.item.digest
        );
        for act in &one.acts {
            let _ = writeln!(text, "  - {}", on_one_line(act));
        }
        if one.state == State::Pending && one.item.kind == TrustKind::Skill {
            for (path, file) in &one.item.files {
                let _ = writeln!(
                    text,
                    "  {} ({}, {} bytes, sha256 {})",
                    on_one_line(path),
                    file.kind.as_str(),
                    file.bytes,
                    file.sha256
                );
            }
        }
        for (change, diff) in &one.changes {
            let path = on_one_line(&change.path);
            let _ = writeln!(text, "  {} {path}", change.kind.as_str());
            for line in diff.iter().flat_map(|diff| diff.lines()) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    visible(&text)
}
