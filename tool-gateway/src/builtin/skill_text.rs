//! How skills are put into text for the model: names escaped, files enveloped.

use skill_core::{ViewedSkill, envelope_mark};

use crate::escape::escape_line;

/// Returns `text` on one line, without meaning as markup and with nothing hidden: it is data,
/// whatever it says.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words
        .join(" ")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    escape_line(&line)
}

/// Wraps the text of a file of a skill; the closing tag carries eight characters that the opening one
/// announces and the text does not hold, of `digest` where that can be, so that no text can close
/// it.
pub(super) fn enveloped_file(skill: &ViewedSkill, file: &str, digest: &str, text: &str) -> String {
    let mark = envelope_mark(digest, [text]);
    let attribute = |text: &str| one_line(text).replace('"', "&quot;");
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    format!(
        "<resource skill=\"{}\" path=\"{}\" digest=\"{mark}\">\n{text}{line_end}</resource:{mark}>",
        attribute(skill.skill.id.as_str()),
        attribute(file),
    )
}
