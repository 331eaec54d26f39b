//! The client: lean for plain addresses, with its own crypto provider for the others.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, Url, redirect};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use skill_core::{ProviderError, ProviderErrorKind};
use tokio::time::{Instant, timeout_at};

use crate::base_url::is_loopback;
use crate::http::failure::Origin;
use crate::http::retry_after::retry_after;

/// As much of an error's body as is read for its message.
const ERROR_BODY_BYTES: usize = 64 << 10;
/// How long an error's body may take.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);
/// The longest document that is fetched whole.
const DOCUMENT_BYTES: usize = 1 << 20;
/// All that one answer may hold.
const ANSWER_BYTES: usize = 64 << 20;

/// How long each part of an exchange may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request to the first byte of the answer's body; a local model reads a
    /// long prompt in this time.
    pub first_byte: Duration,
    /// Between two bytes of the answer; any byte counts, a comment too.
    pub idle: Duration,
    /// From sending the request to the end of the answer. Each attempt has it anew.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(3600),
        }
    }
}

/// Sends requests to one address.
#[derive(Debug)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    timeouts: Timeouts,
}

impl HttpClient {
    /// Returns a client for `url`.
    ///
    /// Certificates are read only where the scheme is `https`. A loopback address is never asked
    /// through a proxy. Redirects are not followed, so that a key can reach no other host, and
    /// requests are not repeated here: there is one layer that retries.
    pub(crate) fn new(url: &Url, timeouts: Timeouts) -> Result<Self, BuildError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls_config(url.scheme() == "https")?)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(concat!(
                env!("CARGO_PKG_NAME"),
                "/",
                env!("CARGO_PKG_VERSION")
            ))
            .connect_timeout(timeouts.connect);
        if is_loopback(url) {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        Ok(Self { client, timeouts })
    }

    /// Posts `body` as JSON and returns the body of the answer, once its head says success.
    pub(crate) async fn post(
        &self,
        origin: &Origin,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Body, ProviderError> {
        let request = self.client.post(url).headers(headers).body(body);
        let begin = Instant::now();
        let (first_byte, total) = (
            begin + self.timeouts.first_byte,
            begin + self.timeouts.total,
        );
        let response = match timeout_at(first_byte.min(total), request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.sending_failed(origin, error)),
            Err(_) => {
                return Err(late(
                    origin,
                    self.timeouts.first_byte.min(self.timeouts.total),
                ));
            }
        };
        if !response.status().is_success() {
            return Err(status_error(origin, response).await);
        }
        Ok(Body {
            response,
            first_byte,
            total,
            timeouts: self.timeouts,
            received: 0,
        })
    }

    /// Gets a small document; `None` for anything but a success.
    pub(crate) async fn get(&self, url: Url) -> Option<Vec<u8>> {
        let mut response = self.client.get(url).send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > DOCUMENT_BYTES {
                return None;
            }
        }
        Some(body)
    }

    fn sending_failed(&self, origin: &Origin, error: reqwest::Error) -> ProviderError {
        let (what, hint) = if error.is_connect() && error.is_timeout() {
            let seconds = self.timeouts.connect.as_secs_f64();
            (format!("was not reached within {seconds} s"), true)
        } else if error.is_connect() {
            ("cannot be reached".to_owned(), true)
        } else {
            ("broke the connection before it answered".to_owned(), false)
        };
        let mut failure = origin.error(ProviderErrorKind::Unavailable, &what);
        failure.hint = hint.then(|| "is the server running? check the base URL".into());
        failure.source = Some(Box::new(error.without_url()));
        failure
    }
}

/// Why no client can be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// The TLS library refuses its configuration, or the system has no certificates.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// The HTTP library refuses its configuration.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// Returns a configuration with the crypto provider named, so that none is installed globally.
fn tls_config(verify: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    if !verify {
        // No handshake will come: without roots one could only fail.
        let roots = RootCertStore::empty();
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    }
    let mut config = builder.with_platform_verifier()?.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn late(origin: &Origin, limit: Duration) -> ProviderError {
    let what = format!("did not answer within {} s", limit.as_secs_f64());
    origin.error(ProviderErrorKind::Timeout, &what)
}

async fn status_error(origin: &Origin, mut response: Response) -> ProviderError {
    let status = response.status().as_u16();
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let wait = retry_after(
        header("retry-after-ms"),
        header(RETRY_AFTER.as_str()),
        header(DATE.as_str()),
    );
    let deadline = Instant::now() + ERROR_BODY_TIME;
    let mut body = Vec::new();
    while body.len() < ERROR_BODY_BYTES {
        match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            _ => break,
        }
    }
    body.truncate(ERROR_BODY_BYTES);
    origin.status(status, wait, &body)
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    first_byte: Instant,
    total: Instant,
    timeouts: Timeouts,
    received: usize,
}

/// Why no more of a body comes.
#[derive(Debug)]
pub(crate) enum BodyFault {
    /// The connection broke, or the body ended before its declared length.
    Cut(reqwest::Error),
    /// A deadline passed.
    Late(ProviderError),
    /// There is more than an answer may hold.
    TooLong,
}

impl Body {
    /// Returns the value of `content-type`, in lower case.
    pub(crate) fn content_type(&self) -> String {
        let value = self.response.headers().get(CONTENT_TYPE);
        let text = value.and_then(|value| value.to_str().ok());
        text.unwrap_or_default().to_ascii_lowercase()
    }

    /// Returns the next bytes, or `None` at the end.
    pub(crate) async fn chunk(
        &mut self,
        origin: &Origin,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, BodyFault> {
        let (deadline, limit) = if self.received == 0 {
            (self.first_byte, self.timeouts.first_byte)
        } else {
            (Instant::now() + self.timeouts.idle, self.timeouts.idle)
        };
        let outcome = timeout_at(deadline.min(self.total), self.response.chunk()).await;
        match outcome {
            Ok(Ok(chunk)) => {
                let length = chunk.as_ref().map_or(0, |chunk| chunk.len());
                self.received = self.received.saturating_add(length);
                if self.received > ANSWER_BYTES {
                    return Err(BodyFault::TooLong);
                }
                Ok(chunk)
            }
            Ok(Err(error)) => Err(BodyFault::Cut(error.without_url())),
            Err(_) if deadline > self.total => {
                let seconds = self.timeouts.total.as_secs_f64();
                let what = format!("did not finish its answer within {seconds} s");
                Err(BodyFault::Late(
                    origin.error(ProviderErrorKind::Timeout, &what),
                ))
            }
            Err(_) if self.received == 0 => Err(BodyFault::Late(late(origin, limit))),
            Err(_) => {
                let what = format!("fell silent for {} s in its answer", limit.as_secs_f64());
                Err(BodyFault::Late(
                    origin.error(ProviderErrorKind::Timeout, &what),
                ))
            }
        }
    }
}
