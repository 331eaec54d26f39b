//! HTTP stays at the rim: no library but `llm-providers` and `tool-gateway` reaches `reqwest`,
//! whatever its features.

use std::error::Error;
use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use super::edges::declaration_line;
use super::{Finding, manifest_of, members};
use crate::cargo::{cargo, output};

const CLIENT: &str = "reqwest";

/// Crates that speak HTTP, and the top, which wires them. `tool-gateway` does in the features that
/// are about it, for executable skills and servers; none of them is on by default.
const FREE: &[&str] = &["llm-providers", "tool-gateway", "tekne", "xtask"];

/// Finds libraries that reach the HTTP client directly or through another crate.
pub(super) fn check(metadata: &Metadata, root: &Path) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = Vec::new();
    for package in members(metadata) {
        if FREE.contains(&package.name.as_str()) {
            continue;
        }
        if let Some(dependency) = direct(package) {
            let text = std::fs::read_to_string(&package.manifest_path)?;
            let line = declaration_line(&text, &dependency.name, dependency.kind);
            findings.push(finding(package, line, root));
        } else if tree(package)?.lines().any(is_client) {
            findings.push(finding(package, 1, root));
        }
    }
    Ok(findings)
}

fn direct(package: &Package) -> Option<&Dependency> {
    package.dependencies.iter().find(|dependency| {
        dependency.name == CLIENT && dependency.kind != DependencyKind::Development
    })
}

/// Lists what a package links with all its features.
fn tree(package: &Package) -> Result<String, Box<dyn Error>> {
    let mut command = cargo(&["tree", "--locked", "--quiet", "--prefix", "none"]);
    command.args(["--edges", "normal,build", "--package", &package.name]);
    output(command.arg("--all-features"))
}

fn is_client(line: &str) -> bool {
    line.split(' ').next() == Some(CLIENT)
}

fn finding(package: &Package, line: usize, root: &Path) -> Finding {
    Finding::new(
        manifest_of(package, root),
        line,
        format!("`{}` reaches `{CLIENT}`", package.name),
        "keep HTTP in `llm-providers`; `cargo tree -i reqwest` shows the way in",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_client_itself_counts() {
        assert!(is_client("reqwest v0.13.5"));
        assert!(!is_client("reqwest-middleware v0.5.0"));
    }
}
