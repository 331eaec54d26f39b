//! What the system says of this process; zeros where it does not say.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the resident memory in bytes.
pub(crate) fn resident() -> io::Result<usize> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return Ok(0);
    };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| {
        line.trim()
            .trim_end_matches(" kB")
            .trim()
            .parse::<usize>()
            .ok()
    });
    Ok(kilobytes.unwrap_or(0) * 1_024)
}

/// Returns how many files were open at once, at most, while `work` ran.
pub(crate) fn most_open_files(work: impl FnOnce()) -> io::Result<usize> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let counter = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(fs::read_dir("/proc/self/fd").map_or(0, Iterator::count));
            }
            most
        });
        work();
        done.store(true, Ordering::Relaxed);
        counter
            .join()
            .map_err(|_| io::Error::other("the counter stopped"))
    })
}
