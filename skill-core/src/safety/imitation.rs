//! Markup and sentences of a body that pass for the runtime's own.

use super::{Finds, Found, Report};

/// Names of elements that a runtime wraps what it says in.
const ELEMENTS: &[&str] = &[
    "skill",
    "skills",
    "available_skills",
    "always_on_skills",
    "skill_content",
    "system",
    "system-reminder",
    "system_prompt",
    "tool_result",
    "tool_results",
    "tool_call",
    "function_calls",
    "function_results",
    "assistant",
    "developer",
];
/// Marks that models are trained to take for turns of a conversation.
const MARKS: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "<<SYS>>",
    "<</SYS>>",
    "[INST]",
    "[/INST]",
    "[SYSTEM]",
];
/// What follows `ignore` in a sentence that wants to be obeyed instead.
const FORMER: &[&str] = &[
    "all previous",
    "previous",
    "all prior",
    "prior",
    "the above",
    "all above",
    "your previous",
    "your instructions",
    "all instructions",
    "any previous",
    "earlier",
    "the system prompt",
];

pub(super) fn check(report: &mut Report<'_, '_>, body: usize) {
    let bytes = report.bytes();
    let tail = bytes.get(body..).unwrap_or_default();
    let mut markups = Finds::of("SK112");
    for at in memchr::memchr2_iter(b'<', b'[', tail) {
        let rest = tail.get(at..).unwrap_or_default();
        if let Some(markup) = markup(rest) {
            markups.push(|| Found {
                at: body + at,
                message: format!("markup that imitates the runtime: `{markup}`"),
                text: report.line(body + at).to_owned(),
                fix: "write it as `&lt;…&gt;`, or under another name",
            });
        }
    }
    let mut orders = Finds::of("SK112");
    for at in memchr::memmem::find_iter(tail, "gnore ") {
        let after = tail.get(at + "gnore ".len()..).unwrap_or_default();
        if FORMER.iter().any(|former| begins(after, former)) && speaks_of_orders(after) {
            orders.push(|| Found {
                at: body + at,
                message: "a sentence that wants other instructions to be ignored".to_owned(),
                text: report.line(body + at).to_owned(),
                fix: "say what the skill does instead",
            });
        }
    }
    report.add(markups);
    report.add(orders);
}

/// Returns the markup that `rest` begins with, if it is one of the runtime's.
fn markup(rest: &[u8]) -> Option<&'static str> {
    if let Some(mark) = MARKS.iter().find(|mark| begins(rest, mark)) {
        return Some(mark);
    }
    let inner = rest.strip_prefix(b"<")?;
    let (inner, closes) = match inner.strip_prefix(b"/") {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    // `<skill>/scripts` is a place for a name; an element has attributes, or something in it.
    if begins(inner, "skill>") && !closes && !matches!(inner.get(6), Some(b'\n' | b'<')) {
        return None;
    }
    ELEMENTS.iter().copied().find(|name| {
        let after = inner.get(name.len()).copied();
        begins(inner, name) && matches!(after, Some(b'>' | b' ' | b':' | b'/' | b'\n'))
    })
}

fn begins(text: &[u8], with: &str) -> bool {
    text.get(..with.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// Tells whether the next few words are about instructions.
fn speaks_of_orders(after: &[u8]) -> bool {
    let near = after.get(..after.len().min(64)).unwrap_or_default();
    let near = String::from_utf8_lossy(near).to_lowercase();
    ["instruction", "prompt", "rules", "guideline"]
        .iter()
        .any(|word| near.contains(word))
}
