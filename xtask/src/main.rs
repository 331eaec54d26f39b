//! Repository chores, run as `cargo xtask CHORE`; `cargo xtask` alone lists them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program talks to its user"
)]

mod bench;
mod cargo;
mod ci;
mod golden;
mod tidy;

use std::error::Error;
use std::process::ExitCode;

/// What a chore returns; the message of the error is all that a reader gets.
type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str = "\
usage: cargo xtask CHORE

chores:
  golden [--check]        rewrite the golden prompts, or check that they are current
  tidy                    check the rules of the architecture and of the source text
  bench [NAME] [--json]   measure the release binary against its baselines
  ci [--long]             everything that continuous integration checks, or what takes too long
                          for it: every crash, every state, every seed
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Outcome {
    match words {
        ["golden"] => golden::run(golden::Mode::Write),
        ["golden", "--check"] => golden::run(golden::Mode::Check),
        ["tidy"] => tidy::run(),
        ["bench", options @ ..] => bench::run(&bench::Options::parse(options)?),
        ["ci"] => ci::run(),
        ["ci", "--long"] => ci::long(),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("no chore `{}`\n\n{USAGE}", other.join(" ")).into()),
    }
}
