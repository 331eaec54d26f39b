//! A TCP server that answers each request by a script, down to chunk boundaries and resets.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One act of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends bytes in one write.
    Send(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Ends the connection in good order.
    Close,
    /// Breaks the connection with a reset.
    Reset,
    /// Says nothing more until the client leaves.
    Hang,
}

pub(crate) use Act::{Close, Hang, Pause, Reset};

pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// The head of a stream whose end is the end of the connection.
pub(crate) fn stream_head() -> Act {
    send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// A whole stream in good order; the connection stays open.
pub(crate) fn stream(body: &str) -> Vec<Act> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    vec![send(format!(
        "{head}{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    ))]
}

/// A whole answer of another status or type.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![send(format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}"
    ))]
}

/// A running server; it ends with the test's runtime.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The requests, head and body as they came.
    pub(crate) requests: Vec<String>,
    pub(crate) connections: usize,
    /// Connections on which the client left while the server hung.
    pub(crate) left: usize,
}

impl Server {
    /// Starts a server that answers the first request by the first script, and so on; further
    /// requests are answered 500.
    pub(crate) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let scripts = Arc::new(Mutex::new(scripts.into_iter()));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                lock(&shared).connections += 1;
                let (scripts, seen) = (Arc::clone(&scripts), Arc::clone(&shared));
                tokio::spawn(serve(connection, move || lock(&scripts).next(), seen));
            }
        });
        Self { base_url, seen }
    }

    pub(crate) fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    mut connection: TcpStream,
    next: impl Fn() -> Option<Vec<Act>>,
    seen: Arc<Mutex<Seen>>,
) {
    while let Some(request) = read_request(&mut connection).await {
        lock(&seen).requests.push(request);
        for act in next().unwrap_or_else(|| answer(500, "", "")) {
            match act {
                Act::Send(bytes) => {
                    if connection.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Act::Pause(duration) => tokio::time::sleep(duration).await,
                Act::Close => return,
                Act::Reset => {
                    let _ = connection.set_zero_linger();
                    return;
                }
                Act::Hang => {
                    let _ = connection.read(&mut [0; 64]).await;
                    lock(&seen).left += 1;
                    return;
                }
            }
        }
    }
}

/// Reads a head and as much body as it declares; `None` when the client is gone.
async fn read_request(connection: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0_usize) {
                return Some(text.into_owned());
            }
        }
        let mut buffer = [0; 4096];
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
        }
    }
}
