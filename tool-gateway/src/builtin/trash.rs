//! The trash: a folder in the form that desktops know, so that their file managers restore from it.
//!
//! `files/NAME` is what was deleted, `info/NAME.trashinfo` says where it was and when it went.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use skill_core::Clock;

use crate::workspace::step;

/// How many names are tried for what has a name that is taken.
const MAX_NAMES: u32 = 10_000;

/// Where deleted files go.
#[derive(Clone, Debug)]
pub struct Trash {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
}

impl Trash {
    /// Returns the trash in `folder`, which is made when something is deleted.
    ///
    /// The user's own is `$XDG_DATA_HOME/Trash`.
    pub fn new(folder: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self {
            folder: folder.into(),
            clock,
        }
    }

    /// Moves the entry `name` of a folder here; `original` is its path. Returns its name here.
    pub(super) fn take(&self, from: &Dir, name: &str, original: &Path) -> io::Result<String> {
        let open = |below: &str| -> io::Result<Dir> {
            let path = self.folder.join(below);
            private_folder(&path)?;
            Dir::open_ambient_dir(path, ambient_authority())
        };
        let (files, info) = (open("files")?, open("info")?);
        let kept = self.reserve(&info, &files, name, original)?;
        let moved = match from.rename(name, &files, &kept) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                carry(from, name, &files, &kept)
            }
            moved => moved,
        };
        if moved.is_err() {
            let _ = info.remove_file(info_name(&kept));
        }
        moved.map(|()| kept)
    }

    /// Finds a free name and takes it by making its note, which no two can do.
    fn reserve(&self, info: &Dir, files: &Dir, name: &str, original: &Path) -> io::Result<String> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let (stem, end) = match name.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() => (stem, format!(".{end}")),
            _ => (name, String::new()),
        };
        for number in 1..MAX_NAMES {
            let kept = match number {
                1 => name.to_owned(),
                number => format!("{stem}.{number}{end}"),
            };
            if files.symlink_metadata(&kept).is_ok() {
                continue;
            }
            match info.open_with(info_name(&kept), &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?.write_all(self.note(original).as_bytes())?,
            }
            return Ok(kept);
        }
        Err(io::Error::other("the trash holds too many of this name"))
    }

    fn note(&self, original: &Path) -> String {
        let mut path = String::new();
        for byte in original.to_string_lossy().as_bytes() {
            if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
                path.push(char::from(*byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(path, "%{byte:02X}");
            }
        }
        let deleted = date_time(self.clock.now_ms());
        format!("[Trash Info]\nPath={path}\nDeletionDate={deleted}\n")
    }
}

fn info_name(kept: &str) -> String {
    format!("{kept}.trashinfo")
}

/// Makes a folder that only its owner can look into.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.recursive(true).create(path)
}

/// Copies what cannot be renamed across file systems, and removes it once all of it is there.
fn carry(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    if let Err(error) = copy(from, name, to, new) {
        let _ = remove(to, new);
        return Err(error);
    }
    remove(from, name)
}

fn copy(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    let found = from.symlink_metadata(name)?;
    if found.is_symlink() {
        return to.symlink_contents(from.read_link_contents(name)?, new);
    }
    if found.is_file() {
        return from.copy(name, to, new).map(drop);
    }
    if !found.is_dir() {
        return Err(io::Error::other("a special file cannot be kept"));
    }
    to.create_dir(new)?;
    let (from, to) = (step(from, name)?, step(to, new)?);
    for entry in from.entries()? {
        let name = entry?.file_name();
        let Some(name) = name.to_str() else {
            return Err(io::Error::other("a name is no text"));
        };
        copy(&from, name, &to, name)?;
    }
    Ok(())
}

fn remove(folder: &Dir, name: &str) -> io::Result<()> {
    if folder.symlink_metadata(name)?.is_dir() {
        folder.remove_dir_all(name)
    } else {
        folder.remove_file(name)
    }
}

/// Returns a time as `YYYY-MM-DDThh:mm:ss`, in UTC.
fn date_time(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Counts days from the first of March of the year 0, in eras of 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_as_people_write_it() {
        assert_eq!(date_time(0), "1970-01-01T00:00:00");
        assert_eq!(date_time(951_782_400_000), "2000-02-29T00:00:00");
        assert_eq!(date_time(1_767_225_599_999), "2025-12-31T23:59:59");
    }

    #[test]
    fn what_crosses_file_systems_arrives_whole_and_is_gone_where_it_was() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(root.path(), ambient_authority()).unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        std::fs::write(root.path().join("a/b/c"), "text").unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("a/link")).unwrap();
        carry(&dir, "a", &dir, "kept").unwrap();
        assert!(!root.path().join("a").exists());
        assert_eq!(
            std::fs::read_to_string(root.path().join("kept/b/c")).unwrap(),
            "text"
        );
        let link = root.path().join("kept/link");
        assert_eq!(link.read_link().unwrap(), Path::new("/etc"));
    }
}
