//! What holds for any bytes that are read as a file of any form.

use skill_core::{Origin, ParsedSkill, Scope, Severity, SkillFormat, parse_context, parse_skill};

/// A file of each form; the path decides how it is read.
const PATHS: [&str; 4] = [
    "demo/SKILL.md",
    "demo.skill.md",
    "demo.md",
    "demo/skill.yaml",
];

/// How many findings a file may cause, whatever is in it.
const MOST_FINDINGS: usize = 300;

/// Checks `bytes`; the first of them picks the form.
///
/// # Panics
///
/// Panics where the property does not hold.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let path = PATHS[usize::from(*first) % PATHS.len()];
    let parsed = parse(bytes, path);
    is_a_record(&parsed, bytes);
    restricts(&parsed);
    line_ends_do_not_matter(&parsed, bytes, path);
    if first.is_multiple_of(5) {
        let context = parse_context(bytes, "rules/x.mdc");
        assert!(context.diagnostics.len() <= MOST_FINDINGS);
    }
}

fn parse(bytes: &[u8], path: &str) -> ParsedSkill {
    parse_skill(bytes, &Origin::of(path, Scope::User))
}

/// There is a record with an id, and every finding has a known code and a place in the file.
fn is_a_record(parsed: &ParsedSkill, bytes: &[u8]) {
    let skill = &parsed.skill;
    assert!(!skill.id.as_str().is_empty());
    assert!(
        !skill.id.as_str().contains(['/', '\n', '\0']),
        "{}",
        skill.id
    );
    assert_eq!(skill.content_digest.len(), 64);
    assert_eq!(skill.body_bytes, parsed.body.len() as u64);
    assert!(parsed.diagnostics.len() <= MOST_FINDINGS);
    let breaks = bytes
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    for finding in &parsed.diagnostics {
        assert!(finding.code.starts_with("SK") && finding.code.len() == 5);
        // A frontmatter on one line is unfolded into a few.
        assert!(
            finding.line.is_none_or(|line| line as usize <= breaks + 12),
            "{finding:?}"
        );
        assert!(!finding.message.is_empty());
    }
}

/// What restricts and could not be read hides the skill from the model.
fn restricts(parsed: &ParsedSkill) {
    let mut findings = parsed.diagnostics.iter();
    if findings.any(|finding| finding.code == "SK101") {
        assert!(!parsed.skill.invocation.model);
    }
    let refused = parsed
        .diagnostics
        .iter()
        .any(|finding| finding.severity == Severity::Error);
    assert_eq!(refused, parsed.is_refused());
    assert_eq!(
        parsed.skill.declaration.is_some(),
        parsed.skill.format == SkillFormat::Declared
    );
}

/// A file with the line ends of another system is the same skill.
fn line_ends_do_not_matter(parsed: &ParsedSkill, bytes: &[u8], path: &str) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if text.contains('\r') {
        return;
    }
    let other = parse(text.replace('\n', "\r\n").as_bytes(), path);
    assert_eq!(other.skill, parsed.skill);
    assert_eq!(other.body, parsed.body);
}
