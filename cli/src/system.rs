//! The real clock and the real ids.

#![expect(
    clippy::disallowed_methods,
    reason = "this module is the program's clock"
)]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use skill_core::{Clock, IdSource};
use uuid::Uuid;

/// The machine's clock.
#[derive(Debug)]
pub(crate) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Ids that sort by the time of their making (UUID version 7).
#[derive(Debug)]
pub(crate) struct UuidSource;

impl IdSource for UuidSource {
    fn next_id(&self) -> String {
        Uuid::now_v7().simple().to_string()
    }
}

/// Returns a number that differs from run to run, for jitter.
pub(crate) fn jitter_seed() -> u64 {
    Uuid::now_v7().as_u64_pair().1
}
