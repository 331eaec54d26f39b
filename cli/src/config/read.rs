//! One file into text, whatever stands in its place: a folder, a pipe, a gigabyte, bytes of no text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::ConfigError;

/// Longer than anybody writes, and short enough to be read at every start.
const LONGEST: u64 = 256 * 1024;

/// Reads a file, or `None` when it is absent and may be.
pub(super) fn read(path: &Path, required: bool) -> Result<Option<String>, ConfigError> {
    let failed = |error: &io::Error| {
        ConfigError::about_file(
            path,
            format!("cannot read the configuration: {error}"),
            None,
        )
    };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) && !required => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    let mut bytes = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("the configuration is longer than {} KiB", LONGEST / 1024);
        return Err(ConfigError::about_file(path, message, None));
    }
    text(bytes, path).map(Some)
}

/// Opens a regular file only: a pipe or a device could keep the program waiting for ever.
fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::other("not a file"))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn text(bytes: Vec<u8>, path: &Path) -> Result<String, ConfigError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        ConfigError {
            line: u32::try_from(line).ok(),
            column: u32::try_from(column).ok(),
            ..ConfigError::about_file(
                path,
                "the configuration is not UTF-8",
                Some("save the file as UTF-8".to_owned()),
            )
        }
    })
}
