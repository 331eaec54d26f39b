//! Starts model servers that others wrote, where they are installed (`.ci/peers` does that).

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    port: u16,
    _fixtures: Option<tempfile::NamedTempFile>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Returns the address that requests are sent below.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns the bodies of the completions that aimock was asked for.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let journal = self.exchange("GET", "/__aimock/journal", &Value::Null);
        let entries: Vec<Value> = serde_json::from_str(&journal).unwrap();
        entries.iter().map(|entry| entry["body"].clone()).collect()
    }

    /// Tells llmock how to behave.
    pub(crate) fn behave(&self, behaviors: Value) {
        let scenario = json!({ "behaviors": behaviors });
        self.exchange("POST", "/_llmock/scenario", &scenario);
    }

    /// Returns what llmock thinks of its client.
    pub(crate) fn verdict(&self) -> String {
        self.exchange("GET", "/_llmock/verdict?format=text", &Value::Null)
    }

    /// Talks to the server's own interface; returns the body of its answer.
    fn exchange(&self, method: &str, path: &str, body: &Value) -> String {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
        body.to_owned()
    }
}

/// The npm package `@copilotkit/aimock` with these fixtures, a few characters a chunk.
pub(crate) fn aimock(fixtures: &Value) -> Option<Peer> {
    let program = installed("node_modules/.bin/llmock", "@copilotkit/aimock")?;
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    write!(file, "{}", json!({ "fixtures": fixtures })).unwrap();
    let mut peer = start(&program, |command, port| {
        command.args(["--port", port, "--log-level", "silent"]);
        command.args(["--chunk-size", "8", "--validate-on-load", "--fixtures"]);
        command.arg(file.path());
    });
    peer._fixtures = Some(file);
    Some(peer)
}

/// The PyPI package `llmock`, which also judges its clients.
pub(crate) fn llmock() -> Option<Peer> {
    let program = installed("venv/bin/llmock", "llmock")?;
    Some(start(&program, |command, port| {
        command.args(["serve", "--host", "127.0.0.1", "--log-level", "critical"]);
        command.args(["--port", port]);
    }))
}

/// Returns the program below the directory of peers, or says why the test is skipped.
fn installed(program: &str, package: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "where servers are installed is the machine's"
    )]
    let directory = std::env::var_os("TEKNE_PEERS");
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers");
    let path = directory.map_or_else(default, PathBuf::from).join(program);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: `{package}` is not installed; `.ci/peers` installs it");
    None
}

fn start(program: &Path, arguments: impl Fn(&mut Command, &str)) -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut command = Command::new(program);
    arguments(&mut command, &port.to_string());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut peer = Peer {
        child: command.spawn().unwrap(),
        port,
        _fixtures: None,
    };
    for _ in 0..1200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return peer;
        }
        if let Some(status) = peer.child.try_wait().unwrap() {
            panic!("`{}` ended at its start: {status}", program.display());
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("`{}` does not listen after 30 s", program.display());
}
