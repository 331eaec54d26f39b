//! A summary without a model: the words of each round, shortened evenly until they fit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use prompt_compiler::TokenCounter;
use skill_core::{Message, Role};

/// How many characters of a text are shown, from the most generous on.
const LENGTHS: &[usize] = &[600, 300, 150, 80, 40];

/// Returns excerpts of `messages`, which follow on `earlier`, of at most `most` tokens.
///
/// Every round keeps a line as long as there is room for one; then the oldest go.
pub(crate) fn excerpts(
    messages: &[Arc<Message>],
    earlier: Option<&str>,
    most: u64,
    counter: &dyn TokenCounter,
) -> String {
    let fits = |text: &str| counter.count(text) <= most;
    for length in LENGTHS {
        let earlier = earlier.map(|text| shortened(text, length * 4));
        let text = written(messages, earlier.as_deref(), *length);
        if fits(&text) {
            return text;
        }
    }
    let shortest = LENGTHS.last().copied().unwrap_or(40);
    let rounds = rounds(messages);
    let fitting = (1..rounds.len()).find_map(|first| {
        let rest = rounds.get(first..)?.concat();
        let text = written(&rest, None, shortest);
        fits(&text).then_some(text)
    });
    fitting.unwrap_or_default()
}

fn written(messages: &[Arc<Message>], earlier: Option<&str>, length: usize) -> String {
    let mut text = String::new();
    if let Some(earlier) = earlier {
        let _ = writeln!(text, "{earlier}");
    }
    for round in rounds(messages) {
        let said = |role: Role| {
            let mut messages = round.iter().filter(|message| message.role == role).rev();
            messages.find_map(|message| Some(message.joined_text()).filter(|text| !text.is_empty()))
        };
        if let Some(asked) = said(Role::User) {
            let _ = writeln!(text, "- user: {}", shortened(&asked, length));
        }
        let done = done(round);
        if !done.is_empty() {
            let _ = writeln!(text, "  calls: {done}");
        }
        if let Some(answer) = said(Role::Assistant) {
            let _ = writeln!(text, "  answer: {}", shortened(&answer, length));
        }
    }
    text
}

/// Cuts in front of each user message.
fn rounds(messages: &[Arc<Message>]) -> Vec<&[Arc<Message>]> {
    messages
        .chunk_by(|_, next| next.role != Role::User)
        .collect()
}

/// Names the tools that ran in a round, and how: `read_file ×3, write_file (error)`.
fn done(round: &[Arc<Message>]) -> String {
    let mut counts: BTreeMap<(String, &'static str), u32> = BTreeMap::new();
    for result in round.iter().flat_map(|message| message.results()) {
        *counts
            .entry((result.name.clone(), result.status.as_str()))
            .or_default() += 1;
    }
    let written = counts.into_iter().map(|((name, status), count)| {
        let times = if count > 1 {
            format!(" ×{count}")
        } else {
            String::new()
        };
        let how = if status == "success" {
            String::new()
        } else {
            format!(" ({status})")
        };
        format!("{name}{times}{how}")
    });
    written.collect::<Vec<_>>().join(", ")
}

/// Returns `text` in one line of at most `length` characters.
fn shortened(text: &str, length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use prompt_compiler::ByteBound;
    use skill_core::{CallStatus, ToolResult};

    use super::*;

    fn result(name: &str, status: CallStatus) -> ToolResult {
        ToolResult {
            call_id: "c".into(),
            name: name.into(),
            status,
            content: "long content that is left out".into(),
        }
    }

    fn conversation(rounds: usize) -> Vec<Arc<Message>> {
        let round = |number: usize| {
            [
                Message::user(format!("question {number}\nin two lines")),
                Message::tool_results(vec![
                    result("read_file", CallStatus::Success),
                    result("read_file", CallStatus::Success),
                    result("write_file", CallStatus::Rejected),
                ]),
                Message::assistant(format!("answer {number}")),
            ]
        };
        (1..=rounds).flat_map(round).map(Arc::new).collect()
    }

    #[test]
    fn each_round_keeps_its_question_its_calls_and_its_answer() {
        let text = excerpts(&conversation(1), Some("before that"), 1_000, &ByteBound);
        assert_eq!(
            text,
            "before that\n- user: question 1 in two lines\n  calls: read_file ×2, write_file (rejected)\n  answer: answer 1\n"
        );
    }

    #[test]
    fn too_many_rounds_lose_the_oldest_and_never_the_bound() {
        let text = excerpts(&conversation(200), None, 2_000, &ByteBound);
        assert!(text.len() <= 2_000 && text.len() > 1_000, "{}", text.len());
        assert!(text.contains("question 200") && !text.contains("question 1 "));
    }
}
