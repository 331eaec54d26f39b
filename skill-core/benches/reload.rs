//! How long a refresh takes after one change among many skills, against indexing them anew.
//!
//! `cargo bench -p skill-core --bench reload [-- COUNT]`. The baseline is the cold index of the same run;
//! what it would cost to look at every file is measured too.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement talks, and fails by panicking"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use skill_core::{Root, ScanLimits, Scope, SkillCatalog};

const ROUNDS: u32 = 15;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok());
    let count: usize = count.unwrap_or(5_000);
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        write(folder.path(), number, "first");
    }
    let roots = [Root::new(folder.path(), Scope::User)];
    let limits = ScanLimits::default();
    let cold = median(|_| {
        let start = Instant::now();
        black_box(SkillCatalog::scan(&roots, &limits));
        start.elapsed()
    });
    let looks = median(|_| {
        let start = Instant::now();
        for number in 0..count {
            let path = folder.path().join(format!("skill-{number}/SKILL.md"));
            black_box(fs::metadata(path).unwrap().len());
        }
        start.elapsed()
    });
    let catalog = SkillCatalog::scan(&roots, &limits);
    let idle = median(|_| {
        let start = Instant::now();
        black_box(catalog.refresh());
        start.elapsed()
    });
    let edited = median(|round| {
        write(folder.path(), count / 2, &format!("edit {round}"));
        let start = Instant::now();
        let after = black_box(catalog.refresh());
        assert_eq!(after.revision(), u64::from(round) + 2);
        start.elapsed()
    });
    let added = median(|round| {
        write(folder.path(), count + round as usize, "added");
        let start = Instant::now();
        black_box(catalog.refresh());
        start.elapsed()
    });
    println!("{count} packages, median of {ROUNDS}");
    for (what, time) in [
        ("cold index", cold),
        ("one look a file, one thread", looks),
        ("refresh, nothing changed", idle),
        ("refresh, one edited", edited),
        ("refresh, one added", added),
    ] {
        let share = time.as_secs_f64() / cold.as_secs_f64() * 100.0;
        println!(
            "{what:<27} {:>9.2} ms {share:>6.1} %",
            time.as_secs_f64() * 1e3
        );
    }
}

fn median(mut measure: impl FnMut(u32) -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(&mut measure).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn write(folder: &Path, number: usize, word: &str) {
    let folder = folder.join(format!("skill-{number}"));
    fs::create_dir_all(&folder).unwrap();
    let body = "One more line of what is to be done, and how.\n".repeat(60);
    let text = format!(
        "---\nname: skill-{number}\ndescription: Use when the {word} thing number {number} is to \
         be done. Not for other numbers.\n---\n# Steps\n\n{body}"
    );
    fs::write(folder.join("SKILL.md"), text).unwrap();
}
