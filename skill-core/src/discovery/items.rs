//! What a folder holds, and the paths of it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// An entry of a folder.
pub(super) struct Item {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// Returns the path of `name` in `folder`, allocated once.
pub(super) fn joined(folder: &Path, name: impl AsRef<OsStr>) -> PathBuf {
    let name = name.as_ref();
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

/// Returns the items of a folder in the order of their bytes.
pub(super) fn items(folder: &Path) -> io::Result<Vec<Item>> {
    let mut items = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        items.push(Item {
            kind: entry.file_type()?,
            name: entry.file_name(),
        });
    }
    items.sort_by(|left, right| {
        left.name
            .as_encoded_bytes()
            .cmp(right.name.as_encoded_bytes())
    });
    Ok(items)
}
