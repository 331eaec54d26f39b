//! `tekne skills lock`: which bytes this project's skills consist of, in a file that goes with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use skill_core::{
    Change, ChangeKind, LockError, LockedSkill, SkillsLock, TreeError, TrustStore, Verdict, changes,
};

use crate::app::Context;
use crate::approver::agreed;
use crate::commands::trust::texts;
use crate::error::{CliError, Exit};
use crate::render::diff::{unified, with_kind};
use crate::render::terminal::{counted, on_one_line, visible};
use crate::setup::{self, Project};

/// Arguments of `tekne skills lock`.
#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// Write nothing; fail if the skills are not what is locked
    #[arg(long, conflicts_with = "yes")]
    check: bool,
    /// Lock what changed without asking
    #[arg(long)]
    yes: bool,
}

/// A skill that is not what is locked.
#[derive(Debug)]
struct Moved {
    path: String,
    kind: ChangeKind,
    /// Its files that changed, each with the diff where both texts are known.
    files: Vec<(Change, Option<String>)>,
}

/// Runs the command.
pub(super) fn run(context: &Context, arguments: &LockArgs) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let Some(project) = Project::of(&context.environment) else {
        return Err(CliError::usage("there is no project here")
            .with_code("no_project")
            .with_hint("choose a project's folder with -C"));
    };
    let snapshot = setup::catalog(context, &loaded.config, &[]).snapshot();
    let usable = snapshot
        .reports()
        .iter()
        .filter(|report| report.verdict != Verdict::Refused)
        .filter_map(|report| report.skill.as_deref());
    let lock = SkillsLock::of(&project.root, usable).map_err(unlockable)?;
    let texts = all_texts(&project, &lock)?;
    let file = project.root.join(SkillsLock::FILE);
    let before = SkillsLock::read(&file);
    let damaged = before.is_err();
    if let Err(error) = &before {
        context.output.notice(&format!(
            "{error}; no skill of this project is used until it is mended or written anew"
        ));
    }
    let before = before.ok().flatten().unwrap_or_default();
    let moved = moved(&project.store, &before, &lock, &texts);
    if !context.output.is_json() {
        context.output.data(&visible(&text(&moved)))?;
    }
    let ask = damaged || moved.iter().any(|one| one.kind == ChangeKind::Changed);
    let is_new = !file.exists();
    let written = !arguments.check
        && (is_new || damaged || !moved.is_empty())
        && (!ask || agreed(context, arguments.yes, "lock what changed?"));
    if written {
        keep_texts(&project, &texts)?;
        lock.write(&file).map_err(unwritten)?;
    }
    tell(context, &file, &lock, &moved, written)?;
    let settled = written || (moved.is_empty() && !is_new && !damaged);
    Ok(match (settled, arguments.check) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Check,
        (false, false) => Exit::Approval,
    })
}

/// Returns how the skills differ from what is locked, in the order of paths.
fn moved(store: &TrustStore, before: &SkillsLock, now: &SkillsLock, texts: &Texts) -> Vec<Moved> {
    let paths: BTreeSet<&String> = before.skills.keys().chain(now.skills.keys()).collect();
    let difference = |path: &String| match (before.skills.get(path), now.skills.get(path)) {
        (Some(_), None) => Some((ChangeKind::Removed, Vec::new())),
        (None, Some(_)) => Some((ChangeKind::Added, Vec::new())),
        (Some(old), Some(new)) if old != new => {
            let texts = texts.get(path)?;
            Some((ChangeKind::Changed, files(store, texts, old, new)))
        }
        _ => None,
    };
    let moved = paths.into_iter().filter_map(|path| {
        let (kind, files) = difference(path)?;
        Some(Moved {
            path: path.clone(),
            kind,
            files,
        })
    });
    moved.collect()
}

fn files(
    store: &TrustStore,
    texts: &BTreeMap<String, String>,
    old: &LockedSkill,
    new: &LockedSkill,
) -> Vec<(Change, Option<String>)> {
    let changes = changes(&old.files, &new.files).into_iter();
    changes
        .map(|change| {
            let before = match old.files.get(&change.path) {
                Some(file) => store.text(&file.sha256),
                None => Some(String::new()),
            };
            let after = match new.files.get(&change.path) {
                Some(_) => texts.get(&change.path).cloned(),
                None => Some(String::new()),
            };
            let (was, is) = (old.files.get(&change.path), new.files.get(&change.path));
            let diff = before
                .zip(after)
                .map(|(before, after)| unified(&change.path, &before, &after));
            let diff = with_kind(was, is, diff);
            (change, diff)
        })
        .collect()
}

/// The texts of the skills as they were when their digests were taken, by path and by file.
type Texts = BTreeMap<String, BTreeMap<String, String>>;

fn all_texts(project: &Project, lock: &SkillsLock) -> Result<Texts, CliError> {
    let mut all = Texts::new();
    for (path, skill) in &lock.skills {
        let texts = texts(&project.root.join(path), &skill.files).map_err(unlockable)?;
        all.insert(path.clone(), texts);
    }
    Ok(all)
}

/// Keeps the texts that are locked, so that a later change can be shown on this machine.
fn keep_texts(project: &Project, texts: &Texts) -> Result<(), CliError> {
    for text in texts.values().flat_map(BTreeMap::values) {
        let kept = project.store.keep_text(text.as_bytes());
        kept.map_err(|error| {
            CliError::usage("the data folder cannot be written")
                .with_code("data_directory")
                .with_source(error)
        })?;
    }
    Ok(())
}

fn unlockable(error: TreeError) -> CliError {
    CliError::usage(error.to_string())
        .with_code("not_lockable")
        .with_path(&error.path)
        .with_source(error)
}

fn unwritten(error: LockError) -> CliError {
    CliError::usage(error.to_string())
        .with_code("lock_not_written")
        .with_hint("make the project's folder writable")
        .with_source(error)
}

fn tell(
    context: &Context,
    file: &Path,
    lock: &SkillsLock,
    moved: &[Moved],
    written: bool,
) -> Result<(), CliError> {
    if context.output.is_json() {
        let changes: Vec<Value> = moved.iter().map(json).collect();
        return context.output.json_line(&json!({
            "v": 1, "path": file.display().to_string(), "skills": lock.skills.len(), "written": written,
            "changes": changes,
        }));
    }
    let skills = counted(lock.skills.len(), "skill");
    let shown = context.environment.shown(file);
    if written {
        context.output.talk(&format!("locked {skills} in {shown}"));
    } else if moved.is_empty() && file.exists() {
        context
            .output
            .talk(&format!("{skills} as locked in {shown}"));
    } else {
        context.output.notice(&format!("{shown} was not written"));
    }
    Ok(())
}

fn json(moved: &Moved) -> Value {
    let files: Vec<Value> = moved
        .files
        .iter()
        .map(|(change, diff)| {
            json!({"path": change.path, "change": change.kind.as_str(), "diff": diff})
        })
        .collect();
    json!({"path": moved.path, "change": moved.kind.as_str(), "files": files})
}

fn text(moved: &[Moved]) -> String {
    let mut text = String::new();
    for one in moved {
        text.push_str(&format!(
            "{} {}\n",
            one.kind.as_str(),
            on_one_line(&one.path)
        ));
        for (change, diff) in &one.files {
            let path = on_one_line(&change.path);
            text.push_str(&format!("  {} {path}\n", change.kind.as_str()));
            for line in diff.iter().flat_map(|diff| diff.lines()) {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    text
}
