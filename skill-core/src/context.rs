//! Instructions for agents that are no skills: project instructions and editors' rules.
//!
//! They are text for a context, never entries of a catalogue; nothing here lists or opens skills.

use std::path::{Path, PathBuf};

use crate::glob::{Globs, Over};
use crate::skill::{Diagnostic, RawFields};

/// What kind of context a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextKind {
    /// Instructions for a whole project or folder: `AGENTS.md`, `CLAUDE.md`, `.cursorrules`.
    Instructions,
    /// A rule with conditions of its own: `*.mdc`.
    Rule,
}

/// Files of instructions, by the names that clients gave them; those that have no ending are plain
/// text without a frontmatter.
const INSTRUCTIONS: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
];

impl ContextKind {
    /// Returns the kind of the file at `path`, judged by its name; `None` for any other file.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let rule = name.len() > ".mdc".len() && name.to_ascii_lowercase().ends_with(".mdc");
        let mut known = INSTRUCTIONS.iter();
        if known.any(|known| known.eq_ignore_ascii_case(name)) {
            return Some(Self::Instructions);
        }
        rule.then_some(Self::Rule)
    }
}

/// A file of context as its bytes declare it.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextFile {
    /// The file.
    pub path: PathBuf,
    /// What kind it is.
    pub kind: ContextKind,
    /// Its name: that of the file without its ending.
    pub name: String,
    /// What it is about; `None` where it does not say.
    pub description: Option<String>,
    /// The files it is for, exactly as written; editors write globs that are no YAML.
    pub globs_raw: Option<String>,
    /// The globs in that text, one by one.
    pub globs: Vec<String>,
    /// It belongs into every context; instructions always do.
    pub always: bool,
    /// The text.
    pub body: String,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl ContextFile {
    /// Tells whether one of its globs matches the file at `path`, relative to the project.
    pub fn is_for(&self, path: &str) -> bool {
        let globs = self.globs.iter().map(String::as_str);
        Globs::new(globs, Over::Paths).is_some_and(|globs| globs.matches(path))
    }
}

/// Parses the bytes of a context file. Never fails.
///
/// ```
/// use skill_core::{ContextKind, parse_context};
///
/// let text = "---\ndescription: Rust\nglobs: **/*.rs\nalwaysApply: false\n---\nUse edition 2024.\n";
/// let rule = parse_context(text.as_bytes(), ".cursor/rules/rust.mdc");
/// assert_eq!(rule.kind, ContextKind::Rule);
/// assert_eq!(rule.globs, ["**/*.rs"]);
/// assert_eq!(rule.body, "Use edition 2024.");
/// ```
pub fn parse_context(bytes: &[u8], path: impl Into<PathBuf>) -> ContextFile {
    let path = path.into();
    let kind = ContextKind::of(&path).unwrap_or(ContextKind::Instructions);
    let fields = RawFields::read(bytes, &path);
    let globs_raw = fields.raw("globs").map(str::to_owned);
    let always = fields
        .text("alwaysapply")
        .is_some_and(|text| text.eq_ignore_ascii_case("true"));
    ContextFile {
        name: name(&path),
        kind,
        description: fields.text("description"),
        globs: globs_raw.as_deref().map(globs).unwrap_or_default(),
        globs_raw,
        always: always || kind == ContextKind::Instructions,
        body: fields.body,
        diagnostics: fields.diagnostics,
        path,
    }
}

fn name(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    match name.rfind('.') {
        Some(at) if at > 0 => name.get(..at).unwrap_or(&name).to_owned(),
        _ => name,
    }
}

/// Returns the globs that `text` lists: with commas between, outside of braces, in brackets and
/// quotes or without them, or with dashes one below the other.
fn globs(text: &str) -> Vec<String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let mut depth = 0usize;
    inner
        .unwrap_or(text)
        .split(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(letter, ',' | '\n')
        })
        .map(|glob| {
            glob.trim()
                .trim_start_matches("- ")
                .trim()
                .trim_matches(['"', '\''])
        })
        .filter(|glob| !glob.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_for_the_files_that_its_globs_match() {
        let rule = rule("globs: src/**/*.rs, *.md");
        assert!(rule.is_for("src/a/b.rs"));
        assert!(rule.is_for("README.md"));
        assert!(!rule.is_for("src/a.py"));
        assert!(!self::rule("description: d").is_for("README.md"));
    }

    fn rule(keys: &str) -> ContextFile {
        let text = format!("---\n{keys}\n---\n\n# Rules\nDo it.\n");
        parse_context(text.as_bytes(), "rules/style.mdc")
    }

    #[test]
    fn context_is_told_from_skills_by_the_name_of_its_file() {
        let kind = |path: &str| ContextKind::of(Path::new(path));
        for path in [
            "AGENTS.md",
            "a/claude.md",
            ".cursorrules",
            ".github/copilot-instructions.md",
        ] {
            assert_eq!(kind(path), Some(ContextKind::Instructions), "{path}");
        }
        assert_eq!(kind(".cursor/rules/x.mdc"), Some(ContextKind::Rule));
        for path in ["SKILL.md", "x.skill.md", "notes.md", ".mdc", "skill.yaml"] {
            assert_eq!(kind(path), None, "{path}");
        }
    }

    #[test]
    fn globs_keep_their_text_also_where_it_is_no_yaml() {
        let check = |line: &str, raw: &str, globs: &[&str]| {
            let rule = rule(&format!("description: d\n{line}\nalwaysApply: false"));
            assert_eq!(rule.globs_raw.as_deref(), Some(raw), "{line}");
            assert_eq!(rule.globs, globs, "{line}");
            assert_eq!(rule.description.as_deref(), Some("d"), "{line}");
            assert!(!rule.always, "{line}");
            assert_eq!(rule.body, "# Rules\nDo it.", "{line}");
        };
        check("globs: **/*.ts", "**/*.ts", &["**/*.ts"]);
        check(
            "globs: *.{ts,tsx}, *.js",
            "*.{ts,tsx}, *.js",
            &["*.{ts,tsx}", "*.js"],
        );
        check(
            "globs: [\"**/*.py\", 'x']",
            "[\"**/*.py\", 'x']",
            &["**/*.py", "x"],
        );
        check(
            "globs: Dockerfile, .dockerignore",
            "Dockerfile, .dockerignore",
            &["Dockerfile", ".dockerignore"],
        );
        check("globs:\n  - a/*\n  - b/*", "- a/*\n- b/*", &["a/*", "b/*"]);
    }

    #[test]
    fn a_rule_without_conditions_and_instructions_without_frontmatter_are_whole() {
        let rule = rule("alwaysApply: true");
        assert!(rule.always);
        assert_eq!((rule.description, rule.globs_raw), (None, None));
        assert_eq!(rule.name, "style");
        let text = "# Build\n\n---\n\nRun it.\n";
        let agents = parse_context(text.as_bytes(), "AGENTS.md");
        assert_eq!(
            (agents.body.as_str(), agents.always),
            (text.trim_end(), true)
        );
        assert_eq!(agents.diagnostics, []);
        assert_eq!(
            parse_context(b"\xff\x00", ".cursorrules").name,
            ".cursorrules"
        );
    }

    #[test]
    fn hidden_text_is_found_in_context_too() {
        let rule = parse_context("x\u{202e}y".as_bytes(), "AGENTS.md");
        assert_eq!(rule.diagnostics[0].code, "SK110");
    }
}
