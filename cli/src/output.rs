//! Standard output and standard error: stdout is data, stderr is talk.

use std::io::{self, ErrorKind, Write};

use crate::error::{CliError, Exit};
use crate::render::terminal::visible;

/// Writes to the two streams of the process.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    json: bool,
    /// Whether what is said on standard error is coloured.
    colour: bool,
}

/// Escape codes of the few styles there are.
const RED: &str = "\u{1b}[1;31m";
const CYAN: &str = "\u{1b}[1;36m";
const PLAIN: &str = "\u{1b}[0m";

impl Output {
    pub(crate) fn new(json: bool, colour: bool) -> Self {
        Self { json, colour }
    }

    /// Colours the first word of a message.
    fn styled(&self, style: &str, word: &str, rest: &str) -> String {
        if self.colour {
            format!("{style}{word}{PLAIN}{rest}")
        } else {
            format!("{word}{rest}")
        }
    }

    /// Tells whether output is for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes data.
    pub(crate) fn data(&self, text: &str) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(output_error)
    }

    /// Writes one JSON value on a line of its own.
    pub(crate) fn json_line(&self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        serde_json::to_writer(&mut stdout, value)
            .map_err(io::Error::from)
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush())
            .map_err(output_error)
    }

    /// Says something to the person; a terminal that is gone is no reason to fail.
    ///
    /// What a terminal would obey is shown instead: most of what is said names things of others.
    pub(crate) fn talk(&self, text: &str) {
        Self::say(&visible(text));
    }

    fn say(text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "{text}");
    }

    /// Says something about the run that is not an error.
    pub(crate) fn notice(&self, text: &str) {
        Self::say(&self.styled(CYAN, "note:", &format!(" {}", visible(text))));
    }

    /// Shows an error where its reader looks for it.
    pub(crate) fn error(&self, error: &CliError) {
        if self.json {
            // There is nowhere left to tell of a failure to tell.
            let _ = self.json_line(&error.document());
        }
        let text = error.to_string();
        let (message, hint) = text.split_once("\nhint:").unwrap_or((&text, ""));
        let message = message.strip_prefix("error:").unwrap_or(message);
        Self::say(&self.styled(RED, "error:", &visible(message)));
        if !hint.is_empty() {
            Self::say(&self.styled(CYAN, "hint:", &visible(hint)));
        }
    }
}

/// A reader that has seen enough is no failure of ours; anything else is.
fn output_error(error: io::Error) -> CliError {
    let mut failure = CliError::new(Exit::Failed, "output", "cannot write to standard output");
    if error.kind() == ErrorKind::BrokenPipe {
        failure.shown = true;
        failure.exit = Exit::Done;
    }
    failure.with_source(error)
}
