//! Reading the workspace for other than tools: a text, the names in a folder, the files there are.

use std::io::Read as _;

use cap_std::fs::Dir;

use super::{Workspace, WorkspaceError};

/// How deep folders are looked into.
const MAX_DEPTH: usize = 16;

/// How many names are shown of one folder.
const MAX_NAMES: usize = 1_000;

/// Folders that hold nothing a person wrote.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "vendor",
    "__pycache__",
];

/// A file as it was when it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    /// The path below the root.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// When it was changed, in nanoseconds since the Unix epoch; 0 where that is not known.
    pub modified_ns: u128,
}

impl Workspace {
    /// Tells whether a resolved path is that of a folder.
    pub fn is_folder(&self, resolved: &str) -> bool {
        resolved == "." || matches!(self.look(resolved), Ok(Some(found)) if found.is_dir())
    }

    /// Reads at most `most` bytes of the text file at a resolved path; also tells whether there is
    /// more. What is no UTF-8 in it is replaced, and a file that is no text at all is refused.
    pub fn read_text(&self, resolved: &str, most: u64) -> Result<(String, bool), WorkspaceError> {
        let file = self.open_file(resolved)?;
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| WorkspaceError::io(resolved, error, "a file"))?;
        if bytes.contains(&0) {
            let binary = std::io::Error::other("it is a binary file");
            return Err(WorkspaceError::io(resolved, binary, "a text"));
        }
        let more = bytes.len() as u64 > most;
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok((String::from_utf8_lossy(&bytes).into_owned(), more))
    }

    /// Returns the names in the folder at a resolved path, sorted, folders with a slash behind.
    pub fn names(&self, resolved: &str) -> Result<Vec<String>, WorkspaceError> {
        let dir = self.open_folder(resolved)?;
        let fail = |error| WorkspaceError::io(resolved, error, "a folder");
        let mut names = Vec::new();
        for entry in dir.entries().map_err(fail)?.flatten().take(MAX_NAMES) {
            if let Ok(name) = entry.file_name().into_string() {
                let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                names.push(if folder { format!("{name}/") } else { name });
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns at most `most` regular files below the root whose paths are `wanted`, sorted by
    /// path; also tells whether there are more.
    ///
    /// Links, what is hidden, and folders of dependencies and builds are passed over.
    pub fn files(&self, wanted: impl Fn(&str) -> bool, most: usize) -> (Vec<FileStamp>, bool) {
        let (mut found, mut more) = (Vec::new(), false);
        let mut folders = match self.open_folder(".") {
            Ok(root) => vec![(String::new(), root, 0)],
            Err(_) => Vec::new(),
        };
        while let Some((path, dir, depth)) = folders.pop() {
            for (name, folder) in entries(&dir) {
                let below = format!("{path}{name}");
                if folder {
                    if depth < MAX_DEPTH
                        && let Ok(dir) = self.open_folder(&below)
                    {
                        folders.push((format!("{below}/"), dir, depth + 1));
                    }
                } else if wanted(&below) {
                    found.extend(stamp(&dir, &name, below));
                }
            }
            more |= found.len() > most;
            if more {
                break;
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found.truncate(most);
        (found, more)
    }
}

/// Returns files and folders of `dir` that are looked at, sorted, and which are folders.
fn entries(dir: &Dir) -> Vec<(String, bool)> {
    let mut entries = Vec::new();
    for entry in dir.entries().into_iter().flatten().flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let skipped = name.starts_with('.') || SKIPPED.contains(&name.as_str());
        if !skipped && (kind.is_dir() || kind.is_file()) {
            entries.push((name, kind.is_dir()));
        }
    }
    entries.sort();
    entries
}

fn stamp(dir: &Dir, name: &str, path: String) -> Option<FileStamp> {
    let metadata = dir.symlink_metadata(name).ok()?;
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| {
        time.into_std()
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .ok()
    });
    Some(FileStamp {
        path,
        size: metadata.len(),
        modified_ns: since.map_or(0, |since| since.as_nanos()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_sorted_without_links_and_hidden_folders_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "b.md",
            "a/c.md",
            ".git/x.md",
            "node_modules/y.md",
            "a/z.txt",
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("b.md", folder.path().join("link.md")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let notes = |path: &str| path.ends_with(".md");
        let (found, more) = workspace.files(notes, 10);
        let paths: Vec<&str> = found.iter().map(|stamp| stamp.path.as_str()).collect();
        assert_eq!((paths, more), (vec!["a/c.md", "b.md"], false));
        assert!(workspace.files(notes, 1).1);
    }

    #[test]
    fn a_text_is_read_up_to_a_bound_and_binary_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), "text").unwrap();
        std::fs::write(folder.path().join("b.bin"), b"\0\x01").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        assert_eq!(
            workspace.read_text("a.md", 9).unwrap(),
            ("text".into(), false)
        );
        assert_eq!(workspace.read_text("a.md", 2).unwrap(), ("te".into(), true));
        assert!(workspace.read_text("b.bin", 9).is_err());
        assert!(workspace.read_text("gone.md", 9).is_err());
        assert_eq!(workspace.names(".").unwrap(), ["a.md", "b.bin"]);
    }
}
