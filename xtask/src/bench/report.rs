//! Figures out of samples: medians, the median of the pair ratios, and whether the target is met.

use std::fmt::Write;

use serde_json::{Value, json};

use super::measure::{PAIRS, Sample};

/// What a measure must not exceed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) ratio: f64,
    pub(super) peak_mb: Option<f64>,
}

/// The figures of one measure.
#[derive(Debug)]
pub(super) struct Figures {
    name: &'static str,
    baseline: &'static str,
    cpu_ms: f64,
    baseline_cpu_ms: f64,
    /// The quartiles of the ratios of the pairs; the middle one is judged.
    ratios: [f64; 3],
    /// The highest of all runs.
    peak_mb: f64,
    baseline_peak_mb: f64,
    target: Target,
}

impl Figures {
    pub(super) fn new(
        name: &'static str,
        baseline: &'static str,
        samples: Vec<(Sample, Sample)>,
        target: Target,
    ) -> Self {
        let (program, other): (Vec<Sample>, Vec<Sample>) = samples.into_iter().unzip();
        let ratios = program
            .iter()
            .zip(&other)
            .map(|(a, b)| milliseconds(a) / milliseconds(b));
        Self {
            name,
            baseline,
            cpu_ms: quartiles(program.iter().map(milliseconds))[1],
            baseline_cpu_ms: quartiles(other.iter().map(milliseconds))[1],
            ratios: quartiles(ratios),
            peak_mb: highest_peak(&program),
            baseline_peak_mb: highest_peak(&other),
            target,
        }
    }

    /// Returns figures that a program stated of itself: ratios, and peaks in megabytes.
    pub(super) fn stated(
        name: &'static str,
        baseline: &'static str,
        stated: &[(f64, f64)],
        target: Target,
    ) -> Self {
        let peaks = stated.iter().map(|(_, peak)| *peak);
        Self {
            name,
            baseline,
            cpu_ms: f64::NAN,
            baseline_cpu_ms: f64::NAN,
            ratios: quartiles(stated.iter().map(|(ratio, _)| *ratio)),
            peak_mb: peaks.fold(0.0, f64::max),
            baseline_peak_mb: f64::NAN,
            target,
        }
    }

    /// Tells whether no figure is over its target.
    pub(super) fn met(&self) -> bool {
        self.ratios[1] <= self.target.ratio
            && self
                .target
                .peak_mb
                .is_none_or(|target| self.peak_mb <= target)
    }
}

fn milliseconds(sample: &Sample) -> f64 {
    sample.cpu.as_secs_f64() * 1e3
}

fn highest_peak(samples: &[Sample]) -> f64 {
    let bytes = samples
        .iter()
        .map(|sample| sample.peak)
        .max()
        .unwrap_or_default();
    bytes as f64 / 1e6
}

/// Returns the quartiles by nearest rank; of nothing, not-a-number, which meets no target.
fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |part: usize| {
        values
            .get(values.len() * part / 4)
            .copied()
            .unwrap_or(f64::NAN)
    };
    [at(1), at(2), at(3)]
}

/// Returns the figures for a reader.
pub(super) fn table(figures: &[Figures]) -> String {
    let mut text = format!(
        "\nCPU is user + system of the whole process, median of {PAIRS} pairs in turn.\n\n\
         {:<9} {:>10} {:>12} {:>7} {:>15} {:>7} {:>9} {:>9} {:>7}  {:<7} baseline\n",
        "bench",
        "CPU ms",
        "baseline ms",
        "ratio",
        "quartiles",
        "target",
        "peak MB",
        "baseline",
        "target",
        ""
    );
    for figures in figures {
        let [low, ratio, high] = figures.ratios;
        let target = figures
            .target
            .peak_mb
            .map_or("-".to_owned(), |peak| format!("{peak:.0}"));
        let _infallible = writeln!(
            text,
            "{:<9} {:>10} {:>12} {:>7.2} {:>15} {:>7.1} {:>9.1} {:>9} {:>7}  {:<7} {}",
            figures.name,
            measured(figures.cpu_ms, 2),
            measured(figures.baseline_cpu_ms, 2),
            ratio,
            format!("{low:.2}..{high:.2}"),
            figures.target.ratio,
            figures.peak_mb,
            measured(figures.baseline_peak_mb, 1),
            target,
            if figures.met() { "ok" } else { "MISSED" },
            figures.baseline,
        );
    }
    text
}

/// Returns a figure, or a dash where there is none.
fn measured(figure: f64, digits: usize) -> String {
    if figure.is_nan() {
        return "-".to_owned();
    }
    format!("{figure:.digits$}")
}

/// Returns the figures for a program.
pub(super) fn json(figures: &[Figures]) -> Value {
    let benches: Vec<Value> = figures
        .iter()
        .map(|figures| {
            json!({
                "name": figures.name,
                "baseline": figures.baseline,
                "cpu_ms": figures.cpu_ms,
                "baseline_cpu_ms": figures.baseline_cpu_ms,
                "ratio": figures.ratios[1],
                "ratio_quartiles": [figures.ratios[0], figures.ratios[2]],
                "target_ratio": figures.target.ratio,
                "peak_mb": figures.peak_mb,
                "baseline_peak_mb": figures.baseline_peak_mb,
                "target_peak_mb": figures.target.peak_mb,
                "met": figures.met(),
            })
        })
        .collect();
    json!({"v": 1, "pairs": PAIRS, "benches": benches})
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn figures(cpu_ms: &[(u64, u64)], peak: u64, target: Target) -> Figures {
        let sample = |ms| Sample {
            cpu: Duration::from_millis(ms),
            peak,
        };
        let samples = cpu_ms
            .iter()
            .map(|&(a, b)| (sample(a), sample(b)))
            .collect();
        Figures::new("x", "y", samples, target)
    }

    #[test]
    fn the_ratio_is_the_median_of_the_pairs_not_the_ratio_of_the_medians() {
        let figures = figures(
            &[(10, 1), (20, 20), (30, 15)],
            0,
            Target {
                ratio: 2.0,
                peak_mb: None,
            },
        );
        assert_eq!(figures.ratios[1], 2.0);
        assert!(figures.met());
    }

    #[test]
    fn a_figure_over_its_target_is_missed() {
        let ratio = Target {
            ratio: 1.9,
            peak_mb: None,
        };
        assert!(!figures(&[(2, 1)], 0, ratio).met());
        let peak = Target {
            ratio: 2.0,
            peak_mb: Some(1.0),
        };
        assert!(figures(&[(2, 1)], 1_000_000, peak).met());
        assert!(!figures(&[(2, 1)], 1_000_001, peak).met());
        assert!(!figures(&[], 0, peak).met(), "no samples meet nothing");
    }

    #[test]
    fn the_table_says_what_was_missed() {
        let missed = figures(
            &[(30, 10)],
            4_200_000,
            Target {
                ratio: 2.0,
                peak_mb: Some(25.0),
            },
        );
        let table = table(&[missed]);
        let row = table.lines().last().unwrap();
        for part in [
            "x ",
            "30.00",
            "10.00",
            "3.00",
            "3.00..3.00",
            "2.0",
            "4.2",
            "25",
            "MISSED",
        ] {
            assert!(row.contains(part), "{part} in {row}");
        }
    }
}
