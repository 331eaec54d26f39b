//! Requests over the network: no redirects, answers of bounded length, TLS by the system's roots.

use std::fmt;
use std::sync::Arc;

use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::entry::{HttpAnswer, HttpClient, HttpRequest};

/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Sends the requests of executable skills.
#[derive(Clone)]
pub struct WebClient {
    client: reqwest::Client,
}

/// A client that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("no requests can be sent: {message}")]
pub struct WebClientError {
    /// What is wrong.
    pub message: String,
}

impl WebClient {
    /// Returns a client. It follows no redirect: what was allowed is the address that was judged.
    pub fn new() -> Result<Self, WebClientError> {
        Ok(Self { client: client()? })
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebClient")
    }
}

/// Makes a client with the crypto provider named, so that none is installed globally.
pub(crate) fn client() -> Result<reqwest::Client, WebClientError> {
    let fail = |message: String| WebClientError { message };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| fail(error.to_string()))?
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| fail(error.to_string()))
}

#[async_trait::async_trait]
impl HttpClient for WebClient {
    async fn send(&self, request: HttpRequest) -> Result<HttpAnswer, String> {
        // The address may carry a parameter that is nobody's business.
        let told = |error: reqwest::Error| error.without_url().to_string();
        let method = reqwest::Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("`{}` is no method", request.method))?;
        let mut sending = self.client.request(method, &request.url);
        for (name, value) in &request.headers {
            sending = sending.header(name, value);
        }
        if !request.body.is_null() {
            sending = sending
                .header("content-type", "application/json")
                .body(request.body.to_string());
        }
        let mut answer = sending.send().await.map_err(told)?;
        let status = answer.status().as_u16();
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(told)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ANSWER_BYTES {
                body.truncate(MAX_ANSWER_BYTES);
                break;
            }
        }
        Ok(HttpAnswer {
            status,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}
