//! `write_file`: a whole file, new or replaced at once.

mod beside;
mod present;

use std::io::{self, Write};
use std::time::Duration;

use cap_std::fs::{File, Permissions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use similar::TextDiff;

use present::{Present, State};

use crate::access::Access;
use crate::builtin::{blocking, granted, touched};
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::escape::escape_line;
use crate::tool::{ErrorKind, Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// How long the comparison may take before it gets coarser.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Writes files below the workspace root.
#[derive(Debug)]
pub(super) struct WriteFile {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path relative to the workspace root; missing folders are created.
    path: String,
    /// The whole new text of the file.
    content: String,
}

impl WriteFile {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Tool for WriteFile {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "write_file"
    }

    fn description(&self) -> &str {
        "Writes a text file of the workspace, replacing what it held. Give the whole new content."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        let traced = self.workspace.trace(&arguments.path)?;
        writable(&self.workspace, &traced.resolved)?;
        Ok(touched(&traced, Access::Write))
    }

    fn preview(&self, arguments: &Arguments) -> Preview {
        let Ok(resolved) = self.workspace.resolve(&arguments.path) else {
            return Preview::default();
        };
        let content = &arguments.content;
        let present = Present::at(&self.workspace, &resolved);
        let state = match present.state {
            State::Absent => "new file",
            _ => "replaces the file",
        };
        let digest = sha256_hex(content.as_bytes());
        let action = format!(
            "write_file {} ({} bytes, {state}, sha256 {digest})",
            Value::from(resolved.as_str()),
            content.len()
        );
        let details = match &present.state {
            State::Absent => content.clone(),
            State::Text(text) => diff(text, content, &resolved),
            State::Unknown => {
                format!("(what is there cannot be compared; the new text:)\n{content}")
            }
        };
        Preview {
            action: Some(action),
            details: Some(details),
            basis: Some(present.basis),
        }
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, &arguments.path, Access::Write)?;
        let workspace = self.workspace.clone();
        let bytes = arguments.content.len();
        let basis = context.approved_basis().map(str::to_owned);
        let cancel = context.cancel.clone();
        let written = blocking(move || {
            // The last look before the new file takes its place.
            let check = || {
                let shown = escape_line(&path);
                if cancel.is_cancelled() {
                    let text = format!("stopped before `{shown}` was written; nothing changed");
                    return Err(ToolError::failed(text));
                }
                match &basis {
                    Some(basis) if *basis != Present::at(&workspace, &path).basis => {
                        Err(changed(&shown))
                    }
                    _ => Ok(()),
                }
            };
            let replaced = replace(&workspace, &path, arguments.content.as_bytes(), check)?;
            let verb = if replaced { "replaced" } else { "created" };
            let path = escape_line(&path);
            Ok(format!("{verb} `{path}` ({bytes} bytes)"))
        });
        Ok(ToolOutput::text(written.await?))
    }
}

/// The approval was given for a change of something else.
fn changed(path: &str) -> ToolError {
    let text = format!(
        "`{path}` changed after the change was approved, so it was not written; read it again and call write_file again, which asks again"
    );
    ToolError::new(ErrorKind::Denied, text)
}

/// Returns the permissions of the file that is there, and refuses what is no writable file.
fn writable(workspace: &Workspace, resolved: &str) -> Result<Option<Permissions>, ToolError> {
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
fn replace(
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
fn diff(before: &str, after: &str, path: &str) -> String {
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
