//! What is moved or deleted as a whole: a file, a link, or a folder with all that is below it.

use std::fmt::Write as _;

use cap_std::fs::Metadata;

use crate::access::{Access, PathTarget};
use crate::builtin::within;
use crate::digest::sha256_hex;
use crate::escape::escape_line;
use crate::tool::ToolError;
use crate::workspace::{Traced, Workspace, WorkspaceError, WorkspaceErrorKind};

/// How many things a folder may hold to be moved or deleted as a whole: each is judged.
const MAX_ENTRIES: usize = 1_000;

/// How many names of a folder a person is shown.
const MAX_SHOWN: usize = 200;

/// A thing of the workspace and all that goes with it.
pub(super) struct Tree {
    traced: Traced,
    found: Metadata,
    /// What is below it, as paths below the thing itself, sorted; folders before what they hold.
    below: Vec<(String, Metadata)>,
}

impl Tree {
    /// Looks at what `path` names; a link is the link itself.
    pub(super) fn at(workspace: &Workspace, path: &str) -> Result<Self, ToolError> {
        let traced = workspace.trace_entry(path)?;
        let resolved = &traced.resolved;
        let Some(found) = workspace.look(resolved)? else {
            let missing = WorkspaceErrorKind::NotFound(String::new());
            return Err(WorkspaceError::new(path, missing).into());
        };
        let mut tree = Self {
            traced,
            found,
            below: Vec::new(),
        };
        if tree.found.is_dir() {
            tree.walk(workspace)?;
        }
        Ok(tree)
    }

    fn walk(&mut self, workspace: &Workspace) -> Result<(), ToolError> {
        let top = self.traced.resolved.clone();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let path = join(&top, &folder);
            let fail = |error| ToolError::from(WorkspaceError::io(&path, error, "a folder"));
            let mut names = Vec::new();
            for entry in workspace.open_folder(&path)?.entries().map_err(fail)? {
                let entry = entry.map_err(fail)?;
                let Ok(name) = entry.file_name().into_string() else {
                    let shown = escape_line(&path);
                    let text =
                        format!("`{shown}` holds a name that is no text; it was left as it is");
                    return Err(ToolError::failed(text));
                };
                names.push((name, entry.metadata().map_err(fail)?));
                if self.below.len() + names.len() > MAX_ENTRIES {
                    let shown = escape_line(&top);
                    let text = format!(
                        "`{shown}` holds more than {MAX_ENTRIES} files and folders; go on with the folders in it one by one"
                    );
                    return Err(ToolError::failed(text));
                }
            }
            for (name, found) in names {
                let path = join(&folder, &name);
                if found.is_dir() {
                    folders.push(path.clone());
                }
                self.below.push((path, found));
            }
        }
        self.below.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(())
    }

    /// Returns its path with links resolved.
    pub(super) fn path(&self) -> &str {
        &self.traced.resolved
    }

    pub(super) fn found(&self) -> &Metadata {
        &self.found
    }

    /// Returns the capabilities for all of it, by every name that leads there.
    pub(super) fn touched(&self, access: fn(PathTarget) -> Access) -> Vec<Access> {
        let names = std::iter::once(&self.traced.resolved).chain(&self.traced.through);
        names.flat_map(|top| self.under(top, access)).collect()
    }

    /// Returns the capabilities for all of it, were it at the path `top`.
    pub(super) fn under(&self, top: &str, access: fn(PathTarget) -> Access) -> Vec<Access> {
        let below = self.below.iter().map(|(path, _)| join(top, path));
        std::iter::once(top.to_owned())
            .chain(below)
            .map(|path| access(PathTarget::Inside(path)))
            .collect()
    }

    /// Returns what it is, in words.
    pub(super) fn describe(&self) -> String {
        match &self.found {
            found if found.is_dir() => match self.below.len() {
                0 => "an empty folder".to_owned(),
                1 => "a folder with 1 thing in it".to_owned(),
                count => format!("a folder with {count} things in it"),
            },
            found if found.is_symlink() => "a link, not what it leads to".to_owned(),
            found if found.is_file() => format!("a file of {} bytes", found.len()),
            _ => "a special file".to_owned(),
        }
    }

    /// Returns the names of what is below it, one a line.
    pub(super) fn listing(&self) -> Option<String> {
        let mut lines: Vec<String> = self
            .below
            .iter()
            .take(MAX_SHOWN)
            .map(|(path, found)| {
                let end = if found.is_dir() { "/" } else { "" };
                format!("{path}{end}")
            })
            .collect();
        if self.below.len() > MAX_SHOWN {
            lines.push(format!("(and {} more)", self.below.len() - MAX_SHOWN));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Returns a text that is another one once anything of it was changed or replaced.
    pub(super) fn basis(&self) -> String {
        let mut text = stamp(&self.found);
        for (path, found) in &self.below {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{path} {}", stamp(found));
        }
        sha256_hex(text.as_bytes())
    }
}

/// Tells whether two looks saw the same thing.
pub(super) fn same(one: &Metadata, other: &Metadata) -> bool {
    identity(one) == identity(other)
}

#[cfg(unix)]
fn identity(found: &Metadata) -> (u64, u64) {
    use cap_std::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn identity(found: &Metadata) -> (u64, u64) {
    (found.len(), 0)
}

fn stamp(found: &Metadata) -> String {
    let length = if found.is_dir() { 0 } else { found.len() };
    let written = found.modified().ok().filter(|_| !found.is_dir());
    format!(
        "{:?} {:?} {length} {written:?}",
        found.file_type(),
        identity(found)
    )
}

fn join(top: &str, below: &str) -> String {
    match (top, below) {
        ("", below) => below.to_owned(),
        (top, "") => top.to_owned(),
        (top, below) => within(top, below),
    }
}
