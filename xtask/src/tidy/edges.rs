//! The allowed edges between the crates of this workspace; see `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use super::{Finding, manifest_of, members};

/// Each crate and the workspace crates that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("skill-core", &[]),
    ("prompt-compiler", &["skill-core"]),
    ("tool-gateway", &["skill-core"]),
    ("llm-providers", &["skill-core"]),
    (
        "loop-runtime",
        &["prompt-compiler", "skill-core", "tool-gateway"],
    ),
    (
        "tekne",
        &[
            "llm-providers",
            "loop-runtime",
            "prompt-compiler",
            "skill-core",
            "tool-gateway",
        ],
    ),
    ("xtask", &[]),
];

/// Returns the libraries, each of which must build alone.
pub(crate) fn libraries() -> impl Iterator<Item = &'static str> {
    let programs = ["tekne", "xtask"];
    let names = ALLOWED.iter().map(|(name, _)| *name);
    names.filter(move |name| !programs.contains(name))
}

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Finds every edge that the table does not allow, and every cycle through a dev-dependency.
pub(super) fn check(metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let members = members(metadata);
    let graph = graph(&members);
    let mut findings = Vec::new();
    for package in &members {
        let Some(allowed) = allowed(&package.name) else {
            findings.push(unknown_member(package, root));
            continue;
        };
        for dependency in workspace_dependencies(package, &graph) {
            let name = dependency.name.as_str();
            if dependency.kind == DependencyKind::Development {
                if reaches(&graph, name, &package.name) {
                    findings.push(cycle(package, dependency, root));
                }
            } else if !allowed.contains(&name) {
                findings.push(forbidden(package, dependency, allowed, root));
            }
        }
    }
    findings
}

fn allowed(package: &str) -> Option<&'static [&'static str]> {
    ALLOWED
        .iter()
        .find(|(name, _)| *name == package)
        .map(|(_, allowed)| *allowed)
}

fn graph<'a>(members: &[&'a Package]) -> Graph<'a> {
    let names: BTreeSet<&str> = members
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let edges = |package: &&'a Package| {
        let used = package
            .dependencies
            .iter()
            .map(|dependency| dependency.name.as_str());
        (
            package.name.as_str(),
            used.filter(|name| names.contains(name)).collect(),
        )
    };
    members.iter().map(edges).collect()
}

fn workspace_dependencies<'a>(
    package: &'a Package,
    graph: &'a Graph<'_>,
) -> impl Iterator<Item = &'a Dependency> {
    package
        .dependencies
        .iter()
        .filter(|dependency| graph.contains_key(dependency.name.as_str()))
}

fn reaches(graph: &Graph<'_>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            open.extend(graph.get(name).into_iter().flatten());
        }
    }
    false
}

fn unknown_member(package: &Package, root: &Path) -> Finding {
    Finding::new(
        manifest_of(package, root),
        1,
        format!("crate `{}` is not on the map", package.name),
        "decide its edges in ARCHITECTURE.md and add it to xtask/src/tidy/edges.rs",
    )
}

fn forbidden(package: &Package, dependency: &Dependency, allowed: &[&str], root: &Path) -> Finding {
    let may = match allowed {
        [] => "no other crate of the workspace".to_owned(),
        names => format!("only {}", names.join(", ")),
    };
    Finding::new(
        manifest_of(package, root),
        line_of(package, dependency),
        format!(
            "`{}` may not depend on `{}`: it uses {may}",
            package.name, dependency.name
        ),
        "move the shared word to `skill-core`, or wire the two together in `cli`",
    )
}

fn cycle(package: &Package, dependency: &Dependency, root: &Path) -> Finding {
    Finding::new(
        manifest_of(package, root),
        line_of(package, dependency),
        format!(
            "the dev-dependency of `{}` on `{}` closes a cycle",
            package.name, dependency.name
        ),
        "move the test to the crate that stands higher, or to cli/tests",
    )
}

fn line_of(package: &Package, dependency: &Dependency) -> usize {
    let text = std::fs::read_to_string(&package.manifest_path).unwrap_or_default();
    declaration_line(&text, &dependency.name, dependency.kind)
}

/// Returns the line that declares a dependency in a manifest, or 1.
pub(super) fn declaration_line(manifest: &str, name: &str, kind: DependencyKind) -> usize {
    let table = match kind {
        DependencyKind::Development => "dev-dependencies",
        DependencyKind::Build => "build-dependencies",
        _ => "dependencies",
    };
    let renamed = format!("package = \"{name}\"");
    let mut here = false;
    for (index, line) in manifest.lines().enumerate() {
        if let Some(header) = line.trim().strip_prefix('[') {
            let header = header.trim_end_matches(']');
            here = header.rsplit('.').next() == Some(table);
            if header.ends_with(&format!("{table}.{name}")) {
                return index + 1;
            }
        } else if here && (declares(line, name) || line.contains(&renamed)) {
            return index + 1;
        }
    }
    1
}

fn declares(line: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
}

#[cfg(test)]
mod tests {
    use cargo_metadata::DependencyKind;
    use serde_json::{Value, json};

    use super::*;

    fn dependency(name: &str, kind: Option<&str>) -> Value {
        json!({
            "name": name, "source": null, "req": "*", "kind": kind, "rename": null,
            "optional": false, "uses_default_features": true, "features": [],
            "target": null, "registry": null, "path": format!("/w/{name}"),
        })
    }

    fn package(name: &str, dependencies: &[Value]) -> Value {
        json!({
            "name": name, "version": "0.1.0", "id": name, "license": null, "source": null,
            "dependencies": dependencies, "targets": [], "features": {}, "edition": "2024",
            "manifest_path": format!("/w/{name}/Cargo.toml"), "metadata": null,
            "authors": [], "categories": [], "keywords": [],
        })
    }

    fn messages(packages: &[Value]) -> Vec<String> {
        let ids: Vec<&Value> = packages
            .iter()
            .filter_map(|package| package.get("id"))
            .collect();
        let metadata: Metadata = serde_json::from_value(json!({
            "packages": packages, "workspace_members": ids, "workspace_default_members": ids,
            "resolve": null, "target_directory": "/w/target", "version": 1,
            "workspace_root": "/w", "metadata": null,
        }))
        .unwrap();
        let findings = check(&metadata, Path::new("/w"));
        findings
            .iter()
            .map(|finding| format!("{}: {}", finding.file, finding.message))
            .collect()
    }

    #[test]
    fn the_edges_of_the_map_are_allowed() {
        let cli: Vec<Value> = ["skill-core", "llm-providers"]
            .map(|name| dependency(name, None))
            .into();
        let found = messages(&[
            package("skill-core", &[]),
            package("llm-providers", &[dependency("skill-core", None)]),
            package("tekne", &cli),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_is_not_on_the_map_is_named() {
        let found = messages(&[
            package("skill-core", &[]),
            package("llm-providers", &[]),
            package("loop-runtime", &[dependency("llm-providers", None)]),
            package("xtask", &[dependency("skill-core", Some("build"))]),
        ]);
        assert_eq!(
            found,
            [
                "loop-runtime/Cargo.toml: `loop-runtime` may not depend on `llm-providers`: \
                 it uses only prompt-compiler, skill-core, tool-gateway",
                "xtask/Cargo.toml: `xtask` may not depend on `skill-core`: \
                 it uses no other crate of the workspace",
            ]
        );
    }

    #[test]
    fn a_dev_dependency_is_allowed_unless_it_closes_a_cycle() {
        let found = messages(&[
            package("skill-core", &[dependency("tool-gateway", Some("dev"))]),
            package("tool-gateway", &[dependency("skill-core", None)]),
            package("llm-providers", &[dependency("tool-gateway", Some("dev"))]),
        ]);
        assert_eq!(
            found,
            [
                "skill-core/Cargo.toml: the dev-dependency of `skill-core` on `tool-gateway` \
              closes a cycle"
            ]
        );
    }

    #[test]
    fn a_crate_that_is_not_on_the_map_is_named() {
        assert_eq!(
            messages(&[package("plugins", &[])]),
            ["plugins/Cargo.toml: crate `plugins` is not on the map"]
        );
    }

    #[test]
    fn a_dependency_is_found_in_the_table_of_its_kind() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nb-c = \"1\"\nb = \"1\"\n\n\
                        [dev-dependencies]\nb.workspace = true\nd = { package = \"e\" }\n\n\
                        [target.'cfg(unix)'.dependencies]\nf = \"1\"\n\n[dependencies.g]\n";
        let line = |name, kind| declaration_line(manifest, name, kind);
        assert_eq!(line("b", DependencyKind::Normal), 6);
        assert_eq!(line("b", DependencyKind::Development), 9);
        assert_eq!(line("e", DependencyKind::Development), 10);
        assert_eq!(line("f", DependencyKind::Normal), 13);
        assert_eq!(line("g", DependencyKind::Normal), 15);
        assert_eq!(line("absent", DependencyKind::Normal), 1);
    }
}
