//! How fast skills are read, indexed and looked at, each against a baseline in the same run.
//!
//! `cargo bench -p skill-core` prints ratios; `-- long` indexes 100,000 packages too. Times are
//! those of the least disturbed quarter of pairs measured in turn, so that a busy machine slows both
//! sides alike.
#![expect(clippy::print_stdout, reason = "figures are what this program is for")]

mod inputs;
mod machine;
mod measure;

use std::fs;
use std::path::Path;

use skill_core::{Origin, Principal, Root, ScanLimits, Scope, SkillCatalog, parse_skill};

use crate::inputs::Tree;
use crate::measure::{Pair, pairs};

/// How many packages the usual catalogue of a bench holds.
const PACKAGES: usize = 5_000;

/// What a bench returns.
type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let long = std::env::args().any(|argument| argument == "long");
    let tree = Tree::new(PACKAGES)?;
    // First, while the process holds no memory that it could use again.
    memory(&tree)?;
    parsing();
    let index = cold_index(&tree);
    view(&tree, &index);
    descriptors(&tree)?;
    if long {
        linear(&index)?;
    }
    Ok(())
}

fn report(name: &str, pair: &Pair, target: f64, against: &str) {
    let ratio = pair.ratio();
    let verdict = if ratio <= target { "ok" } else { "MISSED" };
    println!(
        "{name:<22} {:>9.3} ms {:>9.3} ms {ratio:>7.3} (cpu {:>6.3})  target {target:<5} {verdict:<7} {against}",
        pair.own,
        pair.baseline,
        pair.cpu_ratio()
    );
}

/// Reading records from frontmatters, against the YAML libraries alone.
fn parsing() {
    let frontmatters: Vec<String> = (0..PACKAGES).map(inputs::frontmatter).collect();
    let files: Vec<(Origin, String)> = frontmatters
        .iter()
        .enumerate()
        .map(|(number, yaml)| {
            let path = format!("skills/{}/SKILL.md", inputs::name(number));
            (
                Origin::of(path, Scope::User),
                format!("---\n{yaml}---\nbody\n"),
            )
        })
        .collect();
    let own = || {
        files
            .iter()
            .map(|(origin, text)| parse_skill(text.as_bytes(), origin).body.len())
            .sum::<usize>()
    };
    let libyaml = || {
        frontmatters
            .iter()
            .filter(|yaml| serde_yaml::from_str::<serde_json::Value>(yaml).is_ok())
            .count()
    };
    let saphyr = || {
        let events = |yaml: &String| {
            saphyr_parser::Parser::new_from_str(yaml)
                .filter(Result::is_ok)
                .count()
        };
        frontmatters.iter().map(events).sum::<usize>()
    };
    report(
        "parse",
        &pairs(21, own, libyaml),
        1.5,
        "libyaml to a tree, same frontmatters",
    );
    report(
        "parse",
        &pairs(21, own, saphyr),
        1.5,
        "saphyr's events alone, same frontmatters",
    );
}

fn scan(root: &Path, limits: &ScanLimits) -> SkillCatalog {
    SkillCatalog::scan(&[Root::new(root, Scope::User)], limits)
}

/// A cold index, against reading the same files with as many threads.
fn cold_index(tree: &Tree) -> Pair {
    let limits = ScanLimits::default();
    let own = || scan(tree.path(), &limits);
    let pair = pairs(41, own, || inputs::read_all(tree.path(), limits.threads));
    report(
        "cold index",
        &pair,
        2.0,
        "reading the same files, same threads",
    );
    pair
}

/// A view, against the cold index.
fn view(tree: &Tree, index: &Pair) {
    let catalog = scan(tree.path(), &ScanLimits::default());
    let principal = Principal::default();
    let own = || catalog.view(&principal);
    let taken = pairs(101, own, || ());
    let pair = Pair {
        baseline: index.own,
        baseline_cpu: index.own_cpu,
        ..taken
    };
    report("view", &pair, 0.02, "a cold index");
}

/// Memory of an index beyond the frontmatters, a skill.
fn memory(tree: &Tree) -> Outcome {
    let frontmatters: usize = (0..PACKAGES)
        .map(|number| inputs::frontmatter(number).len())
        .sum();
    let before = machine::resident()?;
    let catalog = scan(tree.path(), &ScanLimits::default());
    let grown = machine::resident()?.saturating_sub(before);
    let each = grown.saturating_sub(frontmatters) / catalog.snapshot().reports().len().max(1);
    let verdict = if each <= 2_048 { "ok" } else { "MISSED" };
    println!(
        "memory a skill         {each:>10} bytes beyond its frontmatter  target 2048   {verdict}"
    );
    Ok(())
}

/// Files open at once while a catalogue is indexed.
fn descriptors(tree: &Tree) -> Outcome {
    let most = machine::most_open_files(|| {
        scan(tree.path(), &ScanLimits::default());
    })?;
    let verdict = if most < 64 { "ok" } else { "MISSED" };
    println!(
        "open files             {most:>10} at once                        target < 64   {verdict}"
    );
    Ok(())
}

/// A cold index of many times the packages, against as many of the usual ones.
fn linear(index: &Pair) -> Outcome {
    let times = 20;
    let tree = Tree::new(PACKAGES * times)?;
    let limits = ScanLimits::default();
    let own = || scan(tree.path(), &limits);
    let pair = pairs(3, own, || inputs::read_all(tree.path(), limits.threads));
    report(
        "cold index of 100,000",
        &pair,
        2.0,
        "reading the same files, same threads",
    );
    let growth = Pair {
        baseline: index.own * 20.0,
        baseline_cpu: index.own_cpu * 20.0,
        ..pair
    };
    report(
        "cold index of 100,000",
        &growth,
        1.25,
        "20 times an index of 5,000",
    );
    fs::remove_dir_all(tree.path())?;
    Ok(())
}
