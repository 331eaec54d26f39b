//! What the bench server says: an answer in text, or ten calls of `read_file` and then the text.

use serde_json::{Value, json};

use super::TOOL_CALLS;
use super::inputs::{NOTE_MARK, note_name};

/// How the answer in text ends.
pub(super) const LAST_WORDS: &str = "and nobody has objected since.";

const ANSWER: &str = "The notes agree on the main point. In the meeting of the second week the \
    team moved the release to the fourth Thursday of the month, because the migration of the \
    customer records needs a quiet weekend before it. Two conditions were written down: the \
    rehearsal on the copy of the database has to end without manual steps, and support has to have \
    the new answers three days earlier. The note of the following Monday repeats both, names the \
    owner of each, and adds that the date is announced only after the rehearsal. That happened on \
    time, the announcement went out the same afternoon, and nobody has objected since.";

/// Returns the events of the answer to one request: under `/steps/` the call that follows from the
/// results it holds, elsewhere a text.
pub(super) fn answer(path: &str, body: &Value) -> String {
    let step = tool_results(body).count();
    if path.contains("/steps/") && step < TOOL_CALLS {
        call(step)
    } else {
        text()
    }
}

/// Counts the results that do not hold what the file holds.
pub(super) fn failed_tools(body: &Value) -> usize {
    tool_results(body)
        .filter(|message| !message.to_string().contains(NOTE_MARK))
        .count()
}

fn tool_results(body: &Value) -> impl Iterator<Item = &Value> {
    let messages = body.get("messages").and_then(Value::as_array);
    let is_result = |message: &&Value| message.get("role").is_some_and(|role| role == "tool");
    messages.into_iter().flatten().filter(is_result)
}

fn text() -> String {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(
        ANSWER
            .split_inclusive(' ')
            .map(|word| json!({"content": word})),
    );
    events(deltas, "stop")
}

fn call(step: usize) -> String {
    let arguments = json!({"path": format!("notes/{}", note_name(step))}).to_string();
    let (start, rest) = arguments.split_at(arguments.len() / 2);
    let name = json!({"name": "read_file", "arguments": ""});
    let call = json!({"index": 0, "id": format!("call_{step:04}"), "type": "function",
        "function": name});
    let piece =
        |piece: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
    let deltas = vec![
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        piece(start),
        piece(rest),
    ];
    events(deltas, "tool_calls")
}

fn events(deltas: Vec<Value>, finish: &str) -> String {
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({
            "id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_750_000_000,
            "model": "test", "system_fingerprint": "fp_bench",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        })
    };
    let mut chunks: Vec<Value> = deltas.into_iter().map(|delta| chunk(delta, None)).collect();
    chunks.push(chunk(json!({}), Some(finish)));
    chunks.push(json!({
        "id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_750_000_000,
        "model": "test", "choices": [],
        "usage": {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1020},
    }));
    let lines: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    format!("{}data: [DONE]\n\n", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_results(count: usize) -> Value {
        let mut messages = vec![json!({"role": "user", "content": "go"})];
        messages.extend((0..count).map(|_| json!({"role": "tool", "content": NOTE_MARK})));
        json!({"tools": [{"type": "function"}], "messages": messages})
    }

    fn is_call(events: &str) -> bool {
        events.contains("\"finish_reason\":\"tool_calls\"")
    }

    #[test]
    fn ten_results_make_ten_calls_and_then_the_text() {
        for results in 0..TOOL_CALLS {
            let events = answer("/steps/v1/chat/completions", &with_results(results));
            assert!(
                is_call(&events) && events.contains(&format!("call_{results:04}")),
                "{events}"
            );
        }
        assert!(!is_call(&answer("/steps/v1", &with_results(TOOL_CALLS))));
    }

    #[test]
    fn outside_the_steps_every_answer_is_text() {
        let events = answer("/v1/chat/completions", &with_results(0));
        assert!(!is_call(&events));
    }

    #[test]
    fn a_result_without_the_note_is_a_failed_tool() {
        let body = json!({"messages": [{"role": "tool", "content": "no such file"}]});
        assert_eq!(failed_tools(&body), 1);
        assert_eq!(failed_tools(&with_results(3)), 0);
    }
}
