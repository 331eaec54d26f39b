//! The text of a task: from the command line, or from standard input for `-`.

use std::io::Read;

use crate::error::{CliError, Exit};

/// The longest task, in bytes; a longer one fits no model's window.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Returns the task's text.
pub(crate) fn text(argument: &str) -> Result<String, CliError> {
    let text = if argument == "-" {
        from_stdin()?
    } else {
        argument.to_owned()
    };
    if text.trim().is_empty() {
        return Err(CliError::usage("the task is empty")
            .with_hint("write the task in quotes, or pipe it in and give `-`"));
    }
    Ok(text)
}

fn from_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::usage("cannot read standard input").with_source(error))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("the task is longer than {} MiB", LONGEST / 1024 / 1024);
        return Err(CliError::new(Exit::Limit, "context_limit", message)
            .with_hint("write it to a file in the workspace and name the file"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::usage(format!("standard input is not UTF-8 at byte {at}"))
            .with_hint("convert it first, for example with iconv")
    })
}
