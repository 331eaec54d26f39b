//! What can be wrong with a path, and how it is told.

use std::io;

use cap_std::fs::FileType;

use crate::escape::escape_line;
use crate::output::cut;
use crate::tool::{ErrorKind, ToolError};

/// A path that a file tool cannot use.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.describe())]
pub struct WorkspaceError {
    /// The path, as it was asked for.
    pub path: String,
    /// What is wrong with it.
    pub kind: WorkspaceErrorKind,
    /// The cause.
    #[source]
    pub source: Option<io::Error>,
}

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkspaceErrorKind {
    /// Nothing is there; with the hint at a near name.
    NotFound(String),
    /// It leads out of the workspace.
    Outside,
    /// It is something else than what is needed.
    Not {
        /// What is needed.
        wanted: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// It is not what it was when it was checked.
    Changed,
    /// It may not be read or written.
    Forbidden,
    /// It is longer than any path can be.
    TooLong,
    /// Anything else that the system reports.
    Io,
}

/// How much of a path that is too long is shown.
const SHOWN_BYTES: usize = 100;

/// Returns what kind of thing a directory entry is.
fn kind_name(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt as _;
        if found.is_fifo() {
            return "a named pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
        if found.is_block_device() || found.is_char_device() {
            return "a device";
        }
    }
    match () {
        () if found.is_dir() => "a folder",
        () if found.is_symlink() => "a link",
        () if found.is_file() => "a file",
        () => "a special file",
    }
}

impl WorkspaceError {
    pub(crate) fn new(path: &str, kind: WorkspaceErrorKind) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            source: None,
        }
    }

    /// Names a path that is too long by its start.
    pub(crate) fn too_long(path: &str) -> Self {
        let start = cut(path, SHOWN_BYTES);
        Self::new(&format!("{start}…"), WorkspaceErrorKind::TooLong)
    }

    pub(crate) fn not(path: &str, wanted: &'static str, found: FileType) -> Self {
        let found = kind_name(found);
        if found == "a link" {
            return Self::new(path, WorkspaceErrorKind::Changed);
        }
        Self::new(path, WorkspaceErrorKind::Not { wanted, found })
    }

    pub(crate) fn io(path: &str, error: io::Error, wanted: &'static str) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => WorkspaceErrorKind::NotFound(String::new()),
            io::ErrorKind::NotADirectory => WorkspaceErrorKind::Not {
                wanted: "a folder",
                found: "a file",
            },
            io::ErrorKind::IsADirectory => WorkspaceErrorKind::Not {
                wanted,
                found: "a folder",
            },
            io::ErrorKind::PermissionDenied => WorkspaceErrorKind::Forbidden,
            _ => WorkspaceErrorKind::Io,
        };
        Self {
            path: path.to_owned(),
            kind,
            source: Some(error),
        }
    }

    fn describe(&self) -> String {
        let path = escape_line(&self.path);
        match &self.kind {
            WorkspaceErrorKind::NotFound(hint) => format!("nothing at `{path}`{hint}"),
            WorkspaceErrorKind::Outside => {
                format!("`{path}` leads out of the workspace; use a path below its root")
            }
            WorkspaceErrorKind::Not { wanted, found } => {
                format!("`{path}` is {found}, not {wanted}")
            }
            WorkspaceErrorKind::Changed => format!("`{path}` changed while it was used"),
            WorkspaceErrorKind::Forbidden => {
                format!("`{path}` may not be accessed: permission denied")
            }
            WorkspaceErrorKind::TooLong => format!("`{path}` is too long for a path"),
            WorkspaceErrorKind::Io => format!("`{path}` could not be used"),
        }
    }
}

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        let kind = match error.kind {
            WorkspaceErrorKind::NotFound(_) => ErrorKind::NotFound,
            WorkspaceErrorKind::Outside => ErrorKind::Denied,
            _ => ErrorKind::Tool,
        };
        let cause = error
            .source
            .as_ref()
            .filter(|_| error.kind == WorkspaceErrorKind::Io);
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::new(kind, format!("{error}{cause}")).with_source(error)
    }
}
