//! The texts the offline model says, in the language of the task.

use std::fmt::Write as _;

use skill_core::ToolResult;

use crate::offline::conversation::Conversation;
use crate::offline::files::without_names;
use crate::offline::index::Entry;
use crate::offline::steps::{Excerpt, cut, excerpt, steps};
use crate::offline::words::is_chinese;

/// The longest quotation of a description or of a tool's failure, in characters.
const QUOTE_CHARS: usize = 200;

/// Sentences of one language; `{}` stands for what is put in.
struct Language {
    no_skill: &'static str,
    no_skills: &'static str,
    nearest: &'static str,
    described: &'static str,
    not_opened: &'static str,
    no_body: &'static str,
    followed: &'static str,
    steps: &'static str,
    matching: &'static str,
    beginning: &'static str,
    empty: &'static str,
    unread: &'static str,
}

const ENGLISH: Language = Language {
    no_skill: "No language model was used, and no skill fits this task.",
    no_skills: "No language model was used, and there is no skill to follow.",
    nearest: "The nearest skills:",
    described: "No language model was used. The skill nearest to this is `{}`:",
    not_opened: "No language model was used, and the skill `{}` could not be opened:",
    no_body: "its text is not in this conversation",
    followed: "No language model was used: this is the skill `{}` as it is written, and what the files named hold.",
    steps: "Steps of `{}`:",
    matching: "From `{}`:",
    beginning: "Nothing in `{}` matches; it begins:",
    empty: "`{}` is empty.",
    unread: "Not read: `{}`",
};

const CHINESE: Language = Language {
    no_skill: "没有使用语言模型，也没有适合这项任务的技能。",
    no_skills: "没有使用语言模型，也没有可用的技能。",
    nearest: "最接近的技能：",
    described: "没有使用语言模型。最接近的技能是 `{}`：",
    not_opened: "没有使用语言模型，技能 `{}` 未能打开：",
    no_body: "对话中没有它的正文",
    followed: "没有使用语言模型：以下是技能 `{}` 的原文步骤，以及所提到的文件中的内容。",
    steps: "`{}` 的步骤：",
    matching: "`{}` 中的相关内容：",
    beginning: "`{}` 中没有匹配的内容，开头是：",
    empty: "`{}` 是空的。",
    unread: "未能读取：`{}`",
};

/// Says that no skill fits, and which come nearest.
pub(super) fn no_match(conversation: &Conversation<'_>, nearest: &[&Entry]) -> String {
    let language = language_of(conversation);
    if nearest.is_empty() {
        return language.no_skills.to_owned();
    }
    let mut text = format!("{}\n\n{}\n", language.no_skill, language.nearest);
    for entry in nearest {
        text.push_str(&line_of(entry));
    }
    text.trim_end().to_owned()
}

/// Says what the nearest skill is for, where nothing can be opened.
pub(super) fn described(conversation: &Conversation<'_>, skill: &Entry) -> String {
    let first = fill(language_of(conversation).described, &skill.id);
    format!("{first}\n\n{}", line_of(skill).trim_end())
}

/// Says that the skill could not be opened, and why.
pub(super) fn not_opened(
    conversation: &Conversation<'_>,
    skill: &Entry,
    result: &ToolResult,
) -> String {
    let language = language_of(conversation);
    let reason = if result.is_error() {
        failure(result)
    } else {
        language.no_body.to_owned()
    };
    let first = fill(language.not_opened, &skill.id);
    format!("{first} {reason}\n\n{}", line_of(skill).trim_end())
}

/// Says the skill's steps and what the files that were read hold.
pub(super) fn followed(conversation: &Conversation<'_>, skill: &Entry, body: &str) -> String {
    let language = language_of(conversation);
    let steps = steps(body);
    let mut text = fill(language.followed, &skill.id);
    if !steps.is_empty() {
        let _ = write!(text, "\n\n{}", fill(language.steps, &skill.id));
        for (number, step) in (1..).zip(&steps) {
            let _ = write!(text, "\n{number}. {step}");
        }
    }
    let task = without_names(&conversation.task);
    let (unread, read): (Vec<_>, Vec<_>) = conversation
        .files()
        .into_iter()
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

fn language_of(conversation: &Conversation<'_>) -> &'static Language {
    if is_chinese(&without_names(&conversation.task)) {
        &CHINESE
    } else {
        &ENGLISH
    }
}

fn fill(sentence: &str, value: &str) -> String {
    sentence.replacen("{}", value, 1)
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
