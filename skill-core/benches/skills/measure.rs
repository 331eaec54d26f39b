//! Two programs measured in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::machine;

/// What two sides take, in milliseconds: the quarter of the rounds that were disturbed least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) own: f64,
    pub(crate) baseline: f64,
    /// The same in time of all processors together.
    pub(crate) own_cpu: f64,
    pub(crate) baseline_cpu: f64,
}

impl Pair {
    /// Returns how many times as long the own side takes.
    pub(crate) fn ratio(&self) -> f64 {
        self.own / self.baseline.max(f64::MIN_POSITIVE)
    }

    /// Returns the ratio of the time of all processors.
    pub(crate) fn cpu_ratio(&self) -> f64 {
        self.own_cpu / self.baseline_cpu.max(f64::MIN_POSITIVE)
    }
}

/// Runs both sides `rounds` times in turn, after one round that is not counted.
///
/// What a side returns is dropped when its time has been taken.
pub(crate) fn pairs<T, U>(rounds: usize, own: impl Fn() -> T, baseline: impl Fn() -> U) -> Pair {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..=rounds {
        theirs.push(time(&baseline));
        ours.push(time(&own));
    }
    let (ours, theirs) = (ours.split_off(1), theirs.split_off(1));
    Pair {
        own: quartile(&ours, |time| time.0),
        baseline: quartile(&theirs, |time| time.0),
        own_cpu: quartile(&ours, |time| time.1),
        baseline_cpu: quartile(&theirs, |time| time.1),
    }
}

/// Returns the time on the wall and that of all processors.
fn time<T>(work: impl Fn() -> T) -> (f64, f64) {
    let (start, cpu) = (Instant::now(), machine::processor_time());
    let made = black_box(work());
    let taken = (
        start.elapsed(),
        machine::processor_time().saturating_sub(cpu),
    );
    drop(made);
    (milliseconds(taken.0), milliseconds(taken.1))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn quartile(times: &[(f64, f64)], of: impl Fn(&(f64, f64)) -> f64) -> f64 {
    let mut times: Vec<f64> = times.iter().map(of).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 4).copied().unwrap_or_default()
}
