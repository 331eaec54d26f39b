//! `write_file`: a whole file, new or replaced at once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::Access;
use crate::builtin::change::{LastLook, Present, State, diff, replace, writable};
use crate::builtin::{blocking, granted, touched};
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::escape::escape_line;
use crate::tool::{Preview, Tool, ToolError, ToolOutput};
use crate::workspace::Workspace;

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

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let resolved = self.workspace.resolve(&arguments.path)?;
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
        Ok(Preview {
            action: Some(action),
            details: Some(details),
            basis: Some(present.basis),
        })
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, &arguments.path, Access::Write).await?;
        let workspace = self.workspace.clone();
        let bytes = arguments.content.len();
        let look = LastLook::new(context, &workspace, &path, "write_file");
        let written = blocking(move || {
            let check = || look.check();
            let replaced = replace(&workspace, &path, arguments.content.as_bytes(), check)?;
            let verb = if replaced { "replaced" } else { "created" };
            let path = escape_line(&path);
            Ok(format!("{verb} `{path}` ({bytes} bytes)"))
        });
        Ok(ToolOutput::text(written.await?))
    }
}
