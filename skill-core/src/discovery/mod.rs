//! Finding skills in the file system: roots, the walk below them, and reading inside bounds.

mod found;
mod items;
mod read;
mod roots;
mod stamp;
mod walk;
mod watch;

pub use roots::{Places, Root, project_root, standard_roots};
pub(crate) use {
    found::{Found, Reading},
    read::{Capped, files_below, open_below, read_capped, read_whole},
    stamp::Stamp,
    walk::walk,
    watch::Watch,
};

#[cfg(test)]
mod tests;

/// Bounds on a scan and on reading one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// How many folders deep a root is entered.
    pub depth: usize,
    /// How many folders of a root are entered.
    pub folders: usize,
    /// How many bytes of one file are read.
    pub file_bytes: u64,
    /// How many files below a skill's folder are listed.
    pub files: usize,
    /// How many threads read at once, where there is enough to read.
    pub threads: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            depth: 6,
            folders: 250_000,
            file_bytes: 256 * 1024,
            files: 2_000,
            threads: 4,
        }
    }
}

/// Folders that hold other people's or generated files, never skills of one's own.
const SKIPPED: &[&str] = &[
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "target",
    "vendor",
    "venv",
];

/// Tells whether a folder of this name is not entered.
fn is_skipped(name: &[u8]) -> bool {
    name.first() == Some(&b'.') || SKIPPED.iter().any(|skipped| skipped.as_bytes() == name)
}

/// How many items are worth a thread of their own.
const ITEMS_A_THREAD: usize = 128;

/// Maps `items` by at most `threads` threads, each with a buffer to use again; the results stand in
/// the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    make: impl Fn(&T, &mut Vec<u8>) -> R + Sync,
) -> Vec<R> {
    let threads = (items.len() / ITEMS_A_THREAD).clamp(1, threads.max(1));
    if threads == 1 {
        return share(items, &make);
    }
    let make = &make;
    std::thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(items.len().div_ceil(threads))
            .map(|items| scope.spawn(move || share(items, make)))
            .collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<R>>| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

fn share<T, R>(items: &[T], make: &impl Fn(&T, &mut Vec<u8>) -> R) -> Vec<R> {
    let mut buffer = Vec::new();
    items.iter().map(|item| make(item, &mut buffer)).collect()
}
