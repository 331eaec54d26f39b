//! The lite form: a plain `*.md` file, with or without frontmatter, in a root declared lite.

use crate::discovery::Root;
use crate::skill::SkillFormat;
use crate::source::form::{Claim, Form, without_ending};

/// Files that tell about a folder or instruct an agent, and are no skills.
const NEVER: &[&str] = &[
    "README.md",
    "Skills.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "copilot-instructions.md",
];

pub(crate) const FORM: Form = Form {
    format: SkillFormat::Lite,
    claim,
};

fn claim(file: &str, root: &Root) -> Claim {
    // Editors keep locks and copies under names with a dot before them.
    let never = file.starts_with('.') || NEVER.iter().any(|name| file.eq_ignore_ascii_case(name));
    if never || without_ending(file, ".md").is_none() {
        Claim::No
    } else if root.lite {
        Claim::File
    } else {
        Claim::Hint
    }
}
