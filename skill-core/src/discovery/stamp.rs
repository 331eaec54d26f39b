//! What tells whether a file or folder is still the one that was read, without reading it.

use std::fs::{self, Metadata};
use std::path::Path;

/// Where a file lies on its device and when it was last touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Device and inode; zero where the platform has none.
    file: (u64, u64),
    bytes: u64,
    /// How many names it has; of a folder, on most file systems, how many folders are in it.
    links: u64,
    /// When content and status changed, in nanoseconds since the epoch.
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the stamp of what `metadata` is about.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            links: metadata.nlink(),
            changed: (
                nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            ),
        }
    }

    /// Returns the stamp of what `metadata` is about.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .and_then(|since| i64::try_from(since.as_nanos()).ok())
            .unwrap_or_default();
        Self {
            file: (0, 0),
            bytes: metadata.len(),
            links: 0,
            changed: (modified, 0),
        }
    }

    /// Returns the stamp of what `stat` is about.
    #[cfg(unix)]
    #[expect(
        clippy::unnecessary_cast,
        reason = "the types differ from one system to another"
    )]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            file: (stat.st_dev as u64, stat.st_ino as u64),
            bytes: stat.st_size as u64,
            links: stat.st_nlink as u64,
            changed: (
                nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
                nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            ),
        }
    }

    /// Returns the length of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Tells whether the file has one name only, so that whoever changes it goes through its folder.
    pub(crate) fn has_one_name(&self) -> bool {
        self.links == 1
    }

    /// Tells whether both are of one file, whatever happened to it in between.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file && self.file != (0, 0)
    }

    /// Tells whether both lie on one device.
    pub(crate) fn is_on_device_of(&self, other: &Self) -> bool {
        self.file.0 == other.file.0
    }

    /// Returns the stamp of what `path` leads to, or nothing where it leads nowhere.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of)
    }
}
