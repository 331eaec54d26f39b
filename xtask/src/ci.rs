//! `ci`: everything that continuous integration checks, in the order of what fails fastest.

use std::time::{Duration, Instant};

use crate::cargo::{cargo, succeed};
use crate::{Outcome, golden, tidy};

/// The test command that the README shows; continuous integration runs the same.
pub(crate) const TEST: &[&str] = &["test", "--workspace"];

const CLIPPY: &[&str] = &[
    "clippy",
    "--locked",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--",
    "-D",
    "warnings",
];
const DOC: &[&str] = &[
    "doc",
    "--locked",
    "--workspace",
    "--no-deps",
    "--all-features",
];

/// The ignored tests whose name begins with `prefix`: more of what the usual tests do a little of.
fn ignored(
    package: &'static str,
    profile: &'static str,
    prefix: &'static str,
) -> Vec<&'static str> {
    vec![
        "test",
        "--locked",
        "--profile",
        profile,
        "--package",
        package,
        "--all-features",
        "--test",
        "it",
        "--",
        "--ignored",
        "--nocapture",
        prefix,
    ]
}

/// The crates that have such tests.
const DEEP: &[&str] = &["loop-runtime", "tekne"];

/// Runs what is too long for every change: every figure in full.
pub(crate) fn long() -> Outcome {
    let steps: Vec<Step> = DEEP
        .iter()
        .map(|package| {
            let test = ignored(package, "deep", "long_");
            step(&format!("{package} in full"), || succeed(&mut cargo(&test)))
        })
        .collect();
    summarise(&steps)
}

/// How one step went.
struct Step {
    name: String,
    time: Duration,
    error: Option<String>,
}

/// Runs every step, also after one has failed, and prints how each went.
pub(crate) fn run() -> Outcome {
    let mut steps = vec![
        step("fmt", || succeed(&mut cargo(&["fmt", "--all", "--check"]))),
        step("clippy", || succeed(&mut cargo(CLIPPY))),
        step("test", || succeed(&mut cargo(TEST))),
    ];
    for package in DEEP {
        let test = ignored(package, "dev", "ci_");
        steps.push(step(&format!("{package} in depth"), || {
            succeed(&mut cargo(&test))
        }));
    }
    for library in tidy::libraries() {
        steps.push(step(&format!("{library} alone"), || {
            let check = [
                "check",
                "--locked",
                "--package",
                library,
                "--no-default-features",
            ];
            succeed(&mut cargo(&check))
        }));
    }
    steps.push(step("doc", || {
        succeed(cargo(DOC).env("RUSTDOCFLAGS", "-D warnings"))
    }));
    steps.push(step("golden", || golden::run(golden::Mode::Check)));
    steps.push(step("tidy", tidy::run));
    summarise(&steps)
}

fn step(name: &str, work: impl FnOnce() -> Outcome) -> Step {
    println!("\n==> {name}");
    let start = Instant::now();
    let error = work().err().map(|error| error.to_string());
    if let Some(error) = &error {
        println!("{error}");
    }
    Step {
        name: name.to_owned(),
        time: start.elapsed(),
        error,
    }
}

fn summarise(steps: &[Step]) -> Outcome {
    println!("\n==> summary");
    for Step { name, time, error } in steps {
        let word = if error.is_none() { "ok" } else { "FAILED" };
        println!("{name:<24} {word:<8} {:>6.1} s", time.as_secs_f64());
    }
    let total: Duration = steps.iter().map(|step| step.time).sum();
    println!("{:<24} {:<8} {:>6.1} s", "all", "", total.as_secs_f64());
    match steps.iter().filter(|step| step.error.is_some()).count() {
        0 => Ok(()),
        count => Err(format!("{count} of {} steps failed", steps.len()).into()),
    }
}
