//! `delete`: a file or folder into the trash, from where a person can take it back.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::Access;
use crate::builtin::change::{Present, State, diff};
use crate::builtin::move_path::changed;
use crate::builtin::trash::Trash;
use crate::builtin::tree::{Tree, same};
use crate::builtin::{blocking, still};
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// Deletes files and folders below the workspace root.
#[derive(Debug)]
pub(super) struct Delete {
    workspace: Workspace,
    trash: Trash,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path of a file or folder relative to the workspace root.
    path: String,
}

impl Delete {
    pub(super) fn new(workspace: Workspace, trash: Trash) -> Self {
        Self { workspace, trash }
    }
}

impl Tool for Delete {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "delete"
    }

    fn description(&self) -> &str {
        "Deletes a file or a folder with all that is in it. It goes to the trash, where the user can take it back."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        let tree = Tree::at(&self.workspace, &arguments.path)?;
        Ok(tree.touched(Access::Delete))
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let tree = Tree::at(&self.workspace, &arguments.path)?;
        let action = format!(
            "delete {} ({}), to the trash",
            Value::from(tree.path()),
            tree.describe()
        );
        let gone = || match Present::at(&self.workspace, tree.path()).state {
            State::Text(text) => Some(diff(&text, "", tree.path())),
            _ => None,
        };
        Ok(Preview {
            action: Some(action),
            details: tree.listing().or_else(gone),
            basis: Some(tree.basis()),
        })
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let tree = Tree::at(&self.workspace, &arguments.path)?;
        still(context, &arguments.path, &tree.touched(Access::Delete))?;
        let approved = context.approved_basis().map(str::to_owned);
        let (workspace, trash) = (self.workspace.clone(), self.trash.clone());
        let cancel = context.cancel.clone();
        let deleted = blocking(move || {
            let path = tree.path();
            if approved.is_some_and(|basis| basis != tree.basis()) {
                return Err(changed(path));
            }
            if cancel.is_cancelled() {
                return Err(ToolError::failed("stopped before anything was deleted"));
            }
            let shown = escape_line(path);
            let (folder, name) = workspace.holder(path)?;
            let now = folder
                .symlink_metadata(name)
                .map_err(|error| WorkspaceError::io(path, error, "a file or folder"))?;
            if !same(&now, tree.found()) {
                return Err(changed(path));
            }
            let original = workspace.path().join(path);
            let kept = trash.take(&folder, name, &original).map_err(|error| {
                let text = format!(
                    "`{shown}` could not be moved to the trash and was left as it is: {error}"
                );
                ToolError::failed(text).with_source(error)
            })?;
            Ok(format!(
                "deleted `{shown}`; it is in the trash as `{}`",
                escape_line(&kept)
            ))
        });
        Ok(ToolOutput::text(deleted.await?))
    }
}
