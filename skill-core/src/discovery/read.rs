//! Reading inside bounds: regular files only, a cap on each, and nothing outside of a folder.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use crate::discovery::{ScanLimits, Stamp, is_skipped};
use crate::skill::Diagnostic;

/// The beginning of a file.
#[derive(Debug)]
pub(crate) struct Capped {
    pub(crate) bytes: Vec<u8>,
    /// The length of the file, if it goes on past the cap.
    pub(crate) longer: Option<u64>,
    /// What the file was like before it was read.
    pub(crate) stamp: Stamp,
}

/// Reads at most `cap` bytes of the regular file at `path`.
pub(crate) fn read_capped(path: &Path, cap: u64) -> io::Result<Capped> {
    let (mut file, metadata) = open_regular(path, false)?;
    read_open(&mut file, Stamp::of(&metadata), cap, Vec::new())
}

/// Reads the whole of the regular file at `path`; a longer one than `most` bytes is an error.
///
/// Whoever put it there cannot make the reader wait, or read without end.
pub(crate) fn read_whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let read = read_capped(path, most)?;
    match read.longer {
        None => Ok(read.bytes),
        Some(length) => {
            let message = format!("it has {length} bytes, more than {most}");
            Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
        }
    }
}

/// An open folder, from which the way to what lies below is shorter than from the very top.
#[derive(Debug)]
pub(crate) struct Top {
    #[cfg(unix)]
    folder: std::os::fd::OwnedFd,
    #[cfg(unix)]
    path: PathBuf,
}

impl Top {
    /// Opens the folder at `path`; nothing if that fails.
    #[cfg(unix)]
    pub(crate) fn open(path: &Path) -> Option<Self> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty()).ok()?;
        let path = path.to_owned();
        Some(Self { folder, path })
    }

    /// Returns a stand-in, where paths are always followed from the very top.
    #[cfg(not(unix))]
    pub(crate) fn open(_path: &Path) -> Option<Self> {
        Some(Self {})
    }

    /// Reads the regular file at `path`, unless it is a link or anything about it fails; then the
    /// way that explains itself has to be taken.
    ///
    /// The bytes stand in `buffer`, which is to be given back.
    #[cfg(unix)]
    pub(crate) fn read_entry(&self, path: &Path, cap: u64, buffer: &mut Vec<u8>) -> Option<Capped> {
        use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let below = self.below(path)?;
        let mut file = File::from(openat(&self.folder, below, flags, Mode::empty()).ok()?);
        let stat = fstat(&file).ok()?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let stamp = Stamp::of_stat(&stat);
        let read = || read_open(&mut file, stamp, cap, std::mem::take(buffer)).ok();
        regular.then(read).flatten()
    }

    /// Reads the regular file at `path`, unless it is a link or anything about it fails.
    #[cfg(not(unix))]
    pub(crate) fn read_entry(&self, path: &Path, cap: u64, buffer: &mut Vec<u8>) -> Option<Capped> {
        let (mut file, metadata) = open_regular(path, true).ok()?;
        read_open(&mut file, Stamp::of(&metadata), cap, std::mem::take(buffer)).ok()
    }

    /// Tells whether nothing lies at `path`.
    #[cfg(unix)]
    pub(crate) fn lacks(&self, path: &Path) -> bool {
        use rustix::fs::{AtFlags, statat};
        let Some(below) = self.below(path) else {
            return false;
        };
        let found = statat(&self.folder, below, AtFlags::SYMLINK_NOFOLLOW);
        found.is_err_and(|error| error == rustix::io::Errno::NOENT)
    }

    /// Tells whether nothing lies at `path`.
    #[cfg(not(unix))]
    pub(crate) fn lacks(&self, path: &Path) -> bool {
        let found = fs::symlink_metadata(path);
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns the rest of a path that begins with this folder's, letter by letter.
    #[cfg(unix)]
    fn below<'p>(&self, path: &'p Path) -> Option<&'p [u8]> {
        use std::os::unix::ffi::OsStrExt as _;
        let top = self.path.as_os_str().as_bytes();
        let below = path.as_os_str().as_bytes().strip_prefix(top)?;
        let parted = below.strip_prefix(b"/");
        let below = parted.or_else(|| top.ends_with(b"/").then_some(below))?;
        (!below.is_empty()).then_some(below)
    }
}

fn read_open(file: &mut File, stamp: Stamp, cap: u64, mut bytes: Vec<u8>) -> io::Result<Capped> {
    let length = stamp.bytes();
    let wanted = usize::try_from(length.min(cap)).unwrap_or(usize::MAX);
    // One byte more shows the end with the first read. What is left of an earlier file is written
    // over, so it need not be cleared.
    bytes.resize(wanted.saturating_add(1), 0);
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let asked = rest.len();
        match file.read(rest) {
            Ok(count) => {
                filled += count;
                if count < asked {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    if length <= cap {
        return Ok(Capped {
            bytes,
            longer: None,
            stamp,
        });
    }
    bytes.truncate(wanted);
    bytes.truncate(whole_letters(&bytes));
    Ok(Capped {
        bytes,
        longer: Some(length),
        stamp,
    })
}

/// Opens a file without waiting for a writer where it is a pipe, refuses all but regular ones, and
/// returns what it is like too.
fn open_regular(path: &Path, refuse_link: bool) -> io::Result<(File, Metadata)> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, refuse_link);
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    #[cfg(not(unix))]
    if refuse_link && fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link"));
    }
    regular(options.open(path)?)
}

/// Returns an open file and what it is like, if it is a regular one.
fn regular(file: File) -> io::Result<(File, Metadata)> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        let message = "not a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

/// Returns the length of `bytes` without a letter of UTF-8 that the end cut in two.
fn whole_letters(bytes: &[u8]) -> usize {
    let last = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80);
    let Some(start) = last.map(|back| bytes.len() - 1 - back) else {
        return bytes.len();
    };
    match std::str::from_utf8(bytes.get(start..).unwrap_or_default()) {
        Err(error) if error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

/// Reads the file at `relative` below `folder`, links resolved.
///
/// A path that leaves the folder is [`io::ErrorKind::PermissionDenied`], whatever lies there, and
/// so is a folder that, at this moment, does not lie where `stays` allows.
pub(crate) fn open_below(
    folder: &Path,
    relative: &str,
    cap: u64,
    stays: impl Fn(&Path) -> bool,
) -> io::Result<Capped> {
    let outside = || {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            "outside the folder of the skill",
        )
    };
    let path = Path::new(relative);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !plain || relative.is_empty() || relative.contains('\0') {
        return Err(outside());
    }
    let folder = fs::canonicalize(folder)?;
    let real = fs::canonicalize(folder.join(path))?;
    if !stays(&folder) || !real.starts_with(&folder) {
        return Err(outside());
    }
    let (mut file, metadata) = open_without_links(&real)?;
    read_open(&mut file, Stamp::of(&metadata), cap, Vec::new())
}

/// Opens the regular file at `path`, which is absolute and without links, step by step.
///
/// No step follows a link, so nobody can put one in the way between the look and the opening.
#[cfg(unix)]
fn open_without_links(path: &Path) -> io::Result<(File, Metadata)> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // Passing through a folder takes no right to list it, where the platform knows the difference.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let pass = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let pass = OFlags::empty();
    let step = pass | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(CWD, Component::RootDir.as_os_str(), step, Mode::empty())?;
    let (parents, name) = (path.parent(), path.file_name());
    for part in parents.into_iter().flat_map(Path::components) {
        if part != Component::RootDir {
            at = openat(&at, part.as_os_str(), step, Mode::empty())?;
        }
    }
    let name = name.ok_or(io::ErrorKind::IsADirectory)?;
    let last = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    regular(File::from(openat(&at, name, last, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_without_links(path: &Path) -> io::Result<(File, Metadata)> {
    open_regular(path, true)
}

/// Returns the files below `folder` but for `entry`: relative, `/`-separated, sorted.
pub(crate) fn files_below(
    folder: &Path,
    entry: &Path,
    limits: &ScanLimits,
) -> (Vec<String>, Vec<Diagnostic>) {
    let mut listing = Listing {
        top: fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
        limits,
        files: Vec::new(),
        diagnostics: Vec::new(),
    };
    let mut queue = VecDeque::from([(folder.to_owned(), String::new(), 0)]);
    while let Some((path, prefix, depth)) = queue.pop_front() {
        if !listing.folder(&path, &prefix, depth, entry, &mut queue) {
            break;
        }
    }
    listing.files.sort();
    (listing.files, listing.diagnostics)
}

struct Listing<'a> {
    top: PathBuf,
    limits: &'a ScanLimits,
    files: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Listing<'_> {
    /// Lists one folder; returns false once the bound on files is reached.
    fn folder(
        &mut self,
        path: &Path,
        prefix: &str,
        depth: usize,
        entry: &Path,
        queue: &mut VecDeque<(PathBuf, String, usize)>,
    ) -> bool {
        let Ok(items) = fs::read_dir(path) else {
            self.note("SK065", path, "the folder cannot be read");
            return true;
        };
        let mut items: Vec<_> = items.flatten().collect();
        items.sort_by_key(fs::DirEntry::file_name);
        for item in items {
            let (path, name) = (item.path(), item.file_name());
            let (Ok(kind), Some(name)) = (item.file_type(), name.to_str()) else {
                continue;
            };
            if path == entry || name.starts_with('.') {
                continue;
            }
            let relative = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth < self.limits.depth && !is_skipped(name.as_bytes()) {
                    queue.push_back((path, format!("{relative}/"), depth + 1));
                }
            } else if kind.is_file() || (kind.is_symlink() && self.is_inside(&path)) {
                if self.files.len() >= self.limits.files {
                    self.note("SK064", &path, "too many files; the rest is not listed");
                    return false;
                }
                self.files.push(relative);
            }
        }
        true
    }

    /// Tells whether a link leads to a regular file below the folder.
    fn is_inside(&mut self, link: &Path) -> bool {
        let Ok(real) = fs::canonicalize(link) else {
            return false;
        };
        if !real.starts_with(&self.top) {
            self.note(
                "SK061",
                link,
                "the link leaves the folder of the skill; it is not listed",
            );
            return false;
        }
        real.is_file()
    }

    fn note(&mut self, code: &'static str, path: &Path, message: &str) {
        self.diagnostics
            .push(Diagnostic::about(code, path, message));
    }
}
