//! `read_file`: the text of a file, or some of its lines.

use std::io::{self, BufRead, BufReader, Read};
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::builtin::{blocking, granted, touched};
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// Below the cap of every result, with room for the sentence that says how to read on.
const MAX_TEXT_BYTES: usize = 60 * 1024;

/// How much of a file is searched for a NUL, the mark of a binary file.
const PROBE_BYTES: usize = 8 * 1024;

/// Reads text below the workspace root.
#[derive(Debug)]
pub(super) struct ReadFile {
    workspace: Workspace,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path relative to the workspace root.
    path: String,
    /// First line to read, counted from 1.
    offset: Option<NonZeroU32>,
    /// How many lines to read at most.
    limit: Option<NonZeroU32>,
}

impl ReadFile {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Tool for ReadFile {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "read_file"
    }

    fn description(&self) -> &str {
        "Reads a text file of the workspace, as it is. A long file is cut and the result says which offset reads on."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        let traced = self.workspace.trace(&arguments.path)?;
        Ok(touched(&traced, Access::Read))
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let path = granted(context, &self.workspace, &arguments.path, Access::Read).await?;
        let (workspace, cancel) = (self.workspace.clone(), context.cancel.clone());
        let first = arguments.offset.map_or(1, |offset| u64::from(offset.get()));
        let limit = arguments
            .limit
            .map_or(u64::MAX, |limit| u64::from(limit.get()));
        let text = blocking(move || {
            let file = workspace.open_file(&path)?;
            let mut reader = BufReader::with_capacity(PROBE_BYTES, file);
            let fail = |error| ToolError::from(WorkspaceError::io(&path, error, "a file"));
            if reader.fill_buf().map_err(fail)?.contains(&0) {
                let path = escape_line(&path);
                let message = format!("`{path}` is a binary file; only text can be read");
                return Err(ToolError::failed(message));
            }
            page(&mut reader, first, limit, &cancel).map_err(fail)
        });
        Ok(ToolOutput::text(text.await?))
    }
}

/// Reads at most `limit` lines from line `first`, and says how to read on where it stops early.
fn page(
    reader: &mut impl BufRead,
    first: u64,
    limit: u64,
    cancel: &CancellationToken,
) -> io::Result<String> {
    let skipped = skip_lines(reader, first - 1, cancel)?;
    if first > 1 && at_end(reader)? {
        return Ok(format!(
            "[the file has {skipped} lines; there is no line {first}]"
        ));
    }
    let mut text = Vec::new();
    let mut next = first;
    let mut cut_line = false;
    while next - first < limit && text.len() < MAX_TEXT_BYTES && !cut_line && !at_end(reader)? {
        let mut line = Vec::new();
        let room = MAX_TEXT_BYTES - text.len();
        reader
            .by_ref()
            .take(room as u64)
            .read_until(b'\n', &mut line)?;
        let whole = line.ends_with(b"\n") || at_end(reader)?;
        if !whole && !text.is_empty() {
            return Ok(described(&text, first, next, true, false));
        }
        text.append(&mut line);
        next += 1;
        if !whole {
            cut_line = true;
            skip_lines(reader, 1, cancel)?;
        }
    }
    Ok(described(&text, first, next, !at_end(reader)?, cut_line))
}

/// Returns the text with what there is to say about it; `next` is the first line not in it.
fn described(text: &[u8], first: u64, next: u64, more: bool, cut_line: bool) -> String {
    let mut described = match std::str::from_utf8(text) {
        // A line that was cut may end inside a character.
        Err(error) if cut_line && error.error_len().is_none() => {
            String::from_utf8_lossy(text.get(..error.valid_up_to()).unwrap_or_default())
                .into_owned()
        }
        _ => String::from_utf8_lossy(text).into_owned(),
    };
    let mut notes = Vec::new();
    if text.is_empty() && !more {
        notes.push("the file is empty".to_owned());
    }
    if described.contains('\u{FFFD}') && std::str::from_utf8(text).is_err() {
        notes.push("not UTF-8: bytes that are no text are shown as \u{FFFD}".to_owned());
    }
    if cut_line {
        notes.push(format!(
            "line {} is longer than {MAX_TEXT_BYTES} bytes and was cut; no offset reads its rest, but search_files finds text in lines of up to 4 MiB and shows what stands around",
            next - 1
        ));
    }
    if more {
        notes.push(format!(
            "lines {first} to {}; the file goes on: read on with offset {next}",
            next - 1
        ));
    }
    if !notes.is_empty() {
        if !described.is_empty() && !described.ends_with('\n') {
            described.push('\n');
        }
        described.push_str(&format!("[{}]", notes.join("; ")));
    }
    described
}

/// Skips lines without keeping them; returns how many there were.
fn skip_lines(
    reader: &mut impl BufRead,
    lines: u64,
    cancel: &CancellationToken,
) -> io::Result<u64> {
    let mut skipped = 0;
    let mut open_line = false;
    while skipped < lines && !cancel.is_cancelled() {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped + u64::from(open_line));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        skipped += u64::from(end.is_some());
        open_line = end.is_none();
        reader.consume(used);
    }
    Ok(skipped)
}

fn at_end(reader: &mut impl BufRead) -> io::Result<bool> {
    Ok(reader.fill_buf()?.is_empty())
}
