//! Chat completions as OpenAI defined them, streamed: the driver around the pure parts.

mod calls;
mod request;
mod stream;
mod wire;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use skill_core::{
    CompletionEvent, CompletionRequest, CompletionStream, Provider, ProviderError,
    ProviderErrorKind,
};
use tokio::time::timeout;

use crate::dialects::Dialect;
use crate::http::{Body, BodyFault, HttpClient, Origin};
use crate::openai_chat::stream::{AnswerReader, Fault, Misfit};

/// How long a server that said how the answer stopped may take to say that it is over.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// How long the end of a body is awaited, so that its connection can be used again.
const REUSE_GRACE: Duration = Duration::from_millis(20);

/// A provider that speaks chat completions.
pub(crate) struct OpenAiChat {
    origin: Origin,
    url: Url,
    dialect: &'static Dialect,
    headers: HeaderMap,
    client: HttpClient,
}

impl fmt::Debug for OpenAiChat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenAiChat")
            .field("origin", &self.origin)
            .field("dialect", &self.dialect.name)
            .finish_non_exhaustive()
    }
}

impl OpenAiChat {
    /// Returns a provider that posts to `url` through `client`.
    pub(crate) fn new(
        origin: Origin,
        url: Url,
        dialect: &'static Dialect,
        client: HttpClient,
    ) -> Result<Self, reqwest::header::InvalidHeaderValue> {
        let headers = headers(&origin, dialect)?;
        Ok(Self {
            origin,
            url,
            dialect,
            headers,
            client,
        })
    }
}

fn headers(
    origin: &Origin,
    dialect: &Dialect,
) -> Result<HeaderMap, reqwest::header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("text/event-stream, application/json"),
    );
    for (name, value) in dialect.headers {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if let Some(key) = &origin.key {
        let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

#[async_trait]
impl Provider for OpenAiChat {
    fn name(&self) -> &str {
        &self.origin.provider
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        let body = serde_json::to_vec(&request::body(&request, self.dialect)).map_err(|error| {
            let what = "was not asked: the request cannot be written as JSON";
            let mut failure = self.origin.error(ProviderErrorKind::InvalidRequest, what);
            failure.source = Some(Box::new(error));
            failure
        })?;
        drop(request);
        let (url, headers) = (self.url.clone(), self.headers.clone());
        let body = self.client.post(&self.origin, url, headers, body).await?;
        let mut answer = Answer::new(self.origin.clone(), body)?;
        let Some(first) = answer.next().await? else {
            let what = "broke its answer off before it began";
            let mut failure = self.origin.error(ProviderErrorKind::Protocol, what);
            failure.source = answer.cut.take();
            return Err(failure);
        };
        answer.events.push_front(first);
        Ok(Box::pin(futures_util::stream::unfold(
            answer,
            |mut answer| async {
                let item = answer.next().await.transpose()?;
                Some((item, answer))
            },
        )))
    }
}

/// An answer that is being read.
struct Answer {
    origin: Origin,
    body: Body,
    reader: AnswerReader,
    events: VecDeque<CompletionEvent>,
    /// A failure behind the events still to be handed out.
    failure: Option<ProviderError>,
    /// Why the connection broke, if it did.
    cut: Option<Box<dyn std::error::Error + Send + Sync>>,
    ended: bool,
}

impl Answer {
    fn new(origin: Origin, body: Body) -> Result<Self, ProviderError> {
        if body.content_type().starts_with("text/html") {
            return Err(misfit(&origin, Misfit::Html));
        }
        Ok(Self {
            origin,
            body,
            reader: AnswerReader::new(),
            events: VecDeque::new(),
            failure: None,
            cut: None,
            ended: false,
        })
    }

    /// Returns the next event, or `None` at the end, cut or not.
    async fn next(&mut self) -> Result<Option<CompletionEvent>, ProviderError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some(failure) = self.failure.take() {
                self.ended = true;
                return Err(failure);
            }
            if self.ended {
                return Ok(None);
            }
            if self.reader.is_complete() {
                // The terminal event was handed out: what is left is the end of the body.
                let _ = timeout(REUSE_GRACE, self.body.chunk(&self.origin)).await;
                self.ended = true;
                return Ok(None);
            }
            self.advance().await;
        }
    }

    /// Reads one more chunk, or ends the answer.
    async fn advance(&mut self) {
        let chunk = if self.reader.has_stopped() {
            match timeout(STOP_GRACE, self.body.chunk(&self.origin)).await {
                Ok(chunk) => chunk,
                Err(_) => Ok(None),
            }
        } else {
            self.body.chunk(&self.origin).await
        };
        match chunk {
            Ok(Some(bytes)) => {
                let outcome = self.reader.push(bytes.as_ref(), &mut self.events);
                self.failure = outcome.err().map(|fault| fail(&self.origin, fault));
            }
            Ok(None) => self.end(),
            // The model had said why it stopped: only the good-bye is missing.
            Err(_) if self.reader.has_stopped() => self.end(),
            // What was read before is handed out; the missing terminal event tells of the cut.
            Err(BodyFault::Cut(cause)) => {
                self.cut = Some(Box::new(cause));
                self.ended = true;
            }
            Err(BodyFault::Late(failure)) => self.failure = Some(failure),
            Err(BodyFault::TooLong) => {
                self.failure = Some(misfit(&self.origin, Misfit::TooLong));
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
        let outcome = self.reader.finish(&mut self.events);
        self.failure = outcome.err().map(|fault| fail(&self.origin, fault));
    }
}

fn fail(origin: &Origin, fault: Fault) -> ProviderError {
    match fault {
        Fault::Api(error) => origin.in_stream(error),
        Fault::Protocol(kind) => misfit(origin, kind),
    }
}

fn misfit(origin: &Origin, misfit: Misfit) -> ProviderError {
    const ADDRESS: &str = "check the base URL (most end in `/v1`) and any proxy on the way";
    const SERVER: &str = "is this server compatible with OpenAI's chat completions?";
    let (what, hint) = match misfit {
        Misfit::Html => ("answered with a web page", ADDRESS),
        Misfit::Empty => ("answered with nothing", ADDRESS),
        Misfit::NoJson => ("answered with something that is no completion", SERVER),
        Misfit::NoChoice => ("answered with JSON that holds no completion", SERVER),
        Misfit::TooLong => ("answered with more than is accepted", SERVER),
        Misfit::TooManyCalls => ("answered with more than 1,024 tool calls at once", SERVER),
    };
    origin
        .error(ProviderErrorKind::Protocol, what)
        .with_hint(hint)
}
