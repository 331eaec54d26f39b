//! What the standard's own validator refuses, although it is read here without a warning.

use crate::skill::findings::{Findings, quoted};
use crate::skill::keys::STANDARD;
use crate::skill::yaml::{self, Kind, Node, TagKind};
use crate::skill::{Diagnostic, Origin, SkillFormat};

/// The code of everything that is found here.
const CODE: &str = "SK054";
/// The longest `compatibility` of the standard, in characters.
const LONGEST_COMPATIBILITY: usize = 500;

/// Returns what keeps a `SKILL.md` from readers that know nothing but the standard (SK054).
///
/// Its validator takes a subset of YAML and six keys. What [`crate::parse_skill`] has a warning for
/// anyway is not said again, so a file that is sound for both has neither.
///
/// ```
/// use skill_core::{Origin, Scope, portability};
///
/// let text = "---\nname: a\ndescription: d\nversion: 1\nmetadata: {x: y}\n---\nb\n";
/// let found = portability(text.as_bytes(), &Origin::of("a/SKILL.md", Scope::User));
/// let lines: Vec<_> = found.iter().filter_map(|finding| finding.line).collect();
/// assert_eq!(lines, [4, 5]);
/// ```
pub fn portability(bytes: &[u8], origin: &Origin) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    if origin.format == SkillFormat::Package
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        check(text, &mut findings);
    }
    findings.into_list(&origin.path)
}

fn check(text: &str, findings: &mut Findings) {
    let begun = text.trim_start_matches('\u{feff}');
    if begun.len() < text.len() {
        let message = "a byte-order mark stands before the frontmatter";
        findings
            .add(CODE, Some((1, 1)), message)
            .fix("save it as UTF-8 without a mark");
    }
    // Cut where that reader cuts: at the first two `---`, wherever they stand.
    let mut parts = begun.splitn(3, "---");
    let (Some(""), Some(yaml), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    if !yaml.ends_with('\n') && !yaml.ends_with('\r') {
        let line = u32::try_from(yaml.lines().count()).unwrap_or(u32::MAX);
        let message = "`---` stands within a value, and the frontmatter is cut there";
        findings
            .add(CODE, Some((line, 1)), message)
            .text(yaml.lines().next_back().unwrap_or_default())
            .fix("write the value in double quotes, with `--\\u002d`");
        return;
    }
    let yaml = yaml.replace("\r\n", "\n").replace('\r', "\n");
    if let Ok(Some(root)) = yaml::parse(&yaml) {
        let lines: Vec<&str> = yaml.lines().collect();
        top(&root, &lines, findings);
        inside(&root, &lines, findings);
    }
}

/// Checks the keys.
fn top(root: &Node<'_>, lines: &[&str], findings: &mut Findings) {
    let Kind::Map { pairs } = &root.kind else {
        return;
    };
    for (key, value) in pairs {
        let Kind::Scalar { text, .. } = &key.kind else {
            continue;
        };
        let place = Some((key.line, key.column));
        if !STANDARD.contains(&&**text) {
            let message =
                format!("`{text}` is no key of the standard, and its validator refuses it");
            let line = lines.get(key.line.saturating_sub(1) as usize);
            let added = findings.add(CODE, place, message);
            let added = added.text(line.copied().unwrap_or_default());
            if let Some(value) = value.text().filter(|value| !value.contains('\n')) {
                added.fix(format!("metadata:\n  {}", quoted(text, value)));
            }
        } else if text == "compatibility" {
            let long = |value: &str| value.chars().count() > LONGEST_COMPATIBILITY;
            if value.text().is_none_or(long) {
                let message = format!(
                    "`compatibility` is no text of at most {LONGEST_COMPATIBILITY} characters"
                );
                findings.add(CODE, place, message);
            }
        }
    }
}

/// Checks the YAML for what the subset lacks.
fn inside(node: &Node<'_>, lines: &[&str], findings: &mut Findings) {
    let line = lines.get(node.line.saturating_sub(1) as usize).copied();
    let line = line.unwrap_or_default();
    let first = line.chars().nth(node.column.saturating_sub(1) as usize);
    let message = match &node.kind {
        Kind::List { flow: true, .. } => Some("a list in `[…]`"),
        Kind::Map { .. } if first == Some('{') => Some("a map in `{…}`"),
        _ if node.mark.anchor > 0 => Some("an anchor"),
        _ if node.mark.tag != TagKind::None => Some("a tag"),
        _ => None,
    };
    if let Some(what) = message {
        let message = format!("{what} is YAML that the standard's validator does not take");
        findings
            .add(CODE, Some((node.line, node.column)), message)
            .text(line)
            .fix("write one item a line, indented, without it");
        return;
    }
    match &node.kind {
        Kind::List { items, .. } => items.iter().for_each(|item| inside(item, lines, findings)),
        Kind::Map { pairs } => pairs.iter().for_each(|(key, value)| {
            inside(key, lines, findings);
            inside(value, lines, findings);
        }),
        Kind::Scalar { .. } | Kind::Alias(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    fn found(text: &str) -> Vec<String> {
        let origin = Origin::of("a/SKILL.md", Scope::User);
        let found = portability(text.as_bytes(), &origin).into_iter();
        found
            .map(|one| format!("{}: {}", one.line.unwrap_or(0), one.message))
            .collect()
    }

    #[test]
    fn what_the_standard_takes_has_no_findings() {
        for keys in [
            "license: MIT",
            "metadata:\n  version: 1.10\n  nested:\n    a: b",
            "allowed-tools: Bash(git:*) Read",
            "allowed-tools:\n- Read\n- Grep",
            "compatibility: needs git",
            "metadata:\n  text: \"[a] {b} &c *d !e\"",
        ] {
            let text = format!("---\nname: a\ndescription: d\n{keys}\n---\nb --- c\n---\n");
            assert_eq!(found(&text), [""; 0], "{keys}");
            assert_eq!(found(&text.replace('\n', "\r\n")), [""; 0], "{keys}");
        }
    }

    #[test]
    fn what_its_validator_refuses_is_told_with_its_place() {
        let not_taken = "is YAML that the standard's validator does not take";
        for (keys, said) in [
            (
                "version: 1",
                "4: `version` is no key of the standard, and its validator refuses it",
            ),
            (
                "license: a --- b",
                "4: `---` stands within a value, and the frontmatter is cut there",
            ),
            (
                "allowed-tools: [Read]",
                &format!("4: a list in `[…]` {not_taken}"),
            ),
            (
                "metadata:\n  a: {b: c}",
                &format!("5: a map in `{{…}}` {not_taken}"),
            ),
            ("license: &l MIT", &format!("4: an anchor {not_taken}")),
            ("license: !!str MIT", &format!("4: a tag {not_taken}")),
            (
                "compatibility:\n  a: b",
                "4: `compatibility` is no text of at most 500 characters",
            ),
        ] {
            let text = format!("---\nname: a\ndescription: d\n{keys}\n---\nb\n");
            assert_eq!(found(&text), [said], "{keys}");
        }
        let marked = "\u{feff}---\nname: a\ndescription: d\n---\nb\n";
        assert_eq!(
            found(marked),
            ["1: a byte-order mark stands before the frontmatter"]
        );
    }

    #[test]
    fn a_key_moves_below_metadata() {
        let text = "---\nname: a\ndescription: d\nversion: 1.0\n---\nb\n";
        let found = portability(text.as_bytes(), &Origin::of("a/SKILL.md", Scope::User));
        assert_eq!(
            found[0].fix.as_deref(),
            Some("metadata:\n  version: \"1.0\"")
        );
        let flat = Origin::of("a.skill.md", Scope::User);
        assert_eq!(portability(text.as_bytes(), &flat), []);
    }
}
