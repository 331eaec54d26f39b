//! Looks for a model server on this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::base_url::{BaseUrl, with_path};
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
    let base = base_url.parse::<BaseUrl>().ok()?.into_url();
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::{LocalServer, first_of, model_of};

    const LIMIT: Duration = Duration::from_secs(5);

    /// Answers every request with `body` and returns the base URL.
    async fn serve(body: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let mut request = [0; 1024];
                while matches!(connection.read(&mut request).await, Ok(1..)) {
                    let _ = connection
                        .write_all(format!("{head}{body}").as_bytes())
                        .await;
                }
            }
        });
        format!("http://{address}/v1")
    }

    const MODELS: &str = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"other"}]}"#;
    const CLOSED: &str = "http://127.0.0.1:1/v1";

    #[tokio::test]
    async fn the_first_in_order_that_lists_a_model_is_taken() {
        let (other, second, third) = (
            serve("<html>").await,
            serve(MODELS).await,
            serve(MODELS).await,
        );
        let addresses = vec![
            ("ollama", CLOSED.into()),
            ("llamacpp", other),
            ("vllm", second.clone()),
            ("lmstudio", third),
        ];
        let expected = LocalServer {
            dialect: "vllm",
            base_url: second,
            model: "qwen3:8b".into(),
        };
        assert_eq!(first_of(addresses, LIMIT).await, Some(expected));
    }

    #[tokio::test]
    async fn a_server_that_does_not_answer_in_time_is_none() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let silent = format!("http://{}/v1", listener.local_addr().unwrap());
        let found = first_of(vec![("ollama", silent)], Duration::from_millis(50)).await;
        assert_eq!(found, None);
    }

    #[test]
    fn only_a_model_list_has_a_model() {
        assert_eq!(model_of(MODELS.as_bytes()).as_deref(), Some("qwen3:8b"));
        for body in ["", "{}", r#"{"data":[]}"#, r#"{"data":[{"id":""}]}"#, "[1]"] {
            assert_eq!(model_of(body.as_bytes()), None, "{body}");
        }
    }
}
