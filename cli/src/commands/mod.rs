//! One command a file.

pub(crate) mod ask;
pub(crate) mod complete;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod memory;
pub(crate) mod prompt;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod trust;
mod turn;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tokio::runtime::{Builder, Runtime};

use crate::error::{CliError, Exit};

/// Returns what a command waits with; one thread is enough for one turn.
fn runtime() -> Result<Runtime, CliError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Exit::Failed, "runtime", "cannot start").with_source(error))
}

/// Writes a new file and the folders above it; tells whether it did. A file that exists is never
/// opened for writing.
fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A file in the place of a folder above is no such file, so this is asked of the last step only.
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
