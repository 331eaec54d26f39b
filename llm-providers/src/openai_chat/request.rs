//! From a [`CompletionRequest`] to the JSON of chat completions; pure.

use std::borrow::Cow;

use skill_core::{CompletionRequest, ContentBlock, Message, Role, ToolCall};

use crate::dialects::{CallIds, Dialect, OutputLimit, ReasoningReplay, StreamUsage};
use crate::openai_chat::wire;

/// The longest name of a function that the protocol allows.
const NAME_BYTES: usize = 64;

/// Returns the body of `request` in the dialect's form.
pub(super) fn body<'a>(request: &'a CompletionRequest, dialect: &Dialect) -> wire::Request<'a> {
    let limit = request.max_output_tokens;
    let on_request = dialect.stream_usage == StreamUsage::OnRequest;
    wire::Request {
        model: request.model.as_str(),
        messages: messages(request, dialect),
        tools: request.tools.iter().map(tool).collect(),
        stream: true,
        stream_options: on_request.then_some(wire::StreamOptions {
            include_usage: true,
        }),
        max_tokens: limit.filter(|_| dialect.output_limit == OutputLimit::MaxTokens),
        max_completion_tokens: limit
            .filter(|_| dialect.output_limit == OutputLimit::MaxCompletionTokens),
    }
}

fn tool(definition: &skill_core::ToolDefinition) -> wire::Tool<'_> {
    wire::Tool {
        r#type: "function",
        function: wire::ToolFunction {
            name: &definition.name,
            description: &definition.description,
            parameters: &definition.parameters,
        },
    }
}

fn messages<'a>(
    request: &'a CompletionRequest,
    dialect: &Dialect,
) -> Vec<wire::RequestMessage<'a>> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let system: Vec<&str> = request
        .system
        .iter()
        .map(String::as_str)
        .filter(|block| !block.is_empty())
        .collect();
    match system.as_slice() {
        [] => {}
        [block] => messages.push(wire::RequestMessage::System {
            content: Cow::Borrowed(block),
        }),
        blocks => messages.push(wire::RequestMessage::System {
            content: blocks.join("\n\n").into(),
        }),
    }
    for message in &request.messages {
        convert(message, dialect, &mut messages);
    }
    messages
}

/// Appends what `message` is on the wire; blocks the protocol has no place for are left out.
fn convert<'a>(
    message: &'a Message,
    dialect: &Dialect,
    messages: &mut Vec<wire::RequestMessage<'a>>,
) {
    // Results come first: the protocol wants them directly behind the calls they answer.
    messages.extend(message.results().map(|result| wire::RequestMessage::Tool {
        tool_call_id: call_id(&result.call_id, dialect.call_ids),
        content: &result.content,
    }));
    let text = text(message);
    match message.role {
        Role::System => {
            messages.extend(text.map(|content| wire::RequestMessage::System { content }));
        }
        // Text beside tool results has no place in a tool message, but must not be lost.
        Role::User | Role::Tool => {
            messages.extend(text.map(|content| wire::RequestMessage::User { content }));
        }
        Role::Assistant => messages.extend(assistant(message, text, dialect)),
    }
}

fn assistant<'a>(
    message: &'a Message,
    text: Option<Cow<'a, str>>,
    dialect: &Dialect,
) -> Option<wire::RequestMessage<'a>> {
    let tool_calls: Vec<_> = message
        .tool_calls()
        .map(|call| request_call(call, dialect))
        .collect();
    if text.is_none() && tool_calls.is_empty() {
        return None;
    }
    let replay = dialect.reasoning == ReasoningReplay::WithCalls && !tool_calls.is_empty();
    Some(wire::RequestMessage::Assistant {
        content: text.filter(|text| !text.is_empty() || tool_calls.is_empty()),
        reasoning_content: replay.then(|| reasoning(message)),
        tool_calls,
    })
}

/// Returns the text blocks as one text, or `None` where the message has none.
///
/// A model's text came in pieces and is joined as it was; blocks of others are paragraphs.
fn text(message: &Message) -> Option<Cow<'_, str>> {
    let texts: Vec<&str> = message
        .content
        .iter()
        .filter_map(ContentBlock::as_text)
        .collect();
    let separator = if message.role == Role::Assistant {
        ""
    } else {
        "\n\n"
    };
    match texts.as_slice() {
        [] => None,
        [only] => Some(Cow::Borrowed(only)),
        many => Some(many.join(separator).into()),
    }
}

fn reasoning(message: &Message) -> String {
    message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Reasoning { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn request_call<'a>(call: &'a ToolCall, dialect: &Dialect) -> wire::RequestCall<'a> {
    wire::RequestCall {
        id: call_id(&call.id, dialect.call_ids),
        r#type: "function",
        function: wire::RequestFunction {
            name: function_name(&call.name),
            arguments: arguments(&call.arguments),
        },
    }
}

/// Returns the arguments if they are a JSON object, else `{}`: servers parse what they are sent
/// back, and a model's broken JSON would cost every later request of the conversation.
fn arguments(text: &str) -> &str {
    type Object = std::collections::BTreeMap<String, serde::de::IgnoredAny>;
    match serde_json::from_str::<Object>(text) {
        Ok(_) => text,
        Err(_) => "{}",
    }
}

/// Returns the name a model wrote in the form the protocol allows.
fn function_name(name: &str) -> Cow<'_, str> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if name.is_empty() {
        return "unnamed".into();
    }
    if name.len() <= NAME_BYTES && name.chars().all(allowed) {
        return name.into();
    }
    let replaced = name
        .chars()
        .map(|character| if allowed(character) { character } else { '_' });
    replaced.take(NAME_BYTES).collect()
}

/// Returns the id in a form the server accepts; equal ids stay equal, unequal ones unequal.
fn call_id(id: &str, rule: CallIds) -> Cow<'_, str> {
    match rule {
        CallIds::AtMost(longest) if !id.is_empty() && id.len() <= longest => id.into(),
        CallIds::AtMost(_) => format!("call_{:016x}", digest(id)).into(),
        CallIds::Alphanumeric(length)
            if id.len() == length && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            id.into()
        }
        CallIds::Alphanumeric(length) => letters(digest(id), length).into(),
    }
}

/// FNV-1a, mixed once more so that short ids differ in every digit.
fn digest(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (hash >> 29)
}

fn letters(mut number: u64, length: usize) -> String {
    let digit = |value: u64| match u8::try_from(value).unwrap_or(0) {
        value @ 0..=9 => b'0' + value,
        value @ 10..=35 => b'a' + value - 10,
        value => b'A' + value - 36,
    };
    (0..length)
        .map(|_| {
            let value = number % 62;
            number /= 62;
            char::from(digit(value))
        })
        .collect()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
