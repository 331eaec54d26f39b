//! The files of a package as they are, byte by byte: what trust and locks are bound to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::{Digester, sha256};
use crate::discovery::{Stamp, read_capped};
use crate::skill::Skill;
use crate::source::Resource;

/// The most files and bytes a package may have that is to be trusted or locked.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// The longest text that is shown, and kept to show a difference from.
pub(crate) const LONGEST_TEXT: u64 = 256 * 1024;

/// The files of one package and the digest over all of them.
///
/// Everything below the folder of the skill counts, hidden files too; a skill of one file is that
/// file. Times, owners and the finer permissions do not count, so that a copy is equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageTree {
    /// SHA-256 over the sorted paths, kinds and contents, in lower-case hexadecimal.
    pub digest: String,
    /// Every file by its path below the folder, `/`-separated.
    pub files: BTreeMap<String, TreeFile>,
}

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeFile {
    /// What it is.
    pub kind: TreeFileKind,
    /// SHA-256 of its bytes; of a link, of the path in it and of the file it leads to, where that
    /// may be read.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

impl TreeFile {
    /// Returns the text of this file, which lies at `path`, if it is a text of at most 256 KiB. A
    /// link has none, for what it leads to is somebody else's.
    ///
    /// # Errors
    ///
    /// [`TreeError`] when it cannot be read, or is no longer what its digest was taken of.
    pub fn text(&self, path: &Path) -> Result<Option<String>, TreeError> {
        if self.kind == TreeFileKind::Link || self.bytes > LONGEST_TEXT {
            return Ok(None);
        }
        let read = read_capped(path, LONGEST_TEXT).map_err(|error| unreadable(path, error))?;
        if read.longer.is_some() || sha256(&read.bytes) != self.sha256 {
            return Err(problem(path, "it changed while it was looked at"));
        }
        Ok(String::from_utf8(read.bytes).ok())
    }
}

/// What a file of a package is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeFileKind {
    /// A file.
    File,
    /// A file that somebody may execute.
    Executable,
    /// A symbolic link.
    Link,
}

impl TreeFileKind {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Executable => "executable",
            Self::Link => "link",
        }
    }
}

/// A package that cannot be told from another by its files.
#[derive(Debug, thiserror::Error)]
#[error("cannot take the digest of {}: {problem}", path.display())]
pub struct TreeError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// The cause.
    #[source]
    pub source: Option<io::Error>,
}

/// What happened to one file between two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It holds something else, or is something else.
    Changed,
    /// It is gone.
    Removed,
}

impl ChangeKind {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// A file that two trees differ in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// Returns what happened between two trees, in the order of paths.
pub fn changes(
    before: &BTreeMap<String, TreeFile>,
    after: &BTreeMap<String, TreeFile>,
) -> Vec<Change> {
    let change = |path: &String, kind| Change {
        path: path.clone(),
        kind,
    };
    let gone = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(|path| change(path, ChangeKind::Removed));
    let other = after
        .iter()
        .filter_map(|(path, file)| match before.get(path) {
            None => Some(change(path, ChangeKind::Added)),
            Some(known) if known != file => Some(change(path, ChangeKind::Changed)),
            Some(_) => None,
        });
    let mut changes: Vec<Change> = gone.chain(other).collect();
    changes.sort_by(|left, right| left.path.cmp(&right.path));
    changes
}

impl PackageTree {
    /// Reads the files of the package that `skill` belongs to. Of a link that leads out of `within`,
    /// only the path in it counts, unless it is the skill's own text.
    ///
    /// # Errors
    ///
    /// [`TreeError`] for what cannot be read, is no file, has a name that is not UTF-8, and for
    /// more than 2,000 files or 32 MiB.
    pub fn of_skill(skill: &Skill, within: &Path) -> Result<Self, TreeError> {
        read_skill(skill, within).map(|(tree, _)| tree)
    }

    /// Reads the files at and below `path`, a folder or one file. Of a link that leads out of it,
    /// only the path in it counts.
    ///
    /// # Errors
    ///
    /// As [`PackageTree::of_skill`].
    pub fn read(path: &Path) -> Result<Self, TreeError> {
        read(path, path, None).map(|(tree, _)| tree)
    }

    /// Returns the tree of one plain file called `name` that holds `bytes`.
    pub fn of_file(name: &str, bytes: &[u8]) -> Self {
        let file = TreeFile {
            kind: TreeFileKind::File,
            sha256: sha256(bytes),
            bytes: bytes.len() as u64,
        };
        Self::of_files(BTreeMap::from([(name.to_owned(), file)]))
    }

    fn of_files(files: BTreeMap<String, TreeFile>) -> Self {
        let mut digester = Digester::new("tekne package tree 1");
        for (path, file) in &files {
            digester.part(path.as_bytes());
            digester.part(file.kind.as_str().as_bytes());
            digester.part(file.sha256.as_bytes());
        }
        Self {
            digest: digester.finish(),
            files,
        }
    }

    /// Tells whether `resource`, read at `relative` below the folder of `skill`, is a file of this
    /// tree with its content.
    pub(crate) fn holds(&self, skill: &Skill, relative: &str, resource: &Resource) -> bool {
        let real = fs::canonicalize(skill.package_path())
            .and_then(|folder| Ok((fs::canonicalize(folder.join(relative))?, folder)));
        let Ok((file, folder)) = real else {
            return false;
        };
        let path = file.strip_prefix(&folder).ok().and_then(slashed);
        let Some(known) = path.and_then(|path| self.files.get(&path)) else {
            return false;
        };
        let digest = if resource.truncated {
            match read_capped(&file, MOST_BYTES) {
                Ok(read) if read.longer.is_none() => sha256(&read.bytes),
                _ => return false,
            }
        } else {
            sha256(&resource.bytes)
        };
        known.sha256 == digest
    }
}

/// Folders and files with what they were like before they were read.
pub(crate) type Seen = Vec<(PathBuf, Option<Stamp>)>;

/// Reads the tree of a skill and says what it was like.
pub(crate) fn read_skill(skill: &Skill, within: &Path) -> Result<(PackageTree, Seen), TreeError> {
    read(skill.package_path(), within, Some(&skill.path))
}

fn read(
    path: &Path,
    within: &Path,
    entry: Option<&Path>,
) -> Result<(PackageTree, Seen), TreeError> {
    let top = fs::canonicalize(path).map_err(|error| unreadable(path, error))?;
    let entry = entry.and_then(|entry| entry.strip_prefix(path).ok());
    let mut reader = Reader {
        within: fs::canonicalize(within).map_err(|error| unreadable(within, error))?,
        entry: entry.map(|entry| top.join(entry)),
        ..Reader::default()
    };
    reader.seen.push((path.to_owned(), Stamp::at(path)));
    if top.is_dir() {
        reader.folder(&top, "")?;
    } else {
        let name = path.file_name().map(Path::new).and_then(slashed);
        let name = name.ok_or_else(|| problem(path, "the name is not UTF-8"))?;
        reader.item(&top, name)?;
    }
    let tree = PackageTree::of_files(reader.files);
    Ok((tree, reader.seen))
}

#[derive(Default)]
struct Reader {
    /// Where what a link leads to counts.
    within: PathBuf,
    /// The file that counts wherever it lies.
    entry: Option<PathBuf>,
    files: BTreeMap<String, TreeFile>,
    bytes: u64,
    seen: Seen,
}

impl Reader {
    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<(), TreeError> {
        self.seen.push((folder.to_owned(), Stamp::at(folder)));
        let items = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
        for item in items {
            let path = item.map_err(|error| unreadable(folder, error))?.path();
            let name = path.file_name().map(Path::new).and_then(slashed);
            let name = name.ok_or_else(|| problem(&path, "the name is not UTF-8"))?;
            self.item(&path, format!("{prefix}{name}"))?;
        }
        Ok(())
    }

    fn item(&mut self, path: &Path, relative: String) -> Result<(), TreeError> {
        let metadata = fs::symlink_metadata(path).map_err(|error| unreadable(path, error))?;
        if metadata.is_dir() {
            return self.folder(path, &format!("{relative}/"));
        }
        if self.files.len() >= MOST_FILES {
            return Err(problem(path, &format!("more than {MOST_FILES} files")));
        }
        self.seen.push((path.to_owned(), Stamp::at(path)));
        let (kind, bytes) = if metadata.is_symlink() {
            (TreeFileKind::Link, self.link(path)?)
        } else if metadata.is_file() {
            (kind(&metadata), self.content(path, metadata.len())?)
        } else {
            return Err(problem(path, "neither a file nor a folder nor a link"));
        };
        let file = TreeFile {
            kind,
            sha256: sha256(&bytes),
            bytes: bytes.len() as u64,
        };
        self.files.insert(relative, file);
        Ok(())
    }

    /// Returns the path in a link, and what the file it leads to holds, unless that is nobody's
    /// business here: a digest over a file elsewhere tells something about it.
    fn link(&mut self, path: &Path) -> Result<Vec<u8>, TreeError> {
        let target = fs::read_link(path).map_err(|error| unreadable(path, error))?;
        let mut bytes = target.as_os_str().as_encoded_bytes().to_vec();
        let counts =
            |real: &PathBuf| real.starts_with(&self.within) || self.entry.as_deref() == Some(path);
        if let Some(real) = fs::canonicalize(path).ok().filter(counts)
            && let Ok(metadata) = fs::metadata(&real)
            && metadata.is_file()
        {
            bytes.push(0);
            bytes.extend(self.content(&real, metadata.len())?);
        }
        Ok(bytes)
    }

    fn content(&mut self, path: &Path, length: u64) -> Result<Vec<u8>, TreeError> {
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MOST_BYTES {
            return Err(problem(path, &format!("more than {MOST_BYTES} bytes")));
        }
        let read = read_capped(path, MOST_BYTES);
        Ok(read.map_err(|error| unreadable(path, error))?.bytes)
    }
}

#[cfg(unix)]
fn kind(metadata: &fs::Metadata) -> TreeFileKind {
    use std::os::unix::fs::PermissionsExt as _;
    if metadata.permissions().mode() & 0o111 == 0 {
        TreeFileKind::File
    } else {
        TreeFileKind::Executable
    }
}

#[cfg(not(unix))]
fn kind(_metadata: &fs::Metadata) -> TreeFileKind {
    TreeFileKind::File
}

/// Returns a relative path with `/` between its parts.
pub(crate) fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

fn unreadable(path: &Path, error: io::Error) -> TreeError {
    TreeError {
        source: Some(error),
        ..problem(path, "it cannot be read")
    }
}

fn problem(path: &Path, problem: &str) -> TreeError {
    TreeError {
        path: path.to_owned(),
        problem: problem.to_owned(),
        source: None,
    }
}
