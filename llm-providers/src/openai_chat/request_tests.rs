//! Requests as they go over the wire.

use serde_json::{Value, json};
use skill_core::{
    CallStatus, CompletionRequest, ContentBlock, Message, ModelId, Role, ToolCall, ToolDefinition,
    ToolResult,
};

use super::{body, call_id};
use crate::dialects::{COMPATIBLE, CallIds, Dialect, dialect};

fn request(messages: Vec<Message>) -> CompletionRequest {
    CompletionRequest {
        model: ModelId::new("m"),
        system: Vec::new(),
        messages: messages.into_iter().map(Into::into).collect(),
        tools: [].into(),
        max_output_tokens: None,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    })
}

fn result(id: &str, content: &str) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: "read_file".into(),
        status: CallStatus::Success,
        content: content.into(),
    }
}

fn assistant(content: Vec<ContentBlock>) -> Message {
    Message {
        role: Role::Assistant,
        content,
    }
}

fn wire(request: &CompletionRequest, dialect: &Dialect) -> Value {
    serde_json::to_value(body(request, dialect)).unwrap()
}

fn messages(messages: Vec<Message>) -> Value {
    wire(&request(messages), &COMPATIBLE)["messages"].take()
}

#[test]
fn a_whole_conversation_in_openais_form() {
    let request = CompletionRequest {
        model: ModelId::new("gpt-5-mini"),
        system: vec![
            "You are an agent.".into(),
            String::new(),
            "# Skills\n- a: b".into(),
        ],
        messages: vec![
            Message::user("read a.md"),
            assistant(vec![
                ContentBlock::Reasoning {
                    text: "I should read.".into(),
                },
                ContentBlock::text("Reading."),
                call("call_1", "read_file", r#"{"path":"a.md"}"#),
                call("call_2", "read_file", r#"{"path":"b.md"}"#),
            ]),
            Message::tool_results(vec![result("call_1", "A"), result("call_2", "")]),
            Message::assistant("Done."),
        ]
        .into_iter()
        .map(Into::into)
        .collect(),
        tools: [ToolDefinition {
            name: "read_file".into(),
            description: "Reads a file.".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }]
        .into(),
        max_output_tokens: Some(4096),
    };
    insta::assert_json_snapshot!(wire(&request, dialect("openai").unwrap()));
}

#[test]
fn system_blocks_are_one_message_with_blank_lines_between() {
    let request = CompletionRequest {
        system: vec!["a".into(), "b".into()],
        ..request(Vec::new())
    };
    let expected = json!([{"role": "system", "content": "a\n\nb"}]);
    assert_eq!(wire(&request, &COMPATIBLE)["messages"], expected);
}

#[test]
fn calls_without_text_have_null_for_content() {
    let wire = messages(vec![assistant(vec![call("c", "f", "{}")])]);
    assert_eq!(wire[0]["content"], Value::Null);
    assert!(wire[0].as_object().unwrap().contains_key("content"));
}

#[test]
fn arguments_that_are_no_json_object_are_sent_back_as_an_empty_one() {
    for (arguments, sent) in [
        (r#"{"a": 1}"#, r#"{"a": 1}"#),
        (r#"{"a":"#, "{}"),
        ("", "{}"),
        ("null", "{}"),
        (r#""text""#, "{}"),
        ("[1]", "{}"),
        (r#"{"a":1} trailing"#, "{}"),
    ] {
        let wire = messages(vec![assistant(vec![call("c", "f", arguments)])]);
        assert_eq!(
            wire[0]["tool_calls"][0]["function"]["arguments"], sent,
            "{arguments}"
        );
    }
}

#[test]
fn names_a_model_made_up_are_sent_back_in_the_form_allowed() {
    let name = |name: &str| {
        let wire = messages(vec![assistant(vec![call("c", name, "{}")])]);
        wire[0]["tool_calls"][0]["function"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(name("read_file-2"), "read_file-2");
    assert_eq!(name("打开 skill!"), "___skill_");
    assert_eq!(name(""), "unnamed");
    assert_eq!(name(&"x".repeat(200)).len(), 64);
}

#[test]
fn blocks_without_a_place_are_dropped_but_their_neighbours_stay() {
    let unknown = || ContentBlock::Unknown {
        value: json!({"type": "image"}),
    };
    let wire = messages(vec![
        Message {
            role: Role::User,
            content: vec![
                ContentBlock::text("look"),
                unknown(),
                ContentBlock::text("here"),
            ],
        },
        assistant(vec![
            ContentBlock::Reasoning { text: "hm".into() },
            unknown(),
        ]),
        Message {
            role: Role::Tool,
            content: vec![
                ContentBlock::text("note"),
                ContentBlock::ToolResult(result("c", "r")),
            ],
        },
    ]);
    let expected = json!([
        {"role": "user", "content": "look\n\nhere"},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
        {"role": "user", "content": "note"},
    ]);
    assert_eq!(wire, expected);
}

#[test]
fn text_of_a_model_that_came_in_blocks_is_joined_as_it_was() {
    let wire = messages(vec![assistant(vec![
        ContentBlock::text("a"),
        ContentBlock::text("b"),
    ])]);
    assert_eq!(wire[0]["content"], "ab");
}

#[test]
fn dialects_differ_in_their_fields() {
    let mut request = request(vec![
        Message::user("x"),
        assistant(vec![
            ContentBlock::Reasoning { text: "why".into() },
            call("call_1", "f", "{}"),
        ]),
        Message::tool_results(vec![result("call_1", "r")]),
    ]);
    request.max_output_tokens = Some(7);
    let named = |name: &str| wire(&request, dialect(name).unwrap());
    let fields = |name: &str| {
        let body = named(name);
        let keys = body
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>();
        let keys = keys
            .into_iter()
            .filter(|key| key.contains("max_") || key.contains("options"));
        keys.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fields("openai"), "stream_options max_completion_tokens");
    assert_eq!(fields("ollama"), "stream_options max_tokens");
    assert_eq!(fields("mistral"), "max_tokens");
    assert_eq!(named("deepseek")["messages"][1]["reasoning_content"], "why");
    assert_eq!(
        named("openai")["messages"][1].get("reasoning_content"),
        None
    );
    let mistral = named("mistral");
    let id = mistral["messages"][1]["tool_calls"][0]["id"]
        .as_str()
        .unwrap();
    assert!(
        id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{id}"
    );
    assert_eq!(mistral["messages"][2]["tool_call_id"], id);
}

#[test]
fn ids_are_changed_only_where_the_server_would_refuse_them() {
    assert_eq!(call_id("call_1", CallIds::AtMost(40)), "call_1");
    assert_eq!(call_id("abcDEF123", CallIds::Alphanumeric(9)), "abcDEF123");
    let long = "x".repeat(41);
    for (id, rule) in [
        (long.as_str(), CallIds::AtMost(40)),
        ("", CallIds::AtMost(40)),
    ] {
        let changed = call_id(id, rule);
        assert!((1..=40).contains(&changed.len()) && changed != id);
    }
    let ids: std::collections::BTreeSet<_> = (0..1000)
        .map(|number| call_id(&format!("call_{number}"), CallIds::Alphanumeric(9)).into_owned())
        .collect();
    assert_eq!(ids.len(), 1000);
}
