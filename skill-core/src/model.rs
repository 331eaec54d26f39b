//! The contract between the loop and a language model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::tool::ToolDefinition;

/// The name of a model at its provider, such as `gpt-4o`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(String);

impl ModelId {
    /// Wraps a name; any text is a valid name, since only the provider knows its models.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One request to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletionRequest {
    /// The model.
    pub model: ModelId,
    /// System text, stable parts first; each element is one block.
    pub system: Vec<String>,
    /// The conversation, oldest first; shared, since most of it is the same for every request of a
    /// session.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer; shared, since they are the same for every request of a turn.
    pub tools: Arc<[ToolDefinition]>,
    /// The longest answer allowed, in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// It wants tools run.
    ToolCalls,
    /// It reached its output limit.
    MaxTokens,
    /// It, or a filter before it, refused.
    Refused,
    /// Something this version does not know; never taken for "done".
    Other(String),
}

/// Tokens that a request cost, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// The part of `input` that came from the provider's cache.
    pub cached: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

/// One event of a streamed answer.
///
/// A stream that ends without [`CompletionEvent::Finished`] was cut: its calls must not run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompletionEvent {
    /// More text.
    TextDelta(String),
    /// More visible reasoning.
    ReasoningDelta(String),
    /// Part of the tool call number `index` of this answer.
    ToolCallDelta {
        /// The position of the call among the answer's calls.
        index: usize,
        /// The provider's id, on the first part that carries one.
        id: Option<String>,
        /// The tool's name, on the first part that carries one.
        name: Option<String>,
        /// More of the arguments' JSON text.
        arguments: String,
    },
    /// The terminal event.
    Finished {
        /// Why the model stopped.
        stop: StopReason,
        /// What it cost; zero where the provider does not say.
        usage: Usage,
    },
}

/// What a caller can do about a [`ProviderError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The key is missing, wrong or without rights (401, 403).
    Unauthorized,
    /// No such model or address (404).
    NotFound,
    /// The request itself was refused (400, 422, 413).
    InvalidRequest,
    /// Too many requests (429), and waiting did not help.
    RateLimited,
    /// Not reachable, or failing on its own side (5xx).
    Unavailable,
    /// The answer was not of the protocol: an HTML page, broken JSON, a broken stream.
    Protocol,
    /// No answer in time.
    Timeout,
}

impl ProviderErrorKind {
    /// Returns the name used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Protocol => "protocol",
            Self::Timeout => "timeout",
        }
    }
}

/// A request that brought no complete answer.
#[derive(Debug, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ProviderError {
    /// The provider's name.
    pub provider: String,
    /// What the caller can do about it.
    pub kind: ProviderErrorKind,
    /// What happened, naming address and status; never a key or a whole body.
    pub message: String,
    /// How to mend it, where that is known.
    pub hint: Option<String>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    /// Returns an error without hint, wait or cause.
    pub fn new(
        provider: impl Into<String>,
        kind: ProviderErrorKind,
        message: impl Into<String>,
    ) -> Self {
        Self {
            provider: provider.into(),
            kind,
            message: message.into(),
            hint: None,
            retry_after: None,
            source: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A streamed answer.
#[cfg(feature = "model")]
pub type CompletionStream = std::pin::Pin<
    Box<dyn futures_util::Stream<Item = Result<CompletionEvent, ProviderError>> + Send>,
>;

/// A language model behind some protocol.
///
/// Implementations stream; a caller that wants the whole answer collects. Dropping the future or
/// the stream cancels the request. `stream` returns once the answer has begun, so an `Err` from it
/// means that nothing of an answer was seen; an `Err` inside the stream ends it.
#[cfg(feature = "model")]
#[async_trait::async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns the provider's name, as it stands in events and errors.
    fn name(&self) -> &str;

    /// Sends one request and returns its answer as a stream.
    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError>;
}
