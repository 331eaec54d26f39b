//! What comes of skill files, sound and damaged.

mod closing;
mod companion;
mod declared;
mod decoding;
mod fields;
mod hostile;
mod values;

use super::*;
use crate::LoadMode;

fn package(text: impl AsRef<[u8]>) -> ParsedSkill {
    parse_skill(
        text.as_ref(),
        &Origin::of("skills/demo/SKILL.md", Scope::User),
    )
}

fn lite(text: &str) -> ParsedSkill {
    parse_skill(text.as_bytes(), &Origin::of("notes/weekly.md", Scope::User))
}

fn codes(parsed: &ParsedSkill) -> Vec<&'static str> {
    let mut codes: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Checks the description and the codes that `keys` below `name: demo` lead to.
fn check(keys: &str, description: &str, expected: &[&str]) {
    let parsed = package(format!("---\nname: demo\n{keys}\n---\n\n# Body\n"));
    assert_eq!(parsed.skill.description, description, "{keys}");
    assert_eq!(codes(&parsed), expected, "{keys}");
    assert_eq!(parsed.skill.name, "demo", "{keys}");
    assert_eq!(parsed.body, "# Body", "{keys}");
}

/// Checks the name and the codes that a line leads to.
fn check_name(line: &str, name: &str, expected: &[&str]) {
    let parsed = package(format!("---\n{line}\ndescription: d\n---\nbody\n"));
    assert_eq!(parsed.skill.name, name, "{line}");
    assert_eq!(codes(&parsed), expected, "{line}");
}
