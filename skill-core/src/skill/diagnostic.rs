//! Findings about skill files: stable codes, exact places, the text as it is and a way to mend it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::skill::findings::{refusal, severity};

/// How much a [`Diagnostic`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file is refused.
    Error,
    /// The file loads; something was mended or ignored on the way.
    Warning,
    /// Worth knowing; a strict reader would agree with what was loaded.
    Info,
}

impl Severity {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One finding about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable code, `SK021`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The file or folder.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column in characters, counted from 1.
    pub column: Option<u32>,
    /// What was found, in one lower-case sentence.
    pub message: String,
    /// The text as it stands.
    pub text: Option<String>,
    /// The text that would mend it, or what to do.
    pub fix: Option<String>,
}

impl Diagnostic {
    /// Returns a finding about a whole file or folder.
    pub(crate) fn about(code: &'static str, path: &Path, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: severity(code),
            path: path.to_owned(),
            line: None,
            column: None,
            message: message.into(),
            text: None,
            fix: None,
        }
    }

    /// Returns the same finding where it refuses the file, as its code can.
    pub(crate) fn refusing(self) -> Self {
        Self {
            severity: refusal(self.code),
            ..self
        }
    }

    /// Tells whether it refuses the file.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
