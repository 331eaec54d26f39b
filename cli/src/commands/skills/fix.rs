//! `tekne skills check --fix`: repaired values are written quoted, shown first, and nothing else of
//! a file changes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skill_core::{Origin, ScanLimits, Scope, Snapshot, mend};

use crate::app::Context;
use crate::approver::agreed;
use crate::error::{CliError, Exit};
use crate::render::diff::unified;
use crate::render::terminal::{counted, visible};
use crate::setup::{Project, user_skills};

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
    if agreed(context, yes, &question) {
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
    let mut seen = BTreeSet::new();
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
            let path = report.path.canonicalize().ok()?;
            if let Some(why) = refusal(context, &report.path, &path) {
                let shown = context.environment.shown(&report.path);
                context
                    .output
                    .notice(&format!("{shown} stays as it is: {why}"));
                return None;
            }
            // By whatever ways it is reached, a file is mended once.
            if !seen.insert(path.clone()) {
                return None;
            }
            let before = fs::read(&path).ok()?;
            let after = mend(&before, &origin).bytes;
            let shown = context.environment.shown(&report.path);
            let text = String::from_utf8_lossy;
            let diff = unified(&shown, &text(&before), &text(&after));
            (before != after).then_some(Fix {
                path,
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
    let path = &fix.path;
    if path.canonicalize()? != *path || fs::read(path)? != fix.before {
        return Err(io::Error::other("it changed meanwhile"));
    }
    let beside = beside(path);
    let written = fill(&beside, path, &fix.after).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt only gets tidied up.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(beside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(beside)?;
    let before = fs::metadata(path)?;
    file.write_all(bytes)?;
    keep_owner(&file, &before)?;
    file.set_permissions(before.permissions())?;
    file.sync_all()
}

/// Gives a file the owner of the one whose place it takes.
#[cfg(unix)]
fn keep_owner(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    fchown(file, Some(before.uid()), Some(before.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _before: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns why the file at `real`, reached at `path`, is not ours to replace.
fn refusal(context: &Context, path: &Path, real: &Path) -> Option<String> {
    let project = Project::of(&context.environment);
    let top = project.map_or_else(|| context.environment.cwd.clone(), |project| project.root);
    let is_below = |folder: &PathBuf| folder.canonicalize().is_ok_and(|top| real.starts_with(top));
    let is_ours = [top, user_skills(context)].iter().any(is_below);
    if real != path && !is_ours {
        return Some(format!("a link leads to {}", real.display()));
    }
    let metadata = match fs::metadata(real) {
        Ok(metadata) => metadata,
        Err(error) => return Some(error.to_string()),
    };
    if !metadata.is_file() {
        return Some("it is no file".to_owned());
    }
    if metadata.len() > ScanLimits::default().file_bytes {
        return Some("it is too long".to_owned());
    }
    if metadata.permissions().readonly() {
        return Some("it is read-only".to_owned());
    }
    has_other_names(&metadata).then(|| "it has other names that would part from it".to_owned())
}

#[cfg(unix)]
fn has_other_names(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_metadata: &fs::Metadata) -> bool {
    false
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}
