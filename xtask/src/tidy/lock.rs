//! What the lock file holds: nothing that `deny.toml` bans, nothing from outside the registry.
//!
//! `cargo deny` says more; this much of it costs nothing and needs no installation.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use super::Finding;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks `Cargo.lock` against `deny.toml`.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>, Box<dyn Error>> {
    let lock = read(root, "Cargo.lock")?;
    let deny = read(root, "deny.toml")?;
    Ok(find(&lock, &banned(&deny)))
}

fn read(root: &Path, name: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(name)).map_err(|error| format!("cannot read {name}: {error}"))
}

/// Returns the crates that the table `[bans]` names.
fn banned(deny: &str) -> BTreeSet<&str> {
    let section = deny
        .lines()
        .skip_while(|line| line.trim() != "[bans]")
        .skip(1);
    let section = section.take_while(|line| !line.starts_with('['));
    section
        .filter_map(|line| line.split("crate = \"").nth(1)?.split('"').next())
        .collect()
}

fn find(lock: &str, banned: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in lock.lines().enumerate() {
        let line_number = index + 1;
        if let Some(name) = value(line, "name")
            && banned.contains(name)
        {
            findings.push(Finding::new(
                "Cargo.lock",
                line_number,
                format!("`{name}` is banned in deny.toml"),
                format!("`cargo tree -i {name}` shows who brings it; take what deny.toml names"),
            ));
        }
        if let Some(source) = value(line, "source")
            && source != REGISTRY
        {
            findings.push(Finding::new(
                "Cargo.lock",
                line_number,
                format!("`{source}` is not the registry"),
                "take a released version",
            ));
        }
    }
    findings
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?
        .strip_prefix(" = \"")?
        .strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_crate_and_a_foreign_source_are_found() {
        let deny = "[licenses]\nallow = [\"MIT\"]\n\n[bans]\ndeny = [\n  \
                    { crate = \"bad\", reason = \"unsound\" },\n]\n\n[sources]\nx = \"crate = \\\"y\"\n";
        let lock = "[[package]]\nname = \"bad\"\nversion = \"1.0.0\"\nsource = \"git+https://x\"\n\
                    \n[[package]]\nname = \"badge\"\n";
        assert_eq!(banned(deny), BTreeSet::from(["bad"]));
        let found = find(lock, &banned(deny));
        let found: Vec<_> = found.iter().map(|f| (f.line, f.message.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, "`bad` is banned in deny.toml"),
                (4, "`git+https://x` is not the registry")
            ]
        );
    }

    #[test]
    fn the_registry_is_a_good_source() {
        let lock = format!("name = \"a\"\nsource = \"{REGISTRY}\"\n");
        assert_eq!(find(&lock, &BTreeSet::new()), Vec::new());
    }
}
