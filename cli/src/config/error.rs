//! What can be wrong with a configuration, and what a user should know although nothing is.

use std::fmt;
use std::path::PathBuf;

use super::origin::Origin;

/// One thing that stops the configuration from being used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    /// The file, unless the value came from elsewhere.
    pub(crate) path: Option<PathBuf>,
    /// The line in the file, counted from 1.
    pub(crate) line: Option<u32>,
    /// The column in the line, in characters, counted from 1.
    pub(crate) column: Option<u32>,
    /// What is wrong; never holds a secret.
    pub(crate) message: String,
    /// How to mend it.
    pub(crate) hint: Option<String>,
}

impl ConfigError {
    pub(super) fn without_place(message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            path: None,
            line: None,
            column: None,
            message: message.into(),
            hint,
        }
    }

    pub(super) fn about_file(
        path: impl Into<PathBuf>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        let path = Some(path.into());
        Self {
            path,
            line: None,
            column: None,
            message: message.into(),
            hint,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(formatter, "{}:", path.display())?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(formatter, "{number}:")?;
            }
            formatter.write_str(" ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

/// The most characters of a message; a value may be as long as a file.
const LONGEST_MESSAGE: usize = 400;

/// Makes a message fit for a terminal: what a file holds must neither move its cursor nor fill it.
pub(super) fn printable(message: &str) -> String {
    let mut shown = String::new();
    for (count, c) in message.chars().enumerate() {
        if count == LONGEST_MESSAGE {
            shown.push('…');
            break;
        }
        let turns_text_round = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let breaks_the_line = matches!(c, '\u{2028}' | '\u{2029}');
        if c.is_control() || turns_text_round || breaks_the_line {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A value that was read but has no effect; the run goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// `config_ignored` or `config_unsupported`.
    pub(crate) code: &'static str,
    /// The key, such as `limits.max_steps`.
    pub(crate) key: String,
    /// Where the value was written.
    pub(crate) origin: Origin,
    /// What has no effect, and why.
    pub(crate) message: String,
    /// How to mend it.
    pub(crate) hint: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.origin, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_its_line_and_in_its_bounds() {
        assert_eq!(
            printable("no `a\u{1b}[2J\n\u{202e}b` 周报"),
            "no `a\\u{1b}[2J\\n\\u{202e}b` 周报"
        );
        assert_eq!(
            printable(&"x".repeat(1_000)).chars().count(),
            LONGEST_MESSAGE + 1
        );
    }

    #[test]
    fn an_error_starts_with_its_place_as_far_as_it_is_known() {
        let error = ConfigError::about_file("a.yaml", "broken", None);
        assert_eq!(error.to_string(), "a.yaml: broken");
        let placed = ConfigError {
            line: Some(3),
            column: Some(5),
            ..error
        };
        assert_eq!(placed.to_string(), "a.yaml:3:5: broken");
        assert_eq!(
            ConfigError::without_place("--model: broken", None).to_string(),
            "--model: broken"
        );
    }
}
