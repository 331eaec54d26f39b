//! The benches of the loop alone: `loop-runtime/examples/measure.rs` does the work.

use std::error::Error;

use super::Binaries;
use super::inputs::Inputs;
use super::measure::{Program, pairs};
use super::report::{Figures, Target};

/// How often a program that states its own figure is run.
const RUNS: usize = 3;

/// The cost of a step at the end of 10,000 over that at the beginning.
pub(super) fn steps(binaries: &Binaries) -> Result<Figures, Box<dyn Error>> {
    let stated = stated(&binaries.measure(&["steps", "10000"]))?;
    let target = Target {
        ratio: 1.2,
        peak_mb: None,
    };
    Ok(Figures::stated(
        "steps",
        "its own first 500 of 10,000 steps",
        &stated,
        target,
    ))
}

/// The cost of a step among 1,000 sessions over that of a step alone, and the memory of all.
pub(super) fn sessions(binaries: &Binaries) -> Result<Figures, Box<dyn Error>> {
    let stated = stated(&binaries.measure(&["sessions", "1000"]))?;
    let target = Target {
        ratio: 2.0,
        peak_mb: Some(150.0),
    };
    Ok(Figures::stated(
        "sessions",
        "a step of one session alone",
        &stated,
        target,
    ))
}

/// Taking up a session of 100 MB, over reading its rows.
pub(super) fn open(binaries: &Binaries, inputs: &Inputs) -> Result<Figures, Box<dyn Error>> {
    let path = inputs.small.path("long.db");
    binaries.measure(&["make", &path]).output()?;
    let samples = pairs(
        &binaries.measure(&["open", &path]),
        &binaries.measure(&["rows", &path]),
    )?;
    let target = Target {
        ratio: 2.0,
        peak_mb: None,
    };
    Ok(Figures::new(
        "open",
        "reading the rows of 100 MB",
        samples,
        target,
    ))
}

/// The CPU time of a session in which nothing happens, over the time that it takes.
pub(super) fn idle(binaries: &Binaries) -> Result<Figures, Box<dyn Error>> {
    let stated = stated(&binaries.measure(&["idle"]))?;
    let target = Target {
        ratio: 0.001,
        peak_mb: None,
    };
    Ok(Figures::stated("idle", "the clock", &stated, target))
}

/// Runs a program that prints a ratio, and perhaps a peak in megabytes behind it.
fn stated(program: &Program) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    (0..RUNS)
        .map(|_| {
            let printed = program.output()?;
            let mut words = printed.split_whitespace().map(str::parse);
            let ratio = words.next().ok_or("nothing was measured")??;
            let peak = words.next().transpose()?.unwrap_or_default();
            Ok((ratio, peak))
        })
        .collect()
}
