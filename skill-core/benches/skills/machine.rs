//! What the system says of this process; zeros where it does not say.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Returns the time that all processors together gave to this process.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns nothing, where the system is not asked.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    Duration::ZERO
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
