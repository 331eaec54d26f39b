//! Two programs measured in turn.

use std::hint::black_box;
use std::time::Instant;

/// Medians of two sides, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) own: f64,
    pub(crate) baseline: f64,
}

impl Pair {
    /// Returns how many times as long the own side takes.
    pub(crate) fn ratio(&self) -> f64 {
        self.own / self.baseline.max(f64::MIN_POSITIVE)
    }
}

/// Runs both sides `rounds` times in turn, after one round that is not counted.
pub(crate) fn pairs(rounds: usize, own: impl Fn() -> usize, baseline: impl Fn() -> usize) -> Pair {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..=rounds {
        theirs.push(time(&baseline));
        ours.push(time(&own));
    }
    Pair {
        own: median(ours.split_off(1)),
        baseline: median(theirs.split_off(1)),
    }
}

fn time(work: impl Fn() -> usize) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64() * 1_000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
