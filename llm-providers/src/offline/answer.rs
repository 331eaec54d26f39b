//! The texts the offline model says, in the language of the task.

use std::fmt::Write as _;

use serde_json::Value;
use skill_core::ToolResult;

use crate::offline::READ_FILE;
use crate::offline::conversation::Conversation;
use crate::offline::files::without_names;
use crate::offline::index::Entry;
use crate::offline::language::{Language, fill, language_of};
use crate::offline::steps::{Excerpt, cut, excerpt, steps};

/// The longest quotation of a description or of a tool's failure, in characters.
const QUOTE_CHARS: usize = 200;

/// How many skills that fit about as well are named.
const MAX_RIVALS: usize = 5;

/// Says that no skill fits, and which of the `known` ones come nearest.
pub(super) fn no_match(
    conversation: &Conversation<'_>,
    known: usize,
    nearest: &[&Entry],
) -> String {
    let language = language_of(&conversation.task);
    if known == 0 {
        // Without tools an index that is only searched can't be told from one that is empty.
        let text = if conversation.has_tools() {
            language.no_skills
        } else {
            language.not_listed
        };
        return text.to_owned();
    }
    if nearest.is_empty() {
        let none = fill(language.none_near, &known.to_string());
        return format!("{}\n\n{none}", language.no_skill);
    }
    let mut text = format!("{}\n\n{}\n", language.no_skill, language.nearest);
    for entry in nearest {
        text.push_str(&line_of(entry));
    }
    text.trim_end().to_owned()
}

/// Says what the nearest skill is for, where nothing can be opened.
pub(super) fn described(conversation: &Conversation<'_>, skill: &Entry) -> String {
    let first = fill(language_of(&conversation.task).described, &skill.id);
    format!("{first}\n\n{}", line_of(skill).trim_end())
}

/// Says that the skill could not be opened, and why.
pub(super) fn not_opened(
    conversation: &Conversation<'_>,
    skill: &Entry,
    result: &ToolResult,
) -> String {
    let language = language_of(&conversation.task);
    let reason = if result.is_error() {
        failure(result)
    } else {
        language.no_body.to_owned()
    };
    let first = fill(language.not_opened, &skill.id);
    format!("{first} {reason}\n\n{}", line_of(skill).trim_end())
}

/// Says the skill's steps and what the files that were read hold.
pub(super) fn followed(
    conversation: &Conversation<'_>,
    skill: &Entry,
    rivals: &[&Entry],
    body: &str,
) -> String {
    let language = language_of(&conversation.task);
    let steps = steps(body);
    let mut text = fill(language.followed, &skill.id);
    if !rivals.is_empty() {
        let _ = write!(text, "\n\n{}", rivals_of(language, rivals));
    }
    if !steps.is_empty() {
        let _ = write!(text, "\n\n{}", fill(language.steps, &skill.id));
        for (number, step) in (1..).zip(&steps) {
            let _ = write!(text, "\n{number}. {step}");
        }
    }
    let task = without_names(&conversation.task);
    let path = |arguments: &Value| Some(arguments.get("path")?.as_str()?.to_owned());
    let (unread, read): (Vec<_>, Vec<_>) = conversation
        .answered(READ_FILE)
        .into_iter()
        .filter_map(|(arguments, result)| Some((path(&arguments)?, result)))
        .partition(|(_, result)| result.is_error());
    for (path, result) in read {
        let (head, lines) = match excerpt(&result.content, &task, &steps) {
            Excerpt::Matching(lines) => (language.matching, lines),
            Excerpt::Beginning(lines) if lines.is_empty() => (language.empty, lines),
            Excerpt::Beginning(lines) => (language.beginning, lines),
        };
        let _ = write!(text, "\n\n{}", fill(head, &path));
        for line in lines {
            let _ = write!(text, "\n> {line}");
        }
    }
    if !unread.is_empty() {
        text.push('\n');
    }
    for (path, result) in unread {
        let _ = write!(
            text,
            "\n{} ({})",
            fill(language.unread, &path),
            failure(result)
        );
    }
    text
}

/// Names the skills that could have been taken as well.
fn rivals_of(language: &Language, rivals: &[&Entry]) -> String {
    let shown = rivals.iter().take(MAX_RIVALS);
    let mut names: Vec<String> = shown.map(|entry| format!("`{}`", entry.id)).collect();
    let more = rivals.len() - names.len();
    if more > 0 {
        names.push(fill(language.more_rivals, &more.to_string()));
    }
    fill(language.rivals, &names.join(language.separator))
}

fn line_of(entry: &Entry) -> String {
    if entry.description.is_empty() {
        return format!("- {}\n", entry.id);
    }
    format!("- {}: {}\n", entry.id, cut(&entry.description, QUOTE_CHARS))
}

/// Returns the status and first line of a failed call.
fn failure(result: &ToolResult) -> String {
    let line = result
        .content
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    match line {
        Some(line) => format!("{}: {}", result.status.as_str(), cut(line, QUOTE_CHARS)),
        None => result.status.as_str().to_owned(),
    }
}
