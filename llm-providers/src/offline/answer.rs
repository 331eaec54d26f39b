//! The texts the offline model says, in the language of the task.

use std::fmt::Write as _;

use skill_core::ToolResult;

use crate::offline::conversation::Conversation;
use crate::offline::excerpt::{Excerpt, cut, excerpt};
use crate::offline::files::{named_files, without_names};
use crate::offline::index::Entry;
use crate::offline::language::{Language, fill, language_of};
use crate::offline::reading::{Outcome, Reading};
use crate::offline::steps::{Group, steps};

/// The longest quotation of a description or of a tool's failure, in characters.
const QUOTE_CHARS: usize = 200;

/// How many skills that fit about as well, or files that were not read, are named.
const MAX_NAMES: usize = 5;

/// Says that no skill fits, and which of the `known` ones come nearest.
pub(super) fn no_match(
    conversation: &Conversation<'_>,
    known: usize,
    nearest: &[&Entry],
) -> String {
    let language = language_of(&conversation.task);
    let mut text = if known == 0 {
        // Without tools an index that is only searched can't be told from one that is empty.
        let text = if conversation.has_tools() {
            language.no_skills
        } else {
            language.not_listed
        };
        text.to_owned()
    } else if nearest.is_empty() {
        let none = fill(language.none_near, &known.to_string());
        format!("{}\n\n{none}", language.no_skill)
    } else {
        let lines: String = nearest.iter().map(|entry| line_of(entry)).collect();
        format!("{}\n\n{}{lines}", language.no_skill, language.nearest)
    };
    let sentence = language.unread_without_skill;
    text.push_str(&task_unread(language, sentence, &conversation.task));
    text
}

/// Says what the nearest skill is for, where nothing can be opened.
pub(super) fn described(conversation: &Conversation<'_>, skill: &Entry) -> String {
    let language = language_of(&conversation.task);
    let first = fill(language.described, &skill.id);
    let unread = task_unread(language, language.unread_without_tools, &conversation.task);
    format!("{first}\n{}{unread}", line_of(skill))
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
    let unread = task_unread(language, language.unread_without_skill, &conversation.task);
    format!("{first} {reason}\n{}{unread}", line_of(skill))
}

/// Says the skill's steps and what the files that were named hold, or why they were not read.
pub(super) fn followed(
    conversation: &Conversation<'_>,
    skill: &Entry,
    rivals: &[&Entry],
    body: &str,
    readings: &[Reading<'_>],
) -> String {
    let language = language_of(&conversation.task);
    let steps = steps(body);
    let mut text = fill(language.followed, &skill.id);
    let ids: Vec<&str> = rivals.iter().map(|rival| rival.id.as_str()).collect();
    if let Some(line) = names(language, language.rivals, &ids) {
        let _ = write!(text, "\n\n{line}");
    }
    text.push_str(&shown_steps(language, &skill.id, body, &steps));
    let steps: Vec<String> = steps.into_iter().flat_map(|group| group.items).collect();
    let task = without_names(&conversation.task);
    for Reading { path, outcome } in readings {
        if let Outcome::Read(content) = outcome {
            text.push_str(&quoted(language, path, content, &task, &steps));
        }
    }
    let unread = unread(language, readings);
    if !unread.is_empty() {
        let _ = write!(text, "\n\n{}", unread.join("\n"));
    }
    text
}

/// Lists the steps, numbered anew and set in below each heading.
fn shown_steps(language: &Language, skill: &str, body: &str, steps: &[Group]) -> String {
    if body.trim().is_empty() {
        return format!("\n\n{}", fill(language.no_text, skill));
    }
    if steps.is_empty() {
        return String::new();
    }
    let mut text = format!("\n\n{}", fill(language.steps, skill));
    for group in steps {
        let indent = if let Some(heading) = &group.heading {
            let _ = write!(text, "\n{heading}");
            "   "
        } else {
            ""
        };
        for (number, step) in (1..).zip(&group.items) {
            let _ = write!(text, "\n{indent}{number}. {step}");
        }
    }
    text
}

/// Quotes what a file holds.
fn quoted(language: &Language, path: &str, content: &str, task: &str, steps: &[String]) -> String {
    let (head, lines) = match excerpt(content, task, steps) {
        Excerpt::Empty => (language.empty, Vec::new()),
        Excerpt::Whole(lines) => (language.whole, lines),
        Excerpt::Matching(lines) => (language.matching, lines),
        Excerpt::Beginning(lines) => (language.beginning, lines),
    };
    let mut text = format!("\n\n{}", fill(head, path));
    for line in lines {
        text.push_str(if line.is_empty() { "\n>" } else { "\n> " });
        text.push_str(&line);
    }
    text
}

/// Says of each file that was not read why.
fn unread(language: &Language, readings: &[Reading<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = Vec::new();
    for Reading { path, outcome } in readings {
        let reason = match outcome {
            Outcome::Read(_) => continue,
            Outcome::Failed(result) => failure(result),
            Outcome::NoTool => language.no_tool.to_owned(),
            Outcome::TooMany => {
                left.push(path.as_str());
                continue;
            }
        };
        lines.push(format!("{}{reason}", fill(language.unread, path)));
    }
    lines.extend(names(language, language.too_many, &left));
    lines
}

/// Puts the names of files into a sentence; none if there are none.
fn names(language: &Language, sentence: &str, paths: &[&str]) -> Option<String> {
    let shown = paths.iter().take(MAX_NAMES);
    let mut names: Vec<String> = shown.map(|path| format!("`{path}`")).collect();
    let more = paths.len() - names.len();
    if more > 0 {
        names.push(fill(language.more, &more.to_string()));
    }
    (!names.is_empty()).then(|| fill(sentence, &names.join(language.separator)))
}

/// Says that the files of the task were not read, if it names any.
fn task_unread(language: &Language, sentence: &str, task: &str) -> String {
    let files = named_files(task);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    names(language, sentence, &files).map_or_else(String::new, |line| format!("\n\n{line}"))
}

/// Returns the line of a skill behind a line end, as an index has it.
fn line_of(entry: &Entry) -> String {
    if entry.description.is_empty() {
        return format!("\n- {}", entry.id);
    }
    format!("\n- {}: {}", entry.id, cut(&entry.description, QUOTE_CHARS))
}

/// Returns the first line of what a failed call said, or else how it ended.
fn failure(result: &ToolResult) -> String {
    let mut lines = result.content.lines().map(str::trim);
    match lines.find(|line| !line.is_empty()) {
        Some(line) => cut(line, QUOTE_CHARS),
        None => result.status.as_str().to_owned(),
    }
}
