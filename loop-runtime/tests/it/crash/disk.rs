//! A place for the files of one crash: written, opened by a real store, and judged.

use std::fs::File;
use std::path::{Path, PathBuf};

use loop_runtime::{SessionRecord, SessionStore, SqliteStore, StoreErrorKind};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::recording::log_of;

/// A folder where crashes are laid out, and a runtime to open what they left.
#[derive(Debug)]
pub(super) struct Disk {
    _folder: TempDir,
    path: PathBuf,
    runtime: Runtime,
}

impl Disk {
    pub(super) fn new() -> Self {
        let folder = folder();
        Self {
            path: folder.path().join("journal.db"),
            _folder: folder,
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
        }
    }

    /// Lays out the files as a crash left them.
    pub(super) fn lay_out(&self, database: &[u8], log: &[u8]) {
        std::fs::write(&self.path, database).unwrap();
        std::fs::write(log_of(&self.path), log).unwrap();
    }

    /// Cuts the log that was laid out.
    pub(super) fn cut(&self, end: usize) {
        let log = File::options().write(true).open(log_of(&self.path));
        log.unwrap().set_len(end as u64).unwrap();
    }

    /// Lays out the files as a crash left them, and opens them as any program would.
    pub(super) fn open(&self, database: &[u8], log: &[u8]) -> SqliteStore {
        self.lay_out(database, log);
        SqliteStore::open(&self.path).unwrap()
    }

    /// Opens what was laid out without a right to change it, so that it can be cut further.
    pub(super) fn look(&self) -> SqliteStore {
        SqliteStore::open_read_only(&self.path).unwrap()
    }

    /// Returns how many events of the session `whole` are listed.
    pub(super) fn listed(&self, store: &SqliteStore, whole: &SessionRecord) -> usize {
        let list = match self.runtime.block_on(store.list(10)) {
            Ok(list) => list,
            Err(error) => panic!("the sessions are not listed: {error}"),
        };
        let [found] = &list[..] else {
            assert!(list.is_empty());
            return 0;
        };
        assert_eq!(found.header, whole.header);
        usize::try_from(found.events).unwrap()
    }

    /// Returns how many events of `whole` are there; panics if anything else is.
    pub(super) fn recovered(&self, store: &SqliteStore, whole: &SessionRecord) -> usize {
        let loaded = self.runtime.block_on(store.load(&whole.header.id));
        let found = match loaded {
            Ok(found) => found,
            Err(error) if error.kind == StoreErrorKind::NotFound => return 0,
            Err(error) => panic!("the session does not open: {error}"),
        };
        assert_eq!(found.damage, None);
        assert_eq!(found.header, whole.header);
        let count = found.entries.len();
        assert_eq!(found.entries, whole.entries[..count]);
        count
    }
}

/// Returns a folder in memory where there is one: what is looked at is what is read back, and
/// nobody waits for a disk.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.unwrap()
}

/// Numbers from a seed, the same on every machine.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or_default() % bound.max(1)
    }
}
