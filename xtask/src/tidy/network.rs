//! HTTP stays at the rim: no library but `llm-providers` reaches `reqwest`, except `tool-gateway`
//! behind its features `mcp` and `http`.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use super::edges::declaration_line;
use super::{Finding, manifest_of, members};
use crate::cargo::{cargo, output};

const CLIENT: &str = "reqwest";

/// Crates that speak HTTP, and the top, which wires them.
const FREE: &[&str] = &["llm-providers", "tekne", "xtask"];

/// Features that may bring a client into `tool-gateway`, and what forwards to them.
const GATES: &[&str] = &["mcp", "http", "tool-gateway/mcp", "tool-gateway/http"];

/// Finds libraries that reach the HTTP client directly or through another crate.
pub(super) fn check(metadata: &Metadata, root: &Path) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = Vec::new();
    for package in members(metadata) {
        if FREE.contains(&package.name.as_str()) {
            continue;
        }
        if let Some(dependency) = always_there(package) {
            let text = std::fs::read_to_string(&package.manifest_path)?;
            let line = declaration_line(&text, &dependency.name, dependency.kind);
            findings.push(finding(package, line, root));
        } else if tree(package)?.lines().any(is_client) {
            findings.push(finding(package, 1, root));
        }
    }
    Ok(findings)
}

fn always_there(package: &Package) -> Option<&Dependency> {
    let gated = package.name == "tool-gateway";
    package.dependencies.iter().find(|dependency| {
        dependency.name == CLIENT
            && dependency.kind != DependencyKind::Development
            && !(gated && dependency.optional)
    })
}

/// Lists what a package links with every feature that must stay without a client.
fn tree(package: &Package) -> Result<String, Box<dyn Error>> {
    let features = ungated(&package.features).join(",");
    let mut command = cargo(&["tree", "--locked", "--quiet", "--prefix", "none"]);
    command.args(["--edges", "normal,build", "--package", &package.name]);
    output(command.args(["--no-default-features", "--features", &features]))
}

fn is_client(line: &str) -> bool {
    line.split(' ').next() == Some(CLIENT)
}

/// Returns the features that neither are a gate nor switch one on.
fn ungated(features: &BTreeMap<String, Vec<String>>) -> Vec<&str> {
    features
        .keys()
        .map(String::as_str)
        .filter(|name| !opens_a_gate(features, name))
        .collect()
}

fn opens_a_gate(features: &BTreeMap<String, Vec<String>>, name: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        if GATES.contains(&name.replace('?', "").as_str()) {
            return true;
        }
        if let Some(enabled) = features.get(&name)
            && seen.insert(name)
        {
            open.extend(enabled.iter().cloned());
        }
    }
    false
}

fn finding(package: &Package, line: usize, root: &Path) -> Finding {
    Finding::new(
        manifest_of(package, root),
        line,
        format!("`{}` reaches `{CLIENT}`", package.name),
        "keep HTTP in `llm-providers`, or behind the feature `mcp` or `http` of `tool-gateway`; \
         `cargo tree -i reqwest` shows the way in",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_open_a_gate_are_left_out_of_the_check() {
        let features: BTreeMap<String, Vec<String>> = [
            ("default", vec!["files"]),
            ("files", vec!["dep:cap-std"]),
            ("mcp", vec!["dep:rmcp"]),
            ("all", vec!["files", "mcp"]),
            ("remote", vec!["tool-gateway?/http"]),
        ]
        .into_iter()
        .map(|(name, enabled)| {
            (
                name.to_owned(),
                enabled.into_iter().map(str::to_owned).collect(),
            )
        })
        .collect();
        assert_eq!(ungated(&features), ["default", "files"]);
    }

    #[test]
    fn only_the_client_itself_counts() {
        assert!(is_client("reqwest v0.13.5"));
        assert!(!is_client("reqwest-middleware v0.5.0"));
    }
}
