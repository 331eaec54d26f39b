//! Looks for a model server on this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::connect::{parse_base_url, with_path};
use crate::dialects::dialect;
use crate::http::{HttpClient, Timeouts};

/// The dialects of local servers, most likely first.
const LOCAL: &[&str] = &["ollama", "llamacpp", "lmstudio"];

/// A model server found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The dialect it speaks.
    pub dialect: &'static str,
    /// Its base URL.
    pub base_url: String,
    /// The first model of its list.
    pub model: String,
}

/// Returns the first local server that lists a model within `limit`.
///
/// Ollama, llama.cpp and LM Studio are asked at the same time on their usual ports; where several
/// answer, that order decides. Ports on which nothing listens cost a refused connection each.
pub async fn probe_local(limit: Duration) -> Option<LocalServer> {
    let known = LOCAL.iter().filter_map(|name| dialect(name));
    let addresses = known.map(|dialect| (dialect.name, dialect.base_url.to_owned()));
    first_of(addresses.collect(), limit).await
}

async fn first_of(addresses: Vec<(&'static str, String)>, limit: Duration) -> Option<LocalServer> {
    let asked = addresses.into_iter().map(|(dialect, base_url)| async move {
        let model = timeout(limit, first_model(&base_url)).await.ok()??;
        Some(LocalServer {
            dialect,
            base_url,
            model,
        })
    });
    join_all(asked).await.into_iter().flatten().next()
}

async fn first_model(base_url: &str) -> Option<String> {
    let base = parse_base_url(base_url).ok()?;
    // A refused connection is the usual case and must not cost building a client.
    let port = base.port_or_known_default()?;
    let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    drop(socket.await.ok()?);
    let url = with_path(base, "models");
    let client = HttpClient::new(&url, Timeouts::default()).ok()?;
    model_of(&client.get(url).await?)
}

/// Returns the first id of a model list; anything else that listens on the port has none.
fn model_of(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let id = body.pointer("/data/0/id")?.as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}
