//! What goes wrong, for the person at the terminal: decided once, here, at the edge.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The turn failed.
    Failed = 1,
    /// Usage or configuration.
    Usage = 2,
    /// A check failed.
    Check = 3,
    /// An approval is needed, or was denied where that counts.
    Approval = 4,
    /// A limit stopped the turn.
    Limit = 5,
    /// Cancelled.
    Cancelled = 130,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file.
    pub(crate) path: PathBuf,
    /// The line in it.
    pub(crate) line: Option<u32>,
    /// The column in the line.
    pub(crate) column: Option<u32>,
}

impl Place {
    /// Tells whether a message names the place already, so that it is not named twice.
    fn is_told_in(&self, message: &str) -> bool {
        self.line.is_none() && message.contains(&self.path.display().to_string())
    }
}

/// An error with the exit code it leads to.
#[derive(Debug)]
pub(crate) struct CliError {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// A stable code for programs.
    pub(crate) code: String,
    /// What happened.
    pub(crate) message: String,
    /// How to mend it.
    pub(crate) hint: Option<String>,
    /// The place it is about.
    pub(crate) place: Option<Box<Place>>,
    /// The cause.
    pub(crate) source: Option<anyhow::Error>,
    /// Whether it was shown already, so that only the exit code is left.
    pub(crate) shown: bool,
}

impl CliError {
    /// Returns an error of usage or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Returns an error.
    pub(crate) fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            place: None,
            source: None,
            shown: false,
        }
    }

    pub(crate) fn with_code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.code);
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.place = Some(Box::new(Place {
            path: path.into(),
            line: None,
            column: None,
        }));
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<anyhow::Error>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the error document of `--json`.
    pub(crate) fn document(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.full_message()});
        let place = self.place.as_deref();
        let optional = [
            ("hint", self.hint.clone().map(Value::from)),
            (
                "path",
                place.map(|place| place.path.display().to_string().into()),
            ),
            ("line", place.and_then(|place| place.line).map(Value::from)),
            (
                "column",
                place.and_then(|place| place.column).map(Value::from),
            ),
        ];
        if let Some(fields) = error.as_object_mut() {
            for (key, value) in optional {
                fields.extend(value.map(|value| (key.to_owned(), value)));
            }
        }
        json!({"v": 1, "error": error})
    }

    /// Returns the message with the place it is about before it.
    pub(crate) fn placed_message(&self) -> String {
        let message = self.full_message();
        match &self.place {
            Some(place) if place.is_told_in(&message) => message,
            Some(place) => format!("{place}: {message}"),
            None => message,
        }
    }

    /// Returns the message with its causes on one line.
    pub(crate) fn full_message(&self) -> String {
        let mut message = self.message.clone();
        for cause in self.source.iter().flat_map(anyhow::Error::chain) {
            let cause = cause.to_string();
            // A cause that the message already tells is not told twice.
            if !message.contains(&cause) {
                message.push_str(": ");
                message.push_str(&cause);
            }
        }
        message
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        let numbers = [self.line, self.column].into_iter().flatten();
        numbers
            .into_iter()
            .try_for_each(|number| write!(formatter, ":{number}"))
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.placed_message())?;
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<crate::config::ConfigError> for CliError {
    fn from(error: crate::config::ConfigError) -> Self {
        let place = error.path.map(|path| Place {
            path,
            line: error.line,
            column: error.column,
        });
        Self {
            code: "config".to_owned(),
            hint: error.hint,
            place: place.map(Box::new),
            ..Self::usage(error.message)
        }
    }
}
