//! Scripted doubles for tests: a provider that says what it was told to, a clock, ids.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::stream;

use crate::{
    Clock, CompletionEvent, CompletionRequest, CompletionStream, IdSource, Provider, ProviderError,
    ProviderErrorKind, StopReason, Usage,
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
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
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
