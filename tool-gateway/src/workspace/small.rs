//! Small files that steer a search, read whole and with a bound.

use std::io::{self, Read};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::workspace::{Links, Workspace, reading, step};

/// A small file, or why it has no text.
#[derive(Debug)]
pub(crate) enum Small {
    Missing,
    Text(String),
    TooLong,
    /// A link, a pipe, a device or a folder.
    NoFile,
    Unreadable,
}

/// Reads the file at the end of `names` below `dir`, of at most `limit` bytes.
///
/// No link is followed and nothing is waited for: only a regular file is read.
pub(crate) fn read_small(dir: &Dir, names: &[&str], limit: usize) -> Small {
    match try_read(dir, names, limit) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Small::Missing,
        Err(_) => Small::Unreadable,
    }
}

fn try_read(dir: &Dir, names: &[&str], limit: usize) -> io::Result<Small> {
    let Some((name, folders)) = names.split_last() else {
        return Ok(Small::Missing);
    };
    let mut at = dir.try_clone()?;
    for folder in folders {
        if !at.symlink_metadata(folder)?.is_dir() {
            return Ok(Small::Missing);
        }
        at = step(&at, folder)?;
    }
    if !at.symlink_metadata(name)?.is_file() {
        return Ok(Small::NoFile);
    }
    // A pipe may take the file's place between the look and the opening.
    let file = at.open_with(name, &reading(Links::Refuse))?;
    if !file.metadata()?.is_file() {
        return Ok(Small::NoFile);
    }
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > limit {
        Small::TooLong
    } else {
        Small::Text(String::from_utf8_lossy(&bytes).into_owned())
    })
}

impl Workspace {
    /// Returns the folders above the root up to the repository it lies in, topmost first, each
    /// with the path from there to the root; none if the root is no part of one.
    pub(crate) fn repository_above(&self) -> Vec<(Dir, String)> {
        let is_repository = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
        let root = self.path();
        if is_repository(root) {
            return Vec::new();
        }
        let above = || root.ancestors().skip(1);
        let Some(top) = above().position(is_repository) else {
            return Vec::new();
        };
        let mut folders: Vec<(Dir, String)> = above()
            .take(top + 1)
            .filter_map(|folder| {
                let below = root.strip_prefix(folder).ok()?.to_str()?.to_owned();
                let dir = Dir::open_ambient_dir(folder, ambient_authority()).ok()?;
                Some((dir, below))
            })
            .collect();
        folders.reverse();
        folders
    }
}
