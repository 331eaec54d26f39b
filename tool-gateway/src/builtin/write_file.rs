//! `write_file`: a whole file, new or replaced at once.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::time::Duration;

use cap_std::fs::{Dir, File, OpenOptions, Permissions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use similar::TextDiff;

use crate::access::Access;
use crate::builtin::{blocking, granted, touched};
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::tool::{Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// The longest file that is compared for the preview; a longer one is shown as its new text.
const MAX_DIFF_BYTES: u64 = 512 * 1024;

/// How long the comparison may take before it gets coarser.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// How often another temporary name is tried.
const MAX_NAME_TRIES: u32 = 16;

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

    /// Returns the present text; `None` if there is none or it is too long to compare.
    fn present_text(&self, resolved: &str) -> Option<String> {
        let file = self.workspace.open_file(resolved).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_DIFF_BYTES + 1).read_to_end(&mut bytes).ok()?;
        let comparable = bytes.len() as u64 <= MAX_DIFF_BYTES;
        comparable.then(|| String::from_utf8_lossy(&bytes).into_owned())
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
        let exists = matches!(self.workspace.look(&resolved), Ok(Some(_)));
        let state = if exists {
            "replaces the file"
        } else {
            "new file"
        };
        let digest = sha256_hex(content.as_bytes());
        let action = format!(
            "write_file {} ({} bytes, {state}, sha256 {digest})",
            Value::from(resolved.as_str()),
            content.len()
        );
        let details = match self.present_text(&resolved) {
            Some(present) if exists => diff(&present, content, &resolved),
            _ => content.clone(),
        };
        Preview {
            action: Some(action),
            details: Some(details),
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
        let written = blocking(move || {
            let replaced = replace(&workspace, &path, arguments.content.as_bytes())?;
            let verb = if replaced { "replaced" } else { "created" };
            Ok(format!("{verb} `{path}` ({bytes} bytes)"))
        });
        Ok(ToolOutput::text(written.await?))
    }
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
            "`{resolved}` is read-only and was left as it is"
        )));
    }
    Ok(Some(found.permissions()))
}

/// Writes beside the file, then puts the new file in its place: a reader sees the old text or the
/// new one, and after a crash one of the two is there. Returns whether a file was replaced.
fn replace(workspace: &Workspace, resolved: &str, content: &[u8]) -> Result<bool, ToolError> {
    let permissions = writable(workspace, resolved)?;
    let replaced = permissions.is_some();
    let (folder, name) = workspace.make_parent(resolved)?;
    let fail = |error| ToolError::from(WorkspaceError::io(resolved, error, "a file"));
    let (beside, file) = create_beside(&folder).map_err(fail)?;
    let put = fill(file, content, permissions).and_then(|()| folder.rename(&beside, &folder, name));
    if let Err(error) = put {
        // The write failed; what is left of it only gets tidied up.
        let _ = folder.remove_file(&beside);
        return Err(fail(error));
    }
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

/// Creates a file with a name that nobody can foresee and nothing has.
fn create_beside(folder: &Dir) -> io::Result<(String, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut tries = 0;
    loop {
        let name = format!(
            ".write-{:016x}.tmp",
            RandomState::new().build_hasher().finish()
        );
        match folder.open_with(&name, &options) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_NAME_TRIES =>
            {
                tries += 1
            }
            opened => return opened.map(|file| (name, file)),
        }
    }
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
