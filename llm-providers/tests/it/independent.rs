//! Against servers that others wrote: they know nothing of this crate's idea of the protocol.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use skill_core::ProviderErrorKind::Unauthorized;
use skill_core::{
    CallStatus, CompletionEvent, CompletionRequest, ContentBlock, Message, Provider, Role,
    StopReason, ToolCall, ToolDefinition, ToolResult,
};

use crate::peers::{Peer, aimock, llmock};
use crate::{ask, collect, options, provider, request};

fn fixtures() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/aimock-fixtures.json"
    ))
}

fn base_url(peer: &Peer) -> String {
    format!("http://127.0.0.1:{}/v1", peer.port)
}

fn weather() -> CompletionRequest {
    CompletionRequest {
        tools: [ToolDefinition {
            name: "get_weather".into(),
            description: "Tells the weather.".into(),
            parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
        }].into(),
        ..request("what is the weather")
    }
}

fn joined(events: &[CompletionEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        CompletionEvent::TextDelta(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn stop(events: &[CompletionEvent]) -> Option<&StopReason> {
    match events.last() {
        Some(CompletionEvent::Finished { stop, .. }) => Some(stop),
        _ => None,
    }
}

fn calls(events: &[CompletionEvent]) -> Vec<ToolCall> {
    let mut calls: BTreeMap<usize, ToolCall> = BTreeMap::new();
    for event in events {
        let CompletionEvent::ToolCallDelta {
            index,
            id,
            name,
            arguments,
        } = event
        else {
            continue;
        };
        let call = calls.entry(*index).or_insert_with(|| ToolCall {
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
        });
        call.id.push_str(id.as_deref().unwrap_or_default());
        call.name.push_str(name.as_deref().unwrap_or_default());
        call.arguments.push_str(arguments);
    }
    calls.into_values().collect()
}

async fn complete(provider: &dyn Provider, request: CompletionRequest) -> Vec<CompletionEvent> {
    let (events, error) = collect(provider.stream(request).await.unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    events
}

#[tokio::test]
async fn aimock_streams_text_and_reasoning() {
    let Some(peer) = aimock(fixtures()).await else {
        return;
    };
    let provider = provider(&base_url(&peer));
    let (events, error) = ask(&*provider, "hello").await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(joined(&events), "Hello there, streaming works.");
    assert_eq!(stop(&events), Some(&StopReason::EndTurn));
    assert!(events.len() > 5, "not streamed: {events:?}");

    let (events, _) = ask(&*provider, "think").await;
    let reasoning: String = events
        .iter()
        .filter_map(|event| match event {
            CompletionEvent::ReasoningDelta(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        (reasoning.as_str(), joined(&events).as_str()),
        ("Let me reason about it.", "42")
    );
}

#[tokio::test]
async fn aimock_takes_the_results_of_the_calls_it_made() {
    let Some(peer) = aimock(fixtures()).await else {
        return;
    };
    let provider = provider(&base_url(&peer));
    let mut request = weather();
    let events = complete(&*provider, request.clone()).await;
    let calls = calls(&events);
    let shown: Vec<String> = calls
        .iter()
        .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
        .collect();
    assert_eq!(
        shown,
        [
            r#"call_p get_weather {"city":"Paris"}"#,
            r#"call_r get_weather {"city":"罗马"}"#
        ]
    );
    assert_eq!(stop(&events), Some(&StopReason::ToolCalls));

    let results = calls.iter().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status: CallStatus::Success,
        content: "sunny".into(),
    });
    let results = Message::tool_results(results.collect());
    let mut content = vec![ContentBlock::text(joined(&events))];
    content.extend(calls.into_iter().map(ContentBlock::ToolCall));
    let asked = Message {
        role: Role::Assistant,
        content,
    };
    request.messages.extend([asked.into(), results.into()]);
    let events = complete(&*provider, request).await;
    assert_eq!(joined(&events), "It is sunny in both.");
}

#[tokio::test]
async fn aimock_cut_off_in_an_answer_leaves_it_unfinished() {
    let Some(peer) = aimock(fixtures()).await else {
        return;
    };
    let (events, error) = ask(&*provider(&base_url(&peer)), "cut").await;
    assert!(error.is_none(), "{error:?}");
    assert!(!events.is_empty());
    assert_eq!(stop(&events), None);
}

#[tokio::test]
async fn aimock_overloaded_is_asked_again() {
    let Some(peer) = aimock(fixtures()).await else {
        return;
    };
    let (events, error) = ask(&*provider(&base_url(&peer)), "overload").await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(joined(&events), "recovered");
}

/// Talks to llmock's own interface.
async fn control(peer: &Peer, method: &str, path: &str, body: &Value) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let mut connection = tokio::net::TcpStream::connect(("127.0.0.1", peer.port))
        .await
        .unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    answer
}

async fn scenario(peer: &Peer, behaviors: Value) {
    control(
        peer,
        "POST",
        "/_llmock/scenario",
        &json!({ "behaviors": behaviors }),
    )
    .await;
}

async fn verdict(peer: &Peer) -> String {
    control(peer, "GET", "/_llmock/verdict?format=text", &json!({})).await
}

#[tokio::test]
async fn llmock_finds_no_fault_with_how_failures_are_met() {
    let Some(peer) = llmock().await else { return };
    scenario(
        &peer,
        json!([
            {"type": "fail", "status": 429, "retry_after": 1, "times": 1},
            {"type": "fail", "status": 503, "times": 1},
            {"type": "reply", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
        ]),
    )
    .await;
    let options = llm_providers::ConnectOptions {
        retry: llm_providers::RetryPolicy::default(),
        ..options(&base_url(&peer))
    };
    let provider = llm_providers::connect(&options).unwrap();
    let events = complete(&*provider, weather()).await;
    let calls = calls(&events);
    assert_eq!(calls.len(), 1);
    assert!(!calls[0].id.is_empty());
    let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert_eq!(
        (calls[0].name.as_str(), arguments),
        ("get_weather", json!({"city": "Paris"}))
    );
    let verdict = verdict(&peer).await;
    assert!(verdict.contains("PASS"), "{verdict}");
}

#[tokio::test]
async fn llmock_refusing_the_key_is_believed_at_once() {
    let Some(peer) = llmock().await else { return };
    scenario(&peer, json!([{"type": "fail", "status": 401, "times": 3}])).await;
    let (_, error) = ask(&*provider(&base_url(&peer)), "hello").await;
    assert_eq!(error.unwrap().kind, Unauthorized);
    let verdict = verdict(&peer).await;
    assert!(
        verdict.contains("1 attempt(s)") && verdict.contains("PASS"),
        "{verdict}"
    );
}

#[tokio::test]
async fn llmock_breaking_a_stream_leaves_the_answer_unfinished() {
    let Some(peer) = llmock().await else { return };
    for kind in ["truncate", "disconnect"] {
        scenario(
            &peer,
            json!([
                {"type": "reply", "text": "one two three four five six"},
                {"type": "stream_fault", "kind": kind, "after_chunks": 3},
            ]),
        )
        .await;
        let (events, error) = ask(&*provider(&base_url(&peer)), "hello").await;
        assert!(error.is_none(), "{error:?}");
        assert!(!joined(&events).is_empty(), "{kind}");
        assert_eq!(stop(&events), None, "{kind}");
    }
}

#[tokio::test]
async fn llmock_sending_a_broken_chunk_is_a_protocol_error() {
    let Some(peer) = llmock().await else { return };
    scenario(
        &peer,
        json!([
            {"type": "reply", "text": "one two three four five six"},
            {"type": "stream_fault", "kind": "malformed", "after_chunks": 3},
        ]),
    )
    .await;
    let (events, error) = ask(&*provider(&base_url(&peer)), "hello").await;
    assert!(!joined(&events).is_empty());
    assert_eq!(error.unwrap().kind, skill_core::ProviderErrorKind::Protocol);
}
