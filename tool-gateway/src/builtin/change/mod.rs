//! Changes of one file: what is there, how the change looks, and putting it in place at once.

mod beside;
mod present;

use std::io::{self, Write};
use std::time::Duration;

use cap_std::fs::{File, Permissions};
use similar::TextDiff;
use tokio_util::sync::CancellationToken;

pub(super) use present::{Present, State};

use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{ErrorKind, ToolError};
use crate::workspace::{Workspace, WorkspaceError};

/// How long the comparison may take before it gets coarser.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// The last look before a change takes place.
pub(super) struct LastLook {
    workspace: Workspace,
    path: String,
    tool: &'static str,
    /// What the file has to be still: what was approved, else what the change was made from.
    basis: Option<String>,
    cancel: CancellationToken,
}

impl LastLook {
    /// Returns the look for a call of `tool` that changes the file at a resolved path.
    pub(super) fn new(
        context: &ToolContext,
        workspace: &Workspace,
        path: &str,
        tool: &'static str,
    ) -> Self {
        Self {
            workspace: workspace.clone(),
            path: path.to_owned(),
            tool,
            basis: context.approved_basis().map(str::to_owned),
            cancel: context.cancel.clone(),
        }
    }

    /// Binds the change to what it was made from, where nobody approved it.
    pub(super) fn bind(&mut self, basis: &str) -> Result<(), ToolError> {
        match &self.basis {
            Some(approved) if approved != basis => Err(self.changed()),
            Some(_) => Ok(()),
            None => {
                self.basis = Some(basis.to_owned());
                Ok(())
            }
        }
    }

    /// Fails if the call was cancelled, or if the file is not what it was.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            let shown = escape_line(&self.path);
            let text = format!("stopped before `{shown}` was changed; nothing changed");
            return Err(ToolError::failed(text));
        }
        match &self.basis {
            Some(basis) if *basis != Present::at(&self.workspace, &self.path).basis => {
                Err(self.changed())
            }
            _ => Ok(()),
        }
    }

    /// The change was meant for something else.
    fn changed(&self) -> ToolError {
        let (path, tool) = (escape_line(&self.path), self.tool);
        let text = format!(
            "`{path}` changed after the change was decided on, so it was left as it is; read it again and call {tool} again"
        );
        ToolError::new(ErrorKind::Denied, text)
    }
}

/// Returns the permissions of the file that is there, and refuses what is no writable file.
pub(super) fn writable(
    workspace: &Workspace,
    resolved: &str,
) -> Result<Option<Permissions>, ToolError> {
    let Some(found) = workspace.look(resolved)? else {
        return Ok(None);
    };
    if !found.is_file() {
        return Err(WorkspaceError::not(resolved, "a file", found.file_type()).into());
    }
    if found.permissions().readonly() {
        return Err(ToolError::failed(format!(
            "`{}` is read-only and was left as it is",
            escape_line(resolved)
        )));
    }
    Ok(Some(found.permissions()))
}

/// Writes beside the file, then puts the new file in its place: a reader sees the old text or the
/// new one, and after a crash one of the two is there. `check` has the last word. Returns whether
/// a file was replaced.
pub(super) fn replace(
    workspace: &Workspace,
    resolved: &str,
    content: &[u8],
    check: impl FnOnce() -> Result<(), ToolError>,
) -> Result<bool, ToolError> {
    let permissions = writable(workspace, resolved)?;
    let replaced = permissions.is_some();
    let (folder, name) = workspace.make_parent(resolved)?;
    let fail = |error| ToolError::from(WorkspaceError::io(resolved, error, "a file"));
    let (beside, file) = beside::create(&folder).map_err(fail)?;
    let put = fill(file, content, permissions)
        .map_err(fail)
        .and_then(|()| check())
        .and_then(|()| folder.rename(&beside, &folder, name).map_err(fail));
    if let Err(error) = put {
        // The write failed; what is left of it only gets tidied up.
        let _ = folder.remove_file(&beside);
        return Err(error);
    }
    beside::tidy(&folder, name);
    // The new name is durable once its folder is.
    folder
        .open(".")
        .and_then(|folder| folder.sync_all())
        .map_err(fail)?;
    Ok(replaced)
}

fn fill(mut file: File, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

/// Returns what changes, as a unified diff.
pub(super) fn diff(before: &str, after: &str, path: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(before, after);
    let unified = diff.unified_diff().header(path, path).to_string();
    if unified.is_empty() {
        "(no change)".to_owned()
    } else {
        unified
    }
}
