//! The one folder that file tools reach, held by a descriptor and never left.
//!
//! A path is resolved first, following links as long as they stay inside; the result has no link
//! in it any more. Every later access walks that result one name at a time and refuses links, so
//! what was judged is what is opened, whatever happens to the tree in between.

mod error;
mod small;
mod text;
mod ways;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};

pub use error::{WorkspaceError, WorkspaceErrorKind};
pub(crate) use small::{Small, read_small};
pub use text::FileStamp;

use crate::nearest::did_you_mean;

/// How many links one path may go through.
const MAX_LINKS: usize = 40;

/// The longest path that is looked at; no system takes a longer one.
const MAX_PATH_BYTES: usize = 4096;

/// How many names of a folder are looked at for a suggestion.
const MAX_SUGGESTIONS: usize = 2_000;

/// The folder that file tools reach.
#[derive(Clone)]
pub struct Workspace {
    root: Arc<Root>,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The path with links resolved.
    pub(crate) resolved: String,
    /// Its other names: as written, and after each link.
    pub(crate) through: BTreeSet<String>,
}

struct Root {
    dir: Dir,
    /// The path with links resolved.
    path: PathBuf,
    /// The path as it was given.
    given: PathBuf,
}

impl Workspace {
    /// Opens the folder at `path`.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let shown = path.display().to_string();
        let fail = |error: io::Error| WorkspaceError::io(&shown, error, "a folder");
        let real = path.canonicalize().map_err(fail)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(fail)?;
        let root = Root {
            dir,
            path: real,
            given: path.to_owned(),
        };
        Ok(Self {
            root: Arc::new(root),
        })
    }

    /// Returns the folder's own path, with links resolved.
    pub fn path(&self) -> &Path {
        &self.root.path
    }

    /// Returns where `path` leads below the root, links followed; `.` is the root itself.
    ///
    /// What does not exist yet resolves too. An absolute path is taken if it lies in the root.
    pub fn resolve(&self, path: &str) -> Result<String, WorkspaceError> {
        self.trace(path).map(|traced| traced.resolved)
    }

    /// Resolves a path and keeps the names it had on the way: as written, and after each link.
    pub(crate) fn trace(&self, path: &str) -> Result<Traced, WorkspaceError> {
        let outside = || WorkspaceError::new(path, WorkspaceErrorKind::Outside);
        if path.len() > MAX_PATH_BYTES {
            return Err(WorkspaceError::too_long(path));
        }
        let mut todo = Vec::new();
        self.push_components(&mut todo, Path::new(path))
            .ok_or_else(outside)?;
        let mut done: Vec<String> = Vec::new();
        let mut through: BTreeSet<String> = lexical(&done, &todo).into_iter().collect();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            if name == ".." {
                done.pop().ok_or_else(outside)?;
                continue;
            }
            done.push(name);
            let here = done.join("/");
            match self.root.dir.symlink_metadata(&here) {
                Ok(found) if found.is_symlink() => {
                    links += 1;
                    done.pop();
                    let target = self.root.dir.read_link_contents(&here);
                    let target =
                        target.map_err(|error| WorkspaceError::io(path, error, "a link"))?;
                    if links > MAX_LINKS {
                        let kind = WorkspaceErrorKind::Not {
                            wanted: "a file",
                            found: "a loop of links",
                        };
                        return Err(WorkspaceError::new(path, kind));
                    }
                    self.push_components(&mut todo, &target)
                        .ok_or_else(outside)?;
                    if target.is_absolute() {
                        done.clear();
                    }
                    through.extend(lexical(&done, &todo));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(WorkspaceError::io(path, error, "a folder")),
            }
        }
        let resolved = joined(&done);
        through.remove(&resolved);
        Ok(Traced { resolved, through })
    }

    /// Resolves the folder that holds `path`, and keeps its last name as it is: what is moved or
    /// deleted is the link itself, never what it leads to.
    pub(crate) fn trace_entry(&self, path: &str) -> Result<Traced, WorkspaceError> {
        let plain = path.trim_end_matches('/');
        let (folder, name) = match plain.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((folder, name)) => (folder, name),
            None => (".", plain),
        };
        if matches!(name, "" | "." | "..") {
            let kind = WorkspaceErrorKind::Not {
                wanted: "the name of a file or folder",
                found: "a way to a folder",
            };
            return Err(WorkspaceError::new(path, kind));
        }
        if name.contains('\0') {
            return Err(WorkspaceError::new(path, WorkspaceErrorKind::Outside));
        }
        let parent = self.trace(folder).map_err(|error| WorkspaceError {
            path: path.to_owned(),
            ..error
        })?;
        let named = |folder: &String| match folder.as_str() {
            "." => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        Ok(Traced {
            resolved: named(&parent.resolved),
            through: parent.through.iter().map(named).collect(),
        })
    }

    /// Pushes the names of `path` in reverse; `None` if it does not start in the root.
    fn push_components(&self, todo: &mut Vec<String>, path: &Path) -> Option<()> {
        let relative = if path.has_root() || path.is_absolute() {
            path.strip_prefix(&self.root.path)
                .or_else(|_| path.strip_prefix(&self.root.given))
                .ok()?
        } else {
            path
        };
        let mut names = Vec::new();
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => names.push("..".to_owned()),
                Component::Normal(name) => names.push(
                    name.to_str()
                        .filter(|name| !name.contains('\0'))?
                        .to_owned(),
                ),
                Component::Prefix(_) | Component::RootDir => return None,
            }
        }
        todo.extend(names.into_iter().rev());
        Some(())
    }

    /// Opens the regular file at a resolved path for reading.
    pub(crate) fn open_file(&self, resolved: &str) -> Result<File, WorkspaceError> {
        let (parent, name) = self.parent(resolved)?;
        let dir = parent.as_ref().unwrap_or(&self.root.dir);
        let fail = |error: io::Error| self.failed(resolved, error, "a file");
        let found = dir.symlink_metadata(name).map_err(fail)?;
        expect_file(resolved, found.file_type())?;
        // Between the look and the opening a pipe may take the file's place: never wait for it.
        let file = dir.open_with(name, &reading(Links::Refuse)).map_err(fail)?;
        expect_file(resolved, file.metadata().map_err(fail)?.file_type())?;
        Ok(file)
    }

    /// Returns what is at a resolved path without following a link there; `None` if nothing is.
    pub(crate) fn look(&self, resolved: &str) -> Result<Option<Metadata>, WorkspaceError> {
        let looked = self.parent(resolved).and_then(|(parent, name)| {
            let dir = parent.as_ref().unwrap_or(&self.root.dir);
            dir.symlink_metadata(name)
                .map_err(|error| self.failed(resolved, error, "a file"))
        });
        match looked {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.kind, WorkspaceErrorKind::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder at a resolved path.
    pub(crate) fn open_folder(&self, resolved: &str) -> Result<Dir, WorkspaceError> {
        let (parent, name) = self.parent(resolved)?;
        let dir = parent.as_ref().unwrap_or(&self.root.dir);
        let fail = |error: io::Error| self.failed(resolved, error, "a folder");
        if name == "." {
            return dir.open_dir(".").map_err(fail);
        }
        let found = dir.symlink_metadata(name).map_err(fail)?.file_type();
        if !found.is_dir() {
            return Err(WorkspaceError::not(resolved, "a folder", found));
        }
        step(dir, name).map_err(fail)
    }

    /// Opens the folder that holds a resolved path, and creates it where it is missing.
    pub(crate) fn make_parent<'p>(
        &self,
        resolved: &'p str,
    ) -> Result<(Dir, &'p str), WorkspaceError> {
        let (folders, name) = resolved.rsplit_once('/').unwrap_or(("", resolved));
        let fail = |error: io::Error| self.failed(resolved, error, "a folder");
        let mut dir = self.root.dir.try_clone().map_err(fail)?;
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            match dir.create_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(fail(error));
                }
                _ => dir = step(&dir, folder).map_err(fail)?,
            }
        }
        Ok((dir, name))
    }

    /// Opens the folder that holds a resolved path; returns it with the last name.
    pub(crate) fn holder<'p>(&self, resolved: &'p str) -> Result<(Dir, &'p str), WorkspaceError> {
        let (parent, name) = self.parent(resolved)?;
        let fail = |error: io::Error| self.failed(resolved, error, "a folder");
        let dir = match parent {
            Some(dir) => dir,
            None => self.root.dir.try_clone().map_err(fail)?,
        };
        Ok((dir, name))
    }

    /// Walks to the folder that holds a resolved path, refusing links; `None` is the root.
    fn parent<'p>(&self, resolved: &'p str) -> Result<(Option<Dir>, &'p str), WorkspaceError> {
        let Some((folders, name)) = resolved.rsplit_once('/') else {
            return Ok((None, resolved));
        };
        let mut at: Option<Dir> = None;
        for folder in folders.split('/') {
            let next = step(at.as_ref().unwrap_or(&self.root.dir), folder);
            at = Some(next.map_err(|error| self.failed(resolved, error, "a folder"))?);
        }
        Ok((at, name))
    }

    /// Names a failure of the system, with a near name where nothing was found.
    fn failed(&self, resolved: &str, error: io::Error, wanted: &'static str) -> WorkspaceError {
        let mut failed = WorkspaceError::io(resolved, error, wanted);
        if let WorkspaceErrorKind::NotFound(hint) = &mut failed.kind {
            *hint = self.suggest(resolved).unwrap_or_default();
        }
        failed
    }

    /// Looks, from the root down, for the first name that is missing, and for one near it.
    fn suggest(&self, resolved: &str) -> Option<String> {
        let mut at: Option<Dir> = None;
        let mut before = String::new();
        for name in resolved.split('/') {
            let dir = at.as_ref().unwrap_or(&self.root.dir);
            if dir.symlink_metadata(name).is_err() {
                let names = dir.entries().ok()?.take(MAX_SUGGESTIONS).flatten();
                let mut names: Vec<String> = names
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .collect();
                names
                    .iter_mut()
                    .for_each(|name| name.insert_str(0, &before));
                names.sort();
                return Some(did_you_mean(
                    &format!("{before}{name}"),
                    names.iter().map(String::as_str),
                ));
            }
            before = format!("{before}{name}/");
            at = Some(step(dir, name).ok()?);
        }
        None
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Workspace")
            .field("path", &self.root.path)
            .finish_non_exhaustive()
    }
}

/// Returns the path that `done` and the names in reverse in `todo` make by their text; `None` if it
/// climbs above the root, which following the links decides.
fn lexical(done: &[String], todo: &[String]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in done.iter().chain(todo.iter().rev()) {
        if name == ".." {
            names.pop()?;
        } else {
            names.push(name);
        }
    }
    Some(joined(&names))
}

fn joined<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() {
        ".".to_owned()
    } else {
        names.join("/")
    }
}

/// What to do with a link at the end of a path.
#[derive(Clone, Copy)]
enum Links {
    Refuse,
    RefuseAndWantFolder,
}

/// Returns the options to open something that exists for reading: no link, no waiting.
#[cfg(unix)]
fn reading(links: Links) -> OpenOptions {
    use cap_std::fs::OpenOptionsExt as _;
    use rustix::fs::OFlags;
    let flags = match links {
        Links::Refuse => OFlags::NOFOLLOW | OFlags::NONBLOCK,
        Links::RefuseAndWantFolder => OFlags::NOFOLLOW | OFlags::DIRECTORY,
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

/// Opens a folder below `dir` by one name that is not a link.
#[cfg(unix)]
pub(crate) fn step(dir: &Dir, name: &str) -> io::Result<Dir> {
    let folder = dir.open_with(name, &reading(Links::RefuseAndWantFolder))?;
    Ok(Dir::from_std_file(folder.into_std()))
}

#[cfg(not(unix))]
fn reading(_links: Links) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

#[cfg(not(unix))]
pub(crate) fn step(dir: &Dir, name: &str) -> io::Result<Dir> {
    if dir.symlink_metadata(name)?.is_symlink() {
        return Err(io::Error::other("a link took the place of a folder"));
    }
    dir.open_dir(name)
}

fn expect_file(path: &str, found: FileType) -> Result<(), WorkspaceError> {
    if found.is_file() {
        Ok(())
    } else {
        Err(WorkspaceError::not(path, "a file", found))
    }
}
