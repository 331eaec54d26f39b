//! `move`: a file or folder under another name, never over something that is there.

use std::io;

use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::Access;
use crate::builtin::tree::{Tree, same};
use crate::builtin::{blocking, still};
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{ErrorKind, Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Traced, Workspace, WorkspaceError};

/// Moves files and folders below the workspace root.
#[derive(Debug)]
pub(super) struct Move {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path of a file or folder relative to the workspace root.
    from: String,
    /// Its new path, at which nothing may be yet; missing folders are created.
    to: String,
}

/// A move that was looked at.
struct Moving {
    tree: Tree,
    to: Traced,
}

impl Move {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn moving(&self, arguments: &Arguments) -> Result<Moving, ToolError> {
        let tree = Tree::at(&self.workspace, &arguments.from)?;
        let to = self.workspace.trace_entry(&arguments.to)?;
        if to.resolved.starts_with(&format!("{}/", tree.path())) {
            let text = format!("`{}` cannot be moved into itself", escape_line(tree.path()));
            return Err(ToolError::new(ErrorKind::InvalidArguments, text));
        }
        if let Some(there) = self.workspace.look(&to.resolved)?
            && !same(&there, tree.found())
        {
            return Err(occupied(&to.resolved));
        }
        Ok(Moving { tree, to })
    }
}

impl Moving {
    /// What leaves a place is read there too: what must not be read must not come where it may.
    fn access(&self) -> Vec<Access> {
        let mut access = self.tree.touched(Access::Read);
        access.extend(self.tree.touched(Access::Delete));
        for to in std::iter::once(&self.to.resolved).chain(&self.to.through) {
            access.extend(self.tree.under(to, Access::Write));
        }
        access
    }
}

impl Tool for Move {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "move"
    }

    fn description(&self) -> &str {
        "Moves or renames a file or folder of the workspace. It never replaces what is there."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(self.moving(arguments)?.access())
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let moving = self.moving(arguments)?;
        let action = format!(
            "move {} to {} ({})",
            Value::from(moving.tree.path()),
            Value::from(moving.to.resolved.as_str()),
            moving.tree.describe()
        );
        Ok(Preview {
            action: Some(action),
            details: moving.tree.listing(),
            basis: Some(moving.tree.basis()),
        })
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let moving = self.moving(&arguments)?;
        still(context, &arguments.from, &moving.access())?;
        let approved = context.approved_basis().map(str::to_owned);
        let (workspace, cancel) = (self.workspace.clone(), context.cancel.clone());
        let moved = blocking(move || {
            let from = moving.tree.path();
            if approved.is_some_and(|basis| basis != moving.tree.basis()) {
                return Err(changed(from));
            }
            if cancel.is_cancelled() {
                return Err(ToolError::failed("stopped before anything was moved"));
            }
            rename(&workspace, &moving)?;
            Ok(format!(
                "moved `{}` to `{}`",
                escape_line(from),
                escape_line(&moving.to.resolved)
            ))
        });
        Ok(ToolOutput::text(moved.await?))
    }
}

/// Moves what was looked at; what took its place in the meantime goes back.
fn rename(workspace: &Workspace, moving: &Moving) -> Result<(), ToolError> {
    let (from, to) = (moving.tree.path(), moving.to.resolved.as_str());
    let (from_folder, from_name) = workspace.holder(from)?;
    let (to_folder, to_name) = workspace.make_parent(to)?;
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => occupied(to),
        _ => WorkspaceError::io(from, error, "a file or folder").into(),
    };
    // Another spelling of the same name is there already, and may be taken.
    if to_folder
        .symlink_metadata(to_name)
        .is_ok_and(|there| same(&there, moving.tree.found()))
    {
        return from_folder
            .rename(from_name, &to_folder, to_name)
            .map_err(fail);
    }
    rename_to_free(&from_folder, from_name, &to_folder, to_name).map_err(fail)?;
    let arrived = to_folder.symlink_metadata(to_name).map_err(fail)?;
    if same(&arrived, moving.tree.found()) {
        return Ok(());
    }
    rename_to_free(&to_folder, to_name, &from_folder, from_name).map_err(fail)?;
    Err(changed(from))
}

/// Renames without replacing anything.
#[cfg(target_os = "linux")]
fn rename_to_free(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(from, name, to, new, RenameFlags::NOREPLACE) {
        // A file system that does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) => rename_after_look(from, name, to, new),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_to_free(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    rename_after_look(from, name, to, new)
}

fn rename_after_look(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    if to.symlink_metadata(new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from.rename(name, to, new)
}

fn occupied(path: &str) -> ToolError {
    let text = format!(
        "there is something at `{}` already, and it was left as it is; give a path at which nothing is",
        escape_line(path)
    );
    ToolError::new(ErrorKind::InvalidArguments, text)
}

pub(super) fn changed(path: &str) -> ToolError {
    let text = format!(
        "`{}` changed after this was decided on, so it was left as it is",
        escape_line(path)
    );
    ToolError::new(ErrorKind::Denied, text)
}
