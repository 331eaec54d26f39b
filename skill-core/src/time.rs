//! Time and identity as values: libraries take these, only a program reads the real ones.

use std::fmt;

/// Tells the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Returns milliseconds of a clock that never goes back, for durations.
    fn monotonic_ms(&self) -> u64;
}

/// Makes identifiers.
pub trait IdSource: Send + Sync + fmt::Debug {
    /// Returns an identifier that was not returned before, ordered by time of making.
    fn next_id(&self) -> String;
}
