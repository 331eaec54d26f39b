//! `list_dir`: what is in a folder.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Access;
use crate::builtin::{blocking, granted, touched, within};
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// How many names are shown.
const MAX_NAMES: usize = 1_000;

/// How many names are read and sorted; a folder with more is shown in part.
const MAX_READ: usize = 100_000;

/// Lists folders below the workspace root.
#[derive(Debug)]
pub(super) struct ListDir {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path relative to the workspace root; the root itself if left out.
    path: Option<String>,
}

impl Arguments {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

impl ListDir {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Tool for ListDir {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "list_dir"
    }

    fn description(&self) -> &str {
        "Lists a folder of the workspace: one name a line, sorted, folders with a trailing `/`."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        let traced = self.workspace.trace(arguments.path())?;
        Ok(touched(&traced, Access::Read))
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, arguments.path(), Access::Read).await?;
        let workspace = self.workspace.clone();
        let context = context.clone();
        let names = blocking(move || {
            let fail = |error| ToolError::from(WorkspaceError::io(&path, error, "a folder"));
            let mut names = Vec::new();
            let mut entries = workspace.open_folder(&path)?.entries().map_err(fail)?;
            for entry in entries.by_ref().take(MAX_READ) {
                let entry = entry.map_err(fail)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let below = within(&path, &name);
                if context.may_read(&below) {
                    names.push((name, entry.file_type().map_err(fail)?));
                }
            }
            names.sort_by(|a, b| a.0.cmp(&b.0));
            Ok((names, entries.next().is_some()))
        });
        let (names, unread) = names.await?;
        let mut lines: Vec<String> = names
            .iter()
            .take(MAX_NAMES)
            .map(|(name, kind)| (escape_line(name), kind))
            .map(|(name, kind)| match kind {
                kind if kind.is_dir() => format!("{name}/"),
                kind if kind.is_symlink() => format!("{name} (link)"),
                kind if kind.is_file() => name,
                _ => format!("{name} (special)"),
            })
            .collect();
        if names.is_empty() {
            // A name that may not be read is not there, so its folder can be an empty one.
            lines.push("[the folder is empty]".to_owned());
        }
        if unread {
            lines.push(format!(
                "[only {MAX_READ} names were read, in no order; there are more]"
            ));
        }
        if names.len() > MAX_NAMES {
            let left = names.len() - MAX_NAMES;
            lines.push(format!(
                "[{left} more names; list a folder below, or use search_files with a glob]"
            ));
        }
        Ok(ToolOutput::text(lines.join("\n")))
    }
}
