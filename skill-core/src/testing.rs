//! Scripted doubles for tests: a provider that says what it was told to, a clock, ids.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::stream;

use crate::{
    Clock, CompletionEvent, CompletionRequest, CompletionStream, IdSource, Provider, ProviderError,
    ProviderErrorKind, StopReason, Usage, validate,
};

/// One scripted answer.
#[derive(Debug)]
pub enum Answer {
    /// These events, one after another, and then the end of the stream.
    Events(Vec<CompletionEvent>),
    /// These events, and then an error in the middle of the stream.
    Cut(Vec<CompletionEvent>, ProviderErrorKind),
    /// An error before anything of an answer.
    Error(ProviderErrorKind),
    /// These events, and then nothing more, ever.
    Hang(Vec<CompletionEvent>),
}

impl Answer {
    /// Returns a complete answer of text.
    pub fn text(text: &str) -> Self {
        Self::Events(vec![
            CompletionEvent::TextDelta(text.to_owned()),
            finished(StopReason::EndTurn),
        ])
    }

    /// Returns a complete answer of calls: id, tool, arguments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut events: Vec<CompletionEvent> = calls
            .iter()
            .enumerate()
            .map(
                |(index, (id, name, arguments))| CompletionEvent::ToolCallDelta {
                    index,
                    id: Some((*id).to_owned()),
                    name: Some((*name).to_owned()),
                    arguments: (*arguments).to_owned(),
                },
            )
            .collect();
        events.push(finished(StopReason::ToolCalls));
        Self::Events(events)
    }
}

/// Returns the terminal event of a scripted answer; it cost 10 tokens in and 5 out.
pub fn finished(stop: StopReason) -> CompletionEvent {
    CompletionEvent::Finished {
        stop,
        usage: Usage {
            input: 10,
            output: 5,
            cached: 0,
        },
    }
}

/// A provider that gives scripted answers and keeps what it was asked.
///
/// It is as strict as the strictest real one: what [`validate`] finds fault with is answered with
/// [`ProviderErrorKind::InvalidRequest`] and costs no answer, so that no test passes on a request
/// that a provider would refuse.
///
/// Asked more often than it has answers, it fails with [`ProviderErrorKind::Unavailable`].
#[derive(Debug)]
pub struct ScriptedProvider {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<CompletionRequest>>,
}

impl ScriptedProvider {
    /// Returns a provider that gives `answers` in order.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            requests: Mutex::new(Vec::new()),
        })
    }

    /// Returns what it was asked so far.
    pub fn requests(&self) -> Vec<CompletionRequest> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait::async_trait]
impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        let judged = validate(&request);
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        if let Err(fault) = judged {
            let message = fault.to_string();
            let kind = ProviderErrorKind::InvalidRequest;
            return Err(ProviderError::new("scripted", kind, message));
        }
        let answer = self
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        let failed = |kind| ProviderError::new("scripted", kind, "scripted failure");
        match answer {
            None => Err(failed(ProviderErrorKind::Unavailable)),
            Some(Answer::Error(kind)) => Err(failed(kind)),
            Some(Answer::Events(events)) => Ok(stream::iter(events).map(Ok).boxed()),
            Some(Answer::Cut(events, kind)) => {
                let end = stream::once(async move { Err(failed(kind)) });
                Ok(stream::iter(events).map(Ok).chain(end).boxed())
            }
            Some(Answer::Hang(events)) => Ok(stream::iter(events)
                .map(Ok)
                .chain(stream::pending())
                .boxed()),
        }
    }
}

/// A clock that goes on by one millisecond each time it is read.
#[derive(Debug, Default)]
pub struct SteppingClock(AtomicU64);

impl Clock for SteppingClock {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Ids that count: `id-1`, `id-2`, …
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl IdSource for CountingIds {
    fn next_id(&self) -> String {
        format!("id-{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ModelId};

    fn request(messages: Vec<Message>) -> CompletionRequest {
        CompletionRequest {
            model: ModelId::new("test"),
            system: Vec::new(),
            messages: messages.into_iter().map(Arc::new).collect(),
            tools: [].into(),
            max_output_tokens: None,
        }
    }

    fn asked(provider: &ScriptedProvider, messages: Vec<Message>) -> Option<ProviderErrorKind> {
        let answer = futures_util::FutureExt::now_or_never(provider.stream(request(messages)));
        answer.unwrap().err().map(|error| error.kind)
    }

    #[test]
    fn a_request_that_a_provider_refuses_is_refused_and_costs_no_answer() {
        let provider = ScriptedProvider::new([Answer::text("hello")]);
        let refused = Some(ProviderErrorKind::InvalidRequest);
        assert_eq!(asked(&provider, vec![Message::assistant("hi")]), refused);
        assert_eq!(asked(&provider, vec![Message::user("")]), refused);
        assert_eq!(asked(&provider, vec![Message::user("hi")]), None);
    }
}
