//! `read_output`: a result that was too long, a piece at a time.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Access;
use crate::builtin::blocking;
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::output::cut;
use crate::spill::Spill;
use crate::tool::{ErrorKind, Tool, ToolError, ToolOutput};

/// The longest piece, below the cap of every result.
const MAX_PIECE_BYTES: usize = 60 * 1024;

/// Reads results that were kept because they were too long.
#[derive(Debug)]
pub(super) struct ReadOutput {
    spill: Arc<dyn Spill>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The id that the shortened result names.
    id: String,
    /// The byte to read from.
    offset: Option<u64>,
}

impl ReadOutput {
    pub(super) fn new(spill: Arc<dyn Spill>) -> Self {
        Self { spill }
    }
}

impl Tool for ReadOutput {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "read_output"
    }

    fn description(&self) -> &str {
        "Reads on in a result that was too long. The shortened result says id and offset."
    }

    fn access(&self, _arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Output])
    }

    async fn run(
        &self,
        _context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let (spill, id) = (Arc::clone(&self.spill), arguments.id);
        let read = blocking(move || {
            let shown = escape_line(&id);
            spill
                .read(&id)
                .map_err(|error| {
                    let text = format!("the result `{shown}` could not be read");
                    ToolError::failed(text).with_source(error)
                })?
                .ok_or_else(|| {
                    let text = format!("no result `{shown}` is kept; call the tool again");
                    ToolError::new(ErrorKind::NotFound, text)
                })
        });
        let text = read.await?;
        let offset = arguments.offset.unwrap_or_default();
        piece(&text, usize::try_from(offset).unwrap_or(usize::MAX))
    }
}

/// Returns the piece from `offset`, which is moved to the end of a character.
fn piece(text: &str, offset: usize) -> Result<ToolOutput, ToolError> {
    let total = text.len();
    let mut start = offset;
    while start < total && !text.is_char_boundary(start) {
        start += 1;
    }
    let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) else {
        let problem = format!("the result has {total} bytes; there is nothing at offset {offset}");
        return Err(ToolError::new(ErrorKind::InvalidArguments, problem));
    };
    let piece = cut(rest, MAX_PIECE_BYTES);
    let end = start + piece.len();
    let more = if end < total {
        format!("; read on with offset {end}")
    } else {
        "; that is the end".to_owned()
    };
    Ok(ToolOutput::text(format!(
        "{piece}\n[bytes {start} to {end} of {total}{more}]"
    )))
}
