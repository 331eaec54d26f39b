//! Reading inside bounds: regular files only, a cap on each, and nothing outside of a folder.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use crate::discovery::{ScanLimits, is_skipped};
use crate::skill::{Diagnostic, Severity};

/// The beginning of a file.
#[derive(Debug)]
pub(crate) struct Capped {
    pub(crate) bytes: Vec<u8>,
    /// The length of the file, if it goes on past the cap.
    pub(crate) longer: Option<u64>,
}

/// Reads at most `cap` bytes of the regular file at `path`.
pub(crate) fn read_capped(path: &Path, cap: u64) -> io::Result<Capped> {
    let file = open_regular(path)?;
    let mut bytes = Vec::with_capacity(READ_AHEAD);
    (&file)
        .take(cap.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= cap {
        return Ok(Capped {
            bytes,
            longer: None,
        });
    }
    bytes.truncate(usize::try_from(cap).unwrap_or(usize::MAX));
    bytes.truncate(whole_letters(&bytes));
    Ok(Capped {
        bytes,
        longer: Some(file.metadata()?.len()),
    })
}

/// What most skill files fit in, so that one read takes all.
const READ_AHEAD: usize = 16 * 1024;

/// Opens a file without waiting for a writer where it is a pipe, and refuses all but regular ones.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
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
/// A path that leaves the folder is [`io::ErrorKind::PermissionDenied`], whatever lies there.
pub(crate) fn open_below(folder: &Path, relative: &str, cap: u64) -> io::Result<Capped> {
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
    if !real.starts_with(&folder) {
        return Err(outside());
    }
    read_capped(&real, cap)
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
        self.diagnostics.push(Diagnostic {
            code,
            severity: Severity::Warning,
            path: path.to_owned(),
            line: None,
            column: None,
            message: message.to_owned(),
            text: None,
            fix: None,
        });
    }
}
