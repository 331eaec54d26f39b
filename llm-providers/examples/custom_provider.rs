//! Adds a provider of one's own: it echoes, and is repeated like any other when it fails.
//!
//! Whatever implements [`Provider`] serves; [`RetryProvider`] wraps it, and `connect` is only one
//! way to get one.

#![expect(clippy::print_stdout, reason = "a program talks")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use llm_providers::{RetryPolicy, RetryProvider};
use skill_core::{
    CompletionEvent, CompletionRequest, CompletionStream, Message, ModelId, Provider,
    ProviderError, ProviderErrorKind, StopReason, Usage,
};

/// Says back what the user said, word by word; busy at first.
#[derive(Debug, Default)]
struct Echo {
    warmed_up: AtomicBool,
}

#[async_trait]
impl Provider for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        if !self.warmed_up.swap(true, Ordering::Relaxed) {
            let kind = ProviderErrorKind::Unavailable;
            return Err(ProviderError::new("echo", kind, "still warming up"));
        }
        let said = request
            .messages
            .last()
            .map(|message| message.joined_text())
            .unwrap_or_default();
        let mut events: Vec<_> = said
            .split_inclusive(' ')
            .map(|word| Ok(CompletionEvent::TextDelta(word.to_owned())))
            .collect();
        events.push(Ok(CompletionEvent::Finished {
            stop: StopReason::EndTurn,
            usage: Usage::default(),
        }));
        Ok(Box::pin(futures_util::stream::iter(events)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let echo = Arc::new(Echo::default());
        let provider = RetryProvider::new(echo, RetryPolicy::default(), 0);
        let request = CompletionRequest {
            model: ModelId::new("any"),
            system: Vec::new(),
            messages: vec![Message::user("hello from a provider of one's own").into()],
            tools: [].into(),
            max_output_tokens: None,
        };
        let mut stream = provider.stream(request).await?;
        while let Some(event) = stream.next().await {
            println!("{:?}", event?);
        }
        Ok(())
    })
}
