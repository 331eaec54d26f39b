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
pub(crate) mod tools;
pub(crate) mod trace;
pub(crate) mod trust;
mod turn;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tokio::runtime::{Builder, Runtime};

use crate::app::Context;
use crate::error::{CliError, Exit};

/// Fails if what there is already of `path` leads out of `top`.
fn stays_below(top: &Path, path: &Path) -> io::Result<()> {
    let mut folders = path.ancestors().skip(1);
    let there = folders.find(|folder| folder.symlink_metadata().is_ok());
    let there = there.unwrap_or(top);
    if there.canonicalize()?.starts_with(top.canonicalize()?) {
        return Ok(());
    }
    let message = format!("{} is a link that leads elsewhere", there.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Returns what a command waits with; one thread is enough for one turn.
fn runtime() -> Result<Runtime, CliError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Exit::Failed, "runtime", "cannot start").with_source(error))
}

/// Writes a new file below `top` and the folders above it; tells whether it did. A file that exists
/// is never opened for writing, and no link on the way leads out of `top`.
fn write_new(top: &Path, path: &Path, text: &str) -> io::Result<bool> {
    fs::create_dir_all(top)?;
    stays_below(top, path)?;
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

/// Writes the file that an option names, relative to the working folder; `what` and `code` are for
/// the error. Returns its whole path.
fn write_out(
    context: &Context,
    path: &Path,
    text: &str,
    (what, code): (&str, &'static str),
) -> Result<PathBuf, CliError> {
    let path = context.environment.cwd.join(path);
    fs::write(&path, text).map_err(|error| {
        CliError::usage(format!("{what} cannot be written"))
            .with_code(code)
            .with_path(&path)
            .with_source(error)
    })?;
    Ok(path)
}

/// Writes a drawing and says where it is.
fn draw(context: &Context, path: &Path, page: &str) -> Result<(), CliError> {
    let path = write_out(context, path, page, ("the picture", "html"))?;
    let shown = context.environment.shown(&path);
    context.output.talk(&format!("drawn in {shown}"));
    Ok(())
}
