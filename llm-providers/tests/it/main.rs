//! The crate over real sockets: a scripted server of our own, and servers of others.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "what fails here fails its test, and a skipped test says so"
)]

mod deadlines;
mod exchange;
mod independent;
mod peers;
mod retrying;
mod server;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_providers::{ConnectOptions, RetryPolicy, Secret, Timeouts, connect};
use skill_core::{
    CompletionEvent, CompletionRequest, Message, ModelId, Provider, ProviderError, StopReason,
    Usage,
};

const KEY: &str = "sk-0123456789-secret";

/// One event as a stream of chat completions carries it.
fn chunk(text: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

const STOP: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn hi() -> Vec<CompletionEvent> {
    vec![text("Hi"), finished(StopReason::EndTurn)]
}

fn text(text: &str) -> CompletionEvent {
    CompletionEvent::TextDelta(text.into())
}

fn finished(stop: StopReason) -> CompletionEvent {
    CompletionEvent::Finished {
        stop,
        usage: Usage::default(),
    }
}

fn options(base_url: &str) -> ConnectOptions {
    ConnectOptions {
        base_url: Some(base_url.to_owned()),
        api_key: Some(Secret::new(KEY)),
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(10),
        },
        retry: RetryPolicy {
            initial: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
        ..ConnectOptions::new("acme")
    }
}

fn provider(base_url: &str) -> Arc<dyn Provider> {
    connect(&options(base_url)).unwrap()
}

fn request(text: &str) -> CompletionRequest {
    CompletionRequest {
        model: ModelId::new("gpt-4o"),
        system: vec!["You are brief.".into()],
        messages: vec![Message::user(text).into()],
        tools: [].into(),
        max_output_tokens: None,
    }
}

/// Asks once; returns the events before the end and the error that ended them, if one did.
async fn ask(provider: &dyn Provider, text: &str) -> (Vec<CompletionEvent>, Option<ProviderError>) {
    match provider.stream(request(text)).await {
        Ok(stream) => collect(stream).await,
        Err(error) => (Vec::new(), Some(error)),
    }
}

async fn collect(
    mut stream: skill_core::CompletionStream,
) -> (Vec<CompletionEvent>, Option<ProviderError>) {
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Returns everything an error may show to a person or a log.
fn shown(error: &ProviderError) -> String {
    let mut text = format!("{error} | {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(" | {cause} | {cause:?}"));
        source = cause.source();
    }
    text
}
