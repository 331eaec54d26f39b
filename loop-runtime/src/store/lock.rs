//! One writer a session, by a lock of the operating system on a file that its holder removes.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A lock that is held.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// Takes the lock at `path`; `None` if somebody else holds it.
    ///
    /// The lock goes with the process, so one that died leaves nothing to clean up but a file.
    pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        loop {
            let file = File::options().create(true).append(true).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The last holder may have removed the file between opening and locking it.
            if is_same(&file, path) {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    _file: file,
                }));
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A file that stays does no harm: the lock is what counts.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(there)) => held.dev() == there.dev() && held.ino() == there.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_free_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locks/session");
        let held = FileLock::take(&path).unwrap();
        assert!(held.is_some());
        assert!(FileLock::take(&path).unwrap().is_none());
        drop(held);
        assert!(!path.exists());
        assert!(FileLock::take(&path).unwrap().is_some());
    }

    #[test]
    fn of_many_at_once_exactly_one_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session");
        for _ in 0..20 {
            let locks: Vec<Option<FileLock>> = std::thread::scope(|scope| {
                let takers: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| FileLock::take(&path).unwrap()))
                    .collect();
                takers
                    .into_iter()
                    .map(|taker| taker.join().unwrap())
                    .collect()
            });
            assert_eq!(locks.iter().flatten().count(), 1);
        }
    }
}
