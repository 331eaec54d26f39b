//! How skills are put into text for the model: names escaped, ids as they are, files enveloped.

use skill_core::ViewedSkill;

use crate::escape::escape_line;

/// Returns `text` on one line, with runs of white space as one space and nothing hidden.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escape_line(&words.join(" "))
}

/// Returns text for an attribute of an envelope.
fn attribute(text: &str) -> String {
    one_line(text)
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

/// Wraps the text of a file of a skill; the closing tag carries eight characters of `digest`, so
/// that no text can close it.
pub(super) fn enveloped_file(skill: &ViewedSkill, file: &str, digest: &str, text: &str) -> String {
    let short = digest.get(..8).unwrap_or(digest);
    let line_end = if text.ends_with('\n') || text.is_empty() {
        ""
    } else {
        "\n"
    };
    format!(
        "<skill-file id=\"{}\" path=\"{}\" digest=\"{digest}\">\n{text}{line_end}</skill-file:{short}>",
        attribute(skill.skill.id.as_str()),
        attribute(file),
    )
}
