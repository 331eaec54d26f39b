//! A conversation as text for a summariser, bounded.

use std::fmt::Write as _;
use std::sync::Arc;

use prompt_compiler::TokenCounter;
use skill_core::{ContentBlock, Message, Role};

/// How many characters of one block are shown, from the most generous on.
const LENGTHS: &[usize] = &[8_000, 2_000, 500, 120];

/// Writes `messages` down within `most` tokens; the middle of long blocks is left out.
pub(super) fn transcript(
    messages: &[Arc<Message>],
    earlier: Option<&str>,
    most: u64,
    counter: &dyn TokenCounter,
) -> String {
    let mut text = String::new();
    for length in LENGTHS {
        text = written(messages, earlier, *length);
        if counter.count_up_to(&text, most + 1) <= most {
            break;
        }
    }
    text
}

fn written(messages: &[Arc<Message>], earlier: Option<&str>, length: usize) -> String {
    let mut text = String::new();
    if let Some(earlier) = earlier {
        let _ = writeln!(text, "[notes on what was before]\n{earlier}\n");
    }
    for message in messages {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "agent",
            Role::Tool => "result",
            Role::System => "system",
        };
        for block in &message.content {
            let (head, body) = match block {
                ContentBlock::Text { text } => (role.to_owned(), text.as_str()),
                ContentBlock::ToolCall(call) => (
                    format!("{role} calls {}", call.name),
                    call.arguments.as_str(),
                ),
                ContentBlock::ToolResult(result) => (
                    format!("{role} of {}: {}", result.name, result.status.as_str()),
                    result.content.as_str(),
                ),
                _ => continue,
            };
            let _ = writeln!(text, "[{head}]\n{}\n", middle_out(body, length));
        }
    }
    text
}

/// Returns the beginning and the end of `text`, at most `length` characters.
fn middle_out(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return text.to_owned();
    }
    let half = length / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use prompt_compiler::ByteBound;

    use super::*;

    #[test]
    fn a_long_block_loses_its_middle_until_the_whole_fits() {
        let long = format!("begin {} end", "x".repeat(50_000));
        let messages = [Arc::new(Message::user(long))];
        let text = transcript(&messages, Some("notes"), 3_000, &ByteBound);
        assert!(text.len() <= 3_000, "{}", text.len());
        assert!(text.starts_with("[notes on what was before]\nnotes\n\n[user]\nbegin"));
        assert!(text.ends_with("end\n\n"));
    }
}
