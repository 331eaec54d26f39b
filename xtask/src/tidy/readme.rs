//! What the READMEs promise: one for each crate, and two commands that really exist.

use std::path::Path;

use cargo_metadata::Metadata;

use super::{Finding, members};
use crate::ci;

/// The start of the command that shows the main job; the folder that it names must exist.
const DEMONSTRATION: &str = "cargo run -p tekne -- -C examples run --model offline ";
const DEMONSTRATION_FOLDER: &str = "examples";

/// Checks the READMEs of the crates and of the repository.
pub(super) fn check(metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let mut findings = missing(metadata, root);
    let text = std::fs::read_to_string(root.join("README.md")).unwrap_or_default();
    findings.extend(commands(&text));
    if !root.join(DEMONSTRATION_FOLDER).is_dir() {
        let message =
            format!("the folder `{DEMONSTRATION_FOLDER}` of the first command is missing");
        findings.push(Finding::new(
            "README.md",
            1,
            message,
            "restore the sample workspace",
        ));
    }
    findings
}

fn missing(metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let folders = members(metadata)
        .into_iter()
        .filter_map(|package| package.manifest_path.parent());
    let readmes = folders.map(|folder| folder.as_std_path().join("README.md"));
    readmes
        .filter(|path| !path.is_file())
        .map(|path| {
            let file = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            let mend = "say what the crate is, with an example that compiles, and its features";
            Finding::new(file, 1, "this crate has no README", mend)
        })
        .collect()
}

/// Finds which of the two commands a README does not show in a code block.
fn commands(readme: &str) -> Vec<Finding> {
    let shown = fenced_lines(readme);
    let mut findings = Vec::new();
    if !shown.iter().any(|line| line.starts_with(DEMONSTRATION)) {
        let message = format!("no code block starts a line with `{DEMONSTRATION}`");
        let mend = "show the main job on the sample workspace as the first command";
        findings.push(Finding::new("README.md", 1, message, mend));
    }
    let test = ci::TEST.join(" ");
    if !shown.contains(&format!("cargo {test}").as_str()) {
        let message = format!("no code block holds the line `cargo {test}`");
        let mend = "show the command that continuous integration tests with (xtask/src/ci.rs)";
        findings.push(Finding::new("README.md", 1, message, mend));
    }
    findings
}

fn fenced_lines(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            lines.push(line.trim());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_commands_in_code_blocks_pass() {
        let readme = "# x\n\n```sh\ncargo run -p tekne -- -C examples run --model offline \"go\"\n```\n\
                      text\n```sh\ncargo test --workspace\n```\n";
        assert_eq!(commands(readme), Vec::new());
    }

    #[test]
    fn a_command_in_prose_is_not_shown() {
        let readme = "cargo test --workspace\n```\ncargo run -p tekne -- --help\n```\n";
        assert_eq!(commands(readme).len(), 2);
    }
}
