//! The walk below a root: breadth first, in the order of bytes, never twice through one folder.
//!
//! A folder with a plain `SKILL.md` is read at once, without listing it; everything else is found
//! by listing. Each level is read by several threads and judged by one, so that the outcome does
//! not depend on them.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::discovery::found::{Found, Reading, Walk};
use crate::discovery::items::{Item, items, joined};
use crate::discovery::read::Top;
use crate::discovery::{Root, ScanLimits, Stamp, is_skipped, parallel};
use crate::skill::{Diagnostic, Origin, Scope, SkillFormat, companion};
use crate::source::form::{Claim, Spelling, claim, is_named_as_skill};
use crate::source::package;

/// Walks `root`, reading packages as they are met. A root that does not exist is empty.
pub(crate) fn walk<R: Send + Sync>(
    root: &Root,
    limits: &ScanLimits,
    reading: &Reading<'_, R>,
) -> Walk<R> {
    let mut walker = Walker::new(root, limits);
    match fs::metadata(&root.path) {
        Ok(metadata) if metadata.is_dir() => walker.run(reading),
        Ok(metadata) => walker.single_file(metadata.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => walker.watch(&root.path, None),
        Err(error) => walker.note("SK065", &root.path, format!("cannot be entered: {error}")),
    }
    let mut walk = walker.walk;
    walk.found.sort_by(|left, right| {
        let by_form = left.format.cmp(&right.format);
        by_form.then_with(|| encoded(&left.path).cmp(encoded(&right.path)))
    });
    walk
}

fn encoded(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

struct Walker<'a, R> {
    root: &'a Root,
    limits: &'a ScanLimits,
    /// Where links must stay, resolved; `None` for no bound.
    boundary: Option<PathBuf>,
    /// The folders of the next level.
    next: Vec<Folder>,
    /// Where the root's path leads, if a link is on the way.
    real_root: Option<PathBuf>,
    /// Folders entered or waiting, resolved; made when the first link is met, since without one
    /// no folder is met twice.
    seen: Option<HashSet<OsString>>,
    walk: Walk<R>,
    entered: usize,
    /// The depth bound was reported.
    cut: bool,
}

/// A folder to enter.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// Where the path leads, if a link is on the way.
    real: Option<PathBuf>,
    depth: usize,
}

impl Folder {
    fn real(&self) -> &Path {
        self.real.as_deref().unwrap_or(&self.path)
    }
}

/// What a look into a folder brought.
enum Look<R> {
    Package(R),
    Items(Vec<Item>, Option<Stamp>),
    Unreadable(io::Error),
}

impl<R> Look<R> {
    fn has_links(&self) -> bool {
        match self {
            Self::Items(items, _) => items.iter().any(|item| item.kind.is_symlink()),
            Self::Package(..) | Self::Unreadable(_) => false,
        }
    }
}

impl<'a, R: Send + Sync> Walker<'a, R> {
    fn new(root: &'a Root, limits: &'a ScanLimits) -> Self {
        let bound = root.boundary.as_deref().filter(|_| !root.trusted);
        Self {
            root,
            limits,
            boundary: bound
                .map(|bound| fs::canonicalize(bound).unwrap_or_else(|_| bound.to_owned())),
            next: Vec::new(),
            real_root: None,
            seen: None,
            walk: Walk {
                found: Vec::new(),
                folders: Vec::new(),
                diagnostics: Vec::new(),
            },
            entered: 0,
            cut: false,
        }
    }

    fn run(&mut self, reading: &Reading<'_, R>) {
        let top = Top::open(&self.root.path);
        let path = self.root.path.clone();
        match fs::canonicalize(&path) {
            Ok(real) if !self.stays(&path, &real) => self.leaves(&path, &real),
            Ok(real) => {
                self.real_root = (real != path).then_some(real);
                self.enter(path, self.real_root.clone(), 0);
            }
            Err(error) => self.note("SK065", &path, format!("cannot be entered: {error}")),
        }
        while !self.next.is_empty() {
            let mut level = std::mem::take(&mut self.next);
            if self.entered + level.len() > self.limits.folders {
                level.truncate(self.limits.folders.saturating_sub(self.entered));
                let message = format!(
                    "more than {} folders; the rest is not searched",
                    self.limits.folders
                );
                self.note("SK064", &self.root.path, message);
            }
            self.entered += level.len();
            let looks = parallel(&level, self.limits.threads, |folder, buffer| {
                self.look(folder, top.as_ref(), buffer, reading)
            });
            if self.seen.is_none() && looks.iter().any(Look::has_links) {
                self.seen = Some(self.entered(&level));
            }
            for (folder, look) in level.iter().zip(looks) {
                self.take(folder, look);
            }
            if self.entered >= self.limits.folders {
                break;
            }
        }
    }

    /// Looks into a folder without changing anything.
    fn look(
        &self,
        folder: &Folder,
        top: Option<&Top>,
        buffer: &mut Vec<u8>,
        reading: &Reading<'_, R>,
    ) -> Look<R> {
        // On file systems that ignore case, only the listing shows how the name is written.
        let quick = cfg!(target_os = "linux") && self.root.packages && folder.depth > 0;
        if let Some(top) = top.filter(|_| quick) {
            let path = joined(&folder.path, package::ENTRY);
            if let Some(known) = (reading.reuse)(&path) {
                return Look::Package(known);
            }
            if let Some(read) = top.read_entry(&path, self.limits.file_bytes, buffer) {
                let alone = top.lacks(&joined(&folder.path, companion::FOLDER));
                let made = (reading.make)(&path, &read, alone);
                *buffer = read.bytes;
                return Look::Package(made);
            }
        }
        let stamp = Stamp::at(&folder.path);
        let looked = |items| Look::Items(items, stamp);
        items(&folder.path).map_or_else(Look::Unreadable, looked)
    }

    fn take(&mut self, folder: &Folder, look: Look<R>) {
        match look {
            Look::Package(read) => self.package(folder, read),
            Look::Items(items, stamp) => {
                self.watch(&folder.path, stamp);
                self.items(folder, &items);
            }
            Look::Unreadable(error) => {
                self.watch(&folder.path, Stamp::at(&folder.path));
                let message = format!("the folder cannot be read: {error}");
                self.note("SK065", &folder.path, message);
            }
        }
    }

    fn package(&mut self, folder: &Folder, read: R) {
        let path = joined(&folder.path, package::ENTRY);
        let real = folder.real.as_ref();
        self.walk.found.push(Found {
            real_path: real.map(|real| joined(real, package::ENTRY)),
            path,
            format: SkillFormat::Package,
            diagnostics: Vec::new(),
            read: Some(read),
        });
    }

    fn items(&mut self, folder: &Folder, items: &[Item]) {
        if let Some((item, format, spelling)) = self.entry_of(items) {
            let odd_case = spelling == Spelling::OtherCase;
            self.file(folder, item, format, odd_case);
            // A stray file at the top of a root must not hide all the skills below it.
            if folder.depth > 0 || self.root.scope == Scope::Flag {
                return;
            }
        }
        for item in items {
            self.item(folder, item);
        }
    }

    fn single_file(&mut self, regular: bool) {
        let origin = Origin::of(&self.root.path, self.root.scope);
        let entry = Entry {
            path: origin.path,
            real: None,
            regular,
            odd_case: false,
        };
        let named = is_named_as_skill(&entry.path);
        self.found(entry, origin.format);
        if let Some(found) = self.walk.found.last_mut().filter(|_| !named) {
            let message = "the name is none of a skill file, `*.md` or `skill.yaml`";
            let finding = Diagnostic::about("SK065", &found.path, message);
            found.diagnostics.push(finding.refusing());
        }
    }

    fn enter(&mut self, path: PathBuf, real: Option<PathBuf>, depth: usize) {
        if let Some(seen) = &mut self.seen {
            let real = real.as_deref().unwrap_or(&path);
            seen.insert(real.as_os_str().to_owned());
        }
        self.next.push(Folder { path, real, depth });
    }

    /// Returns the item that makes its folder a skill: the form of the highest precedence first,
    /// then the exact spelling.
    fn entry_of<'i>(&self, items: &'i [Item]) -> Option<(&'i Item, SkillFormat, Spelling)> {
        items
            .iter()
            .filter(|item| !item.kind.is_dir())
            .filter_map(|item| match claim(item.name.to_str()?, self.root) {
                (format, Claim::Folder(spelling)) => Some((item, format, spelling)),
                _ => None,
            })
            .min_by_key(|(_, format, spelling)| (*format, *spelling))
    }

    fn item(&mut self, folder: &Folder, item: &Item) {
        if item.kind.is_dir() {
            self.subfolder(folder, item);
        } else if item.kind.is_symlink() {
            self.link(folder, item);
        } else {
            self.plain(folder, item);
        }
    }

    fn plain(&mut self, folder: &Folder, item: &Item) {
        let Some(name) = item.name.to_str() else {
            return;
        };
        match claim(name, self.root) {
            (format, Claim::File) => self.file(folder, item, format, false),
            (_, Claim::Hint) if item.kind.is_file() => {
                let path = joined(&folder.path, &item.name);
                let message = "a plain Markdown file is a skill only in a lite root";
                self.note("SK067", &path, message.to_owned());
            }
            _ => {}
        }
    }

    fn subfolder(&mut self, folder: &Folder, item: &Item) {
        if is_skipped(item.name.as_encoded_bytes()) || self.too_deep(folder, &item.name) {
            return;
        }
        let real = folder.real.as_ref().map(|real| joined(real, &item.name));
        let path = joined(&folder.path, &item.name);
        let claimed = item.name.to_str().map(|name| claim(name, self.root).1);
        if matches!(claimed, Some(Claim::Folder(_) | Claim::File)) {
            let message = "a folder has the name of a skill file; it is no skill";
            self.note("SK065", &path, message.to_owned());
        }
        if self.was_seen(real.as_deref().unwrap_or(&path)) {
            let message = "the folder was entered by a link already".to_owned();
            self.note("SK071", &path, message);
            return;
        }
        self.enter(path, real, folder.depth + 1);
    }

    /// Returns every folder entered so far, on the present level the last, while no link was met.
    fn entered(&self, level: &[Folder]) -> HashSet<OsString> {
        let packages = self
            .walk
            .found
            .iter()
            .filter_map(|found| found.path.parent());
        let listed = self.walk.folders.iter().map(|(path, _)| path.as_path());
        let present = level.iter().map(|folder| folder.path.as_path());
        let every = packages.chain(listed).chain(present);
        every
            .map(
                |path| match (&self.real_root, path.strip_prefix(&self.root.path)) {
                    (Some(real), Ok(below)) => joined(real, below).into_os_string(),
                    _ => path.as_os_str().to_owned(),
                },
            )
            .collect()
    }

    fn was_seen(&self, real: &Path) -> bool {
        let seen = self.seen.as_ref();
        seen.is_some_and(|seen| seen.contains(real.as_os_str()))
    }

    /// Tells whether what is below `folder` is past the depth bound, and says so once.
    fn too_deep(&mut self, folder: &Folder, name: &OsStr) -> bool {
        if folder.depth < self.limits.depth {
            return false;
        }
        if !self.cut {
            self.cut = true;
            let message = format!("deeper than {} folders; not searched", self.limits.depth);
            self.note("SK063", &folder.path.join(name), message);
        }
        true
    }

    fn link(&mut self, folder: &Folder, item: &Item) {
        let path = joined(&folder.path, &item.name);
        let Ok(metadata) = fs::metadata(&path) else {
            self.watch(&path, None);
            self.note("SK065", &path, "the link leads nowhere".to_owned());
            return;
        };
        if !metadata.is_dir() {
            self.plain(folder, item);
            return;
        }
        if is_skipped(item.name.as_encoded_bytes()) {
            return;
        }
        let Ok(real) = fs::canonicalize(&path) else {
            return;
        };
        if !self.stays(&path, &real) {
            self.leaves(&path, &real);
        } else if folder.real().starts_with(&real) {
            let message = "the link leads back to a folder above it".to_owned();
            self.note("SK062", &path, message);
        } else if self.was_seen(&real) {
            let message = format!("the same folder as {}", real.display());
            self.note("SK071", &path, message);
        } else if !self.too_deep(folder, &item.name) {
            let real = (real != path).then_some(real);
            self.enter(path, real, folder.depth + 1);
        }
    }

    /// Takes an entry file; for a link, looks where it leads first.
    fn file(&mut self, folder: &Folder, item: &Item, format: SkillFormat, odd_case: bool) {
        let path = joined(&folder.path, &item.name);
        let linked = item.kind.is_symlink();
        let (real, regular) = if linked {
            let regular = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
            let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            (real, regular)
        } else {
            (joined(folder.real(), &item.name), item.kind.is_file())
        };
        if linked && !self.stays(&path, &real) {
            self.leaves(&path, &real);
            return;
        }
        let real = (real != path).then_some(real);
        let entry = Entry {
            path,
            real,
            regular,
            odd_case,
        };
        self.found(entry, format);
    }

    fn found(&mut self, entry: Entry, format: SkillFormat) {
        let mut diagnostics = Vec::new();
        if !entry.regular {
            let message = "not a regular file; it is not opened";
            diagnostics.push(Diagnostic::about("SK065", &entry.path, message).refusing());
        }
        if entry.odd_case {
            let message = format!("the file should be named `{}`", package::ENTRY);
            diagnostics.push(Diagnostic {
                fix: Some(package::ENTRY.to_owned()),
                ..Diagnostic::about("SK060", &entry.path, message)
            });
        }
        self.walk.found.push(Found {
            path: entry.path,
            real_path: entry.real,
            format,
            diagnostics,
            read: None,
        });
    }

    /// Refuses what a link of an untrusted project leads out of it to.
    fn leaves(&mut self, path: &Path, real: &Path) {
        let message = format!(
            "the link leaves the project for {}; trust is needed",
            real.display()
        );
        self.walk.found.push(Found {
            path: path.to_owned(),
            real_path: None,
            format: SkillFormat::Package,
            diagnostics: vec![Diagnostic::about("SK061", path, message).refusing()],
            read: None,
        });
    }

    /// Tells whether the link at `path` may be followed to `real`.
    fn stays(&self, path: &Path, real: &Path) -> bool {
        let bound = self.boundary.as_ref();
        bound.is_none_or(|bound| real.starts_with(bound)) || self.is_trusted(path, real)
    }

    /// Tells whether the link at `path`, or the one that led into its folder, was trusted to lead
    /// where `real` lies.
    fn is_trusted(&self, path: &Path, real: &Path) -> bool {
        let mut links = self.root.trusted_links.iter();
        links.any(|(link, target)| path.starts_with(link) && real.starts_with(target))
    }

    fn watch(&mut self, path: &Path, stamp: Option<Stamp>) {
        self.walk.folders.push((path.to_owned(), stamp));
    }

    fn note(&mut self, code: &'static str, path: &Path, message: String) {
        let finding = Diagnostic::about(code, path, message);
        self.walk.diagnostics.push(finding);
    }
}

/// An entry file, looked at.
struct Entry {
    path: PathBuf,
    real: Option<PathBuf>,
    regular: bool,
    odd_case: bool,
}
