//! A skill before it is a file: checked as the standard asks, and written so that it reads back.

use unicode_normalization::UnicodeNormalization;

use crate::author::scalar::{plain_or_quoted, quoted_text};
use crate::skill::{LoadMode, Origin, Scope, parse_skill};

/// The longest name and description of the standard, in characters.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

/// A skill that somebody is about to write.
///
/// ```
/// use skill_core::SkillDraft;
///
/// let draft = SkillDraft {
///     id: "weekly-report".to_owned(),
///     description: "Use when: a week ends. Not for months.".to_owned(),
///     body: "# Steps\n".to_owned(),
///     ..SkillDraft::default()
/// };
/// let text = draft.to_text()?;
/// assert!(text.starts_with("---\nname: weekly-report\ndescription: \"Use when: a week"));
/// # Ok::<(), skill_core::DraftError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillDraft {
    /// Its id, which is the standard's `name` and the name of its folder.
    pub id: String,
    /// What people call it, where that is more than the id; kept as `metadata.title`.
    pub title: Option<String>,
    /// What it does and when to use it, and when not.
    pub description: String,
    /// How it is loaded.
    pub load: LoadMode,
    /// The instructions, in Markdown, without frontmatter.
    pub body: String,
}

/// A draft that cannot become a skill; every reason at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.join("; "))]
pub struct DraftError {
    /// What is wrong, one sentence each, fit for a person or a model.
    pub problems: Vec<String>,
}

impl SkillDraft {
    /// Returns the text of its file.
    ///
    /// The text was read back: this crate's parser finds in it what the draft says, and nothing to
    /// complain of.
    ///
    /// # Errors
    ///
    /// [`DraftError`] with everything that the standard does not allow.
    pub fn to_text(&self) -> Result<String, DraftError> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(DraftError { problems });
        }
        let text = self.text();
        self.read_back(&text)?;
        Ok(text)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = name_problems(&self.id);
        let description = self.description.trim();
        let length = description.chars().count();
        if description.is_empty() {
            problems.push("the description is empty".to_owned());
        }
        if length > LONGEST_DESCRIPTION {
            problems.push(format!(
                "the description has {length} characters, more than {LONGEST_DESCRIPTION}"
            ));
        }
        if has_controls(description) || self.title.as_deref().is_some_and(has_controls) {
            problems.push("title and description must not hold control characters".to_owned());
        }
        let body = self.body.trim();
        if body.is_empty() {
            problems.push("the body is empty".to_owned());
        }
        if body.lines().next().is_some_and(|line| line.trim() == "---") {
            problems.push("the body begins with `---`; leave the frontmatter out of it".to_owned());
        }
        if body.contains('\0') {
            problems.push("the body holds a NUL character".to_owned());
        }
        problems
    }

    fn text(&self) -> String {
        let mut text = String::from("---\n");
        let mut line = |key: &str, value: &str| text.push_str(&format!("{key}: {value}\n"));
        line("name", &plain_or_quoted(&self.id));
        line("description", &quoted_text(self.description.trim()));
        // Below `metadata`, since the standard's validator refuses every key of another's.
        let mut metadata = String::new();
        if self.load == LoadMode::Always {
            metadata.push_str("  mode: always\n");
        }
        let title = self.title.as_deref().map(str::trim);
        if let Some(title) = title.filter(|title| !title.is_empty() && *title != self.id) {
            metadata.push_str(&format!("  title: {}\n", quoted_text(title)));
        }
        if !metadata.is_empty() {
            text.push_str(&format!("metadata:\n{metadata}"));
        }
        text.push_str("---\n\n");
        text.push_str(normal_lines(self.body.trim()).trim());
        text.push('\n');
        text
    }

    fn read_back(&self, text: &str) -> Result<(), DraftError> {
        let origin = Origin::of(format!("{}/SKILL.md", self.id), Scope::User);
        let parsed = parse_skill(text.as_bytes(), &origin);
        let skill = &parsed.skill;
        let mut problems: Vec<String> = parsed
            .diagnostics
            .iter()
            .filter(|finding| finding.severity != crate::skill::Severity::Info)
            .map(|finding| format!("{}: {}", finding.code, finding.message))
            .collect();
        let same = skill.id.as_str() == self.id
            && skill.description == self.description.trim()
            && skill.load == self.load
            && parsed.body == normal_lines(self.body.trim()).trim();
        if !same && problems.is_empty() {
            problems.push("the file would not read back as it was meant".to_owned());
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(DraftError { problems })
        }
    }
}

/// Returns what the standard does not allow in a name.
fn name_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME {
        problems.push(format!(
            "the name has {length} characters; 1 to {LONGEST_NAME} are allowed"
        ));
    }
    let lower = name.chars().flat_map(char::to_lowercase).eq(name.chars());
    let letters = name
        .chars()
        .all(|letter| letter == '-' || letter.is_alphanumeric());
    if !lower || !letters || !name.nfkc().eq(name.chars()) {
        problems.push(format!(
            "the name `{}` holds more than lower-case letters, digits and hyphens",
            name.escape_debug()
        ));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        problems.push("the name begins or ends with a hyphen, or has two in a row".to_owned());
    }
    problems
}

fn has_controls(text: &str) -> bool {
    text.chars()
        .any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// Returns `text` with `\n` line ends.
fn normal_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
