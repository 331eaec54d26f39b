//! `tekne skills check --fix`: repaired values are written quoted, shown first, and nothing else of
//! a file changes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skill_core::{Origin, Scope, Snapshot, mend};

use crate::app::Context;
use crate::approver::confirm;
use crate::error::{CliError, Exit};
use crate::render::diff::unified;
use crate::render::terminal::{counted, visible};

/// A file that can be mended.
#[derive(Debug)]
pub(super) struct Fix {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
    diff: String,
    /// Whether it was.
    pub(super) written: bool,
}

impl Fix {
    pub(super) fn json(&self) -> Value {
        json!({"path": self.path.display().to_string(), "diff": self.diff, "written": self.written})
    }
}

/// Shows what would change, asks, and writes it.
pub(super) fn run(context: &Context, snapshot: &Snapshot, yes: bool) -> Result<Vec<Fix>, CliError> {
    let mut fixes = fixes(context, snapshot);
    if fixes.is_empty() {
        return Ok(fixes);
    }
    if !context.output.is_json() {
        let diffs: Vec<&str> = fixes.iter().map(|fix| fix.diff.as_str()).collect();
        context.output.data(&visible(&diffs.concat()))?;
    }
    let question = format!("write this to {}?", counted(fixes.len(), "file"));
    let interactive = context.environment.is_interactive(context.output.is_json());
    if yes || (interactive && confirm(&question)) {
        for fix in &mut fixes {
            write(fix).map_err(|error| {
                CliError::new(Exit::Failed, "not_fixed", "the file cannot be mended")
                    .with_path(&fix.path)
                    .with_source(error)
            })?;
            fix.written = true;
        }
    }
    Ok(fixes)
}

fn fixes(context: &Context, snapshot: &Snapshot) -> Vec<Fix> {
    let reports = snapshot.reports().iter();
    reports
        .filter_map(|report| {
            let skill = report.skill.as_ref()?;
            let repaired = report.diagnostics.iter().any(|one| one.code == "SK021");
            if !repaired || skill.scope == Scope::Builtin {
                return None;
            }
            let origin = Origin {
                path: report.path.clone(),
                format: skill.format,
                scope: skill.scope,
            };
            let before = fs::read(&report.path).ok()?;
            let after = mend(&before, &origin).bytes;
            let shown = context.environment.shown(&report.path);
            let text = String::from_utf8_lossy;
            let diff = unified(&shown, &text(&before), &text(&after));
            (before != after).then_some(Fix {
                path: report.path.clone(),
                before,
                after,
                diff,
                written: false,
            })
        })
        .collect()
}

/// Puts the mended file in the place of the one that was shown, if that is still the same.
fn write(fix: &Fix) -> io::Result<()> {
    // Through a link, the file it leads to is mended.
    let path = fix.path.canonicalize()?;
    if fs::read(&path)? != fix.before {
        return Err(io::Error::other("it changed meanwhile"));
    }
    let beside = beside(&path);
    let written = fill(&beside, &path, &fix.after).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What is left of the attempt only gets tidied up.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(beside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(beside)?;
    file.write_all(bytes)?;
    file.set_permissions(fs::metadata(path)?.permissions())?;
    file.sync_all()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}
