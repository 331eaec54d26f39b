//! `tidy`: the rules that a machine can hold, each finding with its place and its remedy.

mod edges;
mod lock;
mod network;
mod readme;
mod sources;

pub(crate) use edges::libraries;

use std::fmt;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::Outcome;
use crate::cargo::{output, root};

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Path from the top of the repository.
    file: String,
    /// Counted from 1.
    line: usize,
    message: String,
    mend: String,
}

impl Finding {
    fn new(
        file: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            message: message.into(),
            mend: mend.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            message,
            mend,
        } = self;
        write!(formatter, "{file}:{line}: {message}\n    mend: {mend}")
    }
}

/// Checks the repository and fails when any rule is broken.
pub(crate) fn run() -> Outcome {
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()?;
    let files = tracked_files()?;

    let mut findings = edges::check(&metadata, root());
    findings.extend(network::check(&metadata, root())?);
    findings.extend(lock::check(root())?);
    findings.extend(readme::check(&metadata, root()));
    let sources = sources::check(&files, root())?;
    findings.extend(sources.findings);

    for warning in &sources.warnings {
        println!("warning: {warning}");
    }
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, nothing to mend", files.len());
            Ok(())
        }
        count => Err(format!("tidy: {count} to mend").into()),
    }
}

/// Returns what git tracks or would track, as paths from the top of the repository.
fn tracked_files() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let listed = output(git.current_dir(root()))?;
    let mut files: Vec<String> = listed
        .split_terminator('\0')
        .map(str::to_owned)
        .filter(|file| is_there(file))
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// A deleted file stays in git's list until the deletion is staged.
fn is_there(file: &str) -> bool {
    root().join(file).is_file()
}

/// Returns a package's manifest as a path from the top of the repository.
fn manifest_of(package: &Package, root: &Path) -> String {
    let path = package.manifest_path.as_std_path();
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// Returns the packages of this workspace in the order of their names.
fn members(metadata: &Metadata) -> Vec<&Package> {
    let mut members = metadata.workspace_packages();
    members.sort_by(|left, right| left.name.as_str().cmp(right.name.as_str()));
    members
}
