//! `edit_file`: one passage of a file replaced, exactly.

use std::io::Read;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::Access;
use crate::builtin::change::{LastLook, diff, replace, writable};
use crate::builtin::{blocking, still, touched};
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::escape::escape_line;
use crate::tool::{ErrorKind, Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// The longest file that is edited.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How many places of a passage that is not unique are named.
const MAX_PLACES: usize = 5;

/// Replaces a passage of a file below the workspace root.
#[derive(Debug)]
pub(super) struct EditFile {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path relative to the workspace root.
    path: String,
    /// The passage to replace, exactly as the file has it; it must occur once.
    old: String,
    /// What takes its place.
    new: String,
}

impl EditFile {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn resolve(&self, path: &str) -> Result<(String, Vec<Access>), ToolError> {
        let traced = self.workspace.trace(path)?;
        writable(&self.workspace, &traced.resolved)?;
        let mut access = touched(&traced, Access::Read);
        access.extend(touched(&traced, Access::Write));
        Ok((traced.resolved, access))
    }
}

impl Tool for EditFile {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "edit_file"
    }

    fn description(&self) -> &str {
        "Replaces one passage of a text file of the workspace. Give enough of the text around it that it occurs once."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        if arguments.old.is_empty() {
            let text =
                "`old` is empty: give the passage to replace, or use write_file for a new file";
            return Err(ToolError::new(ErrorKind::InvalidArguments, text));
        }
        if arguments.old == arguments.new {
            let text = "`old` and `new` are the same: there is nothing to change";
            return Err(ToolError::new(ErrorKind::InvalidArguments, text));
        }
        Ok(self.resolve(&arguments.path)?.1)
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let resolved = self.workspace.resolve(&arguments.path)?;
        let edit = Edit::of(&self.workspace, &resolved, arguments)?;
        let digest = sha256_hex(edit.after.as_bytes());
        let action = format!(
            "edit_file {} (line {}, then {} bytes, sha256 {digest})",
            Value::from(resolved.as_str()),
            edit.line,
            edit.after.len(),
        );
        Ok(Preview {
            action: Some(action),
            details: Some(diff(&edit.before, &edit.after, &resolved)),
            basis: Some(edit.basis),
        })
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let (path, access) = self.resolve(&arguments.path)?;
        still(context, &arguments.path, &access)?;
        let workspace = self.workspace.clone();
        let mut look = LastLook::new(context, &workspace, &path, "edit_file");
        let edited = blocking(move || {
            let edit = Edit::of(&workspace, &path, &arguments)?;
            look.bind(&edit.basis)?;
            replace(&workspace, &path, edit.after.as_bytes(), || look.check())?;
            Ok(format!(
                "edited `{}` at line {} ({} bytes, were {})",
                escape_line(&path),
                edit.line,
                edit.after.len(),
                edit.before.len()
            ))
        });
        Ok(ToolOutput::text(edited.await?))
    }
}

/// A file before and after its edit.
struct Edit {
    before: String,
    after: String,
    /// The line in which the passage begins, from 1.
    line: usize,
    /// The digest of what was read.
    basis: String,
}

impl Edit {
    fn of(workspace: &Workspace, resolved: &str, arguments: &Arguments) -> Result<Self, ToolError> {
        let before = text(workspace, resolved)?;
        let (old, shown) = (arguments.old.as_str(), escape_line(resolved));
        let places = places(&before, old);
        let at = match places.as_slice() {
            [at] => *at,
            [] => {
                let hint = near(&before, old);
                let text = format!("`old` does not occur in `{shown}`{hint}; nothing changed");
                return Err(ToolError::new(ErrorKind::NotFound, text));
            }
            several => {
                let lines: Vec<String> = several
                    .iter()
                    .take(MAX_PLACES)
                    .map(|at| line_of(&before, *at).to_string())
                    .collect();
                let more = if several.len() > MAX_PLACES {
                    ", …"
                } else {
                    ""
                };
                let text = format!(
                    "`old` occurs {} times in `{shown}` (lines {}{more}); give more of the text around the one that is meant; nothing changed",
                    several.len(),
                    lines.join(", ")
                );
                return Err(ToolError::new(ErrorKind::InvalidArguments, text));
            }
        };
        let mut after = before.clone();
        after.replace_range(at..at + old.len(), &arguments.new);
        Ok(Self {
            line: line_of(&before, at),
            basis: sha256_hex(before.as_bytes()),
            before,
            after,
        })
    }
}

/// Reads the text of a file, whole.
fn text(workspace: &Workspace, resolved: &str) -> Result<String, ToolError> {
    let shown = escape_line(resolved);
    let mut bytes = Vec::new();
    workspace
        .open_file(resolved)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| WorkspaceError::io(resolved, error, "a file"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let text = format!("`{shown}` is longer than {MAX_FILE_BYTES} bytes and cannot be edited");
        return Err(ToolError::failed(text));
    }
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        ToolError::failed(format!("`{shown}` is no UTF-8 text and cannot be edited"))
    })
}

/// Returns where `old` begins in `text`, occurrences that overlap included.
fn places(text: &str, old: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let at = from + at;
        places.push(at);
        let step = text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        from = at + step;
    }
    places
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Says what of the file comes near to `old`, where that explains why it was not found.
fn near(text: &str, old: &str) -> String {
    if text.contains("\r\n") && !old.contains('\r') && text.contains(&old.replace('\n', "\r\n")) {
        return "; its lines end in CR LF, so write `\\r\\n` for each line end".to_owned();
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old
        .lines()
        .map(squeezed)
        .filter(|line| !line.is_empty())
        .collect();
    let lines: Vec<String> = text.lines().map(squeezed).collect();
    let found = lines
        .windows(wanted.len().max(1))
        .position(|some| !wanted.is_empty() && some == wanted.as_slice());
    match found {
        Some(index) => format!("; line {} differs from it in white space only", index + 1),
        None => String::new(),
    }
}
