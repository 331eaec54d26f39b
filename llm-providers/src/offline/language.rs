//! The sentences of the answers, in each language they are given in.

use crate::offline::files::without_names;
use crate::offline::words::is_chinese;

/// Sentences of one language; `{}` stands for what is put in.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) no_skill: &'static str,
    pub(super) no_skills: &'static str,
    pub(super) not_listed: &'static str,
    pub(super) nearest: &'static str,
    pub(super) none_near: &'static str,
    pub(super) described: &'static str,
    pub(super) not_opened: &'static str,
    pub(super) no_body: &'static str,
    pub(super) followed: &'static str,
    pub(super) rivals: &'static str,
    pub(super) more: &'static str,
    pub(super) separator: &'static str,
    pub(super) steps: &'static str,
    pub(super) no_text: &'static str,
    pub(super) whole: &'static str,
    pub(super) matching: &'static str,
    pub(super) beginning: &'static str,
    pub(super) empty: &'static str,
    pub(super) unread: &'static str,
    pub(super) no_tool: &'static str,
    pub(super) too_many: &'static str,
    pub(super) unread_without_skill: &'static str,
    pub(super) unread_without_tools: &'static str,
}

const ENGLISH: Language = Language {
    no_skill: "No language model was used, and no skill fits this task.",
    no_skills: "No language model was used, and there is no skill to follow.",
    not_listed: "No language model was used, and no skill is listed in this request. Where there are many skills they are only found by searching, which `run` can do and `ask` cannot.",
    nearest: "The nearest skills:",
    none_near: "None comes near it either; skills known: {}.",
    described: "No language model was used. The skill nearest to this is `{}`:",
    not_opened: "No language model was used, and the skill `{}` could not be opened:",
    no_body: "its text is not in this conversation",
    followed: "No language model was used: this is the skill `{}` as it is written, and what the files named hold.",
    rivals: "These skills fit about as well: {}. Name one in the task to follow it instead.",
    more: "{} more",
    separator: ", ",
    steps: "Steps of `{}`:",
    no_text: "The skill `{}` has no text: there are no steps to follow.",
    whole: "All of `{}`:",
    matching: "From `{}`:",
    beginning: "Nothing in `{}` matches; it begins:",
    empty: "`{}` is empty.",
    unread: "`{}` could not be read: ",
    no_tool: "there is no tool for it here",
    too_many: "Not read, as five files are the most that are read: {}.",
    unread_without_skill: "Not read, as there is no skill to follow: {}.",
    unread_without_tools: "Not read, as there are no tools here: {}.",
};

const CHINESE: Language = Language {
    no_skill: "没有使用语言模型，也没有适合这项任务的技能。",
    no_skills: "没有使用语言模型，也没有可用的技能。",
    not_listed: "没有使用语言模型，这次请求中也没有列出技能。技能很多时只能通过搜索找到：`run` 可以搜索，`ask` 不能。",
    nearest: "最接近的技能：",
    none_near: "已知的 {} 个技能都与它不相近。",
    described: "没有使用语言模型。最接近的技能是 `{}`：",
    not_opened: "没有使用语言模型，技能 `{}` 未能打开：",
    no_body: "对话中没有它的正文",
    followed: "没有使用语言模型：以下是技能 `{}` 的原文步骤，以及所提到的文件中的内容。",
    rivals: "以下技能同样适合：{}。如要改用，请在任务中写出它的名称。",
    more: "另外 {} 个",
    separator: "、",
    steps: "`{}` 的步骤：",
    no_text: "技能 `{}` 没有正文，因此没有可遵循的步骤。",
    whole: "`{}` 的全文：",
    matching: "`{}` 中的相关内容：",
    beginning: "`{}` 中没有匹配的内容，开头是：",
    empty: "`{}` 是空的。",
    unread: "`{}` 未能读取：",
    no_tool: "这里没有读取它的工具",
    too_many: "以下文件未读取，因为最多读取五个：{}。",
    unread_without_skill: "没有可遵循的技能，因此未读取：{}。",
    unread_without_tools: "这里没有工具，因此未读取：{}。",
};

/// Returns the language of a task, whose file names say little about it.
pub(super) fn language_of(task: &str) -> &'static Language {
    if is_chinese(&without_names(task)) {
        &CHINESE
    } else {
        &ENGLISH
    }
}

/// Puts a value into a sentence.
pub(super) fn fill(sentence: &str, value: &str) -> String {
    sentence.replacen("{}", value, 1)
}
