//! Where the repository is, and how its chores call cargo.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

/// Returns the top folder of the repository.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Returns `cargo` with arguments, to be run at the top of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end, its output going to this program's own.
pub(crate) fn succeed(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| failure(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed: {status}", spelled(command)).into())
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output().map_err(|error| failure(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let talk = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{}` failed: {}\n{}",
        spelled(command),
        output.status,
        talk.trim_end()
    )
    .into())
}

/// Returns a command as a reader would type it.
pub(crate) fn spelled(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn failure(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run `{}`: {error}", spelled(command))
}
