//! The file that is written beside the one it replaces, and what is left of it after a kill.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::time::Duration;

use cap_std::fs::{Dir, File, OpenOptions};

const PREFIX: &str = ".write-";
const SUFFIX: &str = ".tmp";

/// How many digits stand between the two.
const DIGITS: usize = 16;

/// How often another name is tried.
const MAX_NAME_TRIES: u32 = 16;

/// How old a left file must be: no write takes that long.
const STALE: Duration = Duration::from_secs(60 * 60);

/// How many names of a folder are looked at for what was left.
const MAX_LOOKED_AT: usize = 10_000;

/// Creates a file with a name that nobody can foresee and nothing has.
pub(super) fn create(folder: &Dir) -> io::Result<(String, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut tries = 0;
    loop {
        let name = format!(
            "{PREFIX}{:016x}{SUFFIX}",
            RandomState::new().build_hasher().finish()
        );
        match folder.open_with(&name, &options) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_NAME_TRIES =>
            {
                tries += 1
            }
            opened => return opened.map(|file| (name, file)),
        }
    }
}

/// Removes what killed writes left in the folder long before `written`.
///
/// Only regular files of our own naming go, and only old ones: another program may be writing
/// here just now. What cannot be removed stays.
pub(super) fn tidy(folder: &Dir, written: &str) {
    let Some(now) = modified(folder, written) else {
        return;
    };
    let Ok(entries) = folder.entries() else {
        return;
    };
    for entry in entries.take(MAX_LOOKED_AT).flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let age = || now.duration_since(modified(folder, &name)?).ok();
        if is_ours(&name) && age().is_some_and(|age| age > STALE) {
            let _ = folder.remove_file(&name);
        }
    }
}

/// Returns when a regular file was last written.
fn modified(folder: &Dir, name: &str) -> Option<cap_std::time::SystemTime> {
    let found = folder.symlink_metadata(name).ok()?;
    found.is_file().then(|| found.modified().ok())?
}

fn is_ours(name: &str) -> bool {
    let digits = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS
            && digits
                .bytes()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}
