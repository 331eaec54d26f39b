//! Starts mock model servers that others wrote, where they are installed (`.ci/peers` does that).

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::TcpStream;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The npm package `@copilotkit/aimock` with fixtures of ours.
pub(crate) async fn aimock(fixtures: &Path) -> Option<Peer> {
    let program = installed("node_modules/.bin/llmock", "@copilotkit/aimock")?;
    start(&program, |command, port| {
        command.args([
            "--port",
            port,
            "--log-level",
            "silent",
            "--chunk-size",
            "4",
            "--fixtures",
        ]);
        command.arg(fixtures);
    })
    .await
}

/// The PyPI package `llmock`, which also judges its clients.
pub(crate) async fn llmock() -> Option<Peer> {
    let program = installed("venv/bin/llmock", "llmock")?;
    start(&program, |command, port| {
        command.args([
            "serve",
            "--host",
            "127.0.0.1",
            "--log-level",
            "critical",
            "--port",
            port,
        ]);
    })
    .await
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

async fn start(program: &Path, arguments: impl Fn(&mut Command, &str)) -> Option<Peer> {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut command = Command::new(program);
    arguments(&mut command, &port.to_string());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut peer = Peer {
        child: command.spawn().unwrap(),
        port,
    };
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Some(peer);
        }
        if let Some(status) = peer.child.try_wait().unwrap() {
            panic!("`{}` ended at its start: {status}", program.display());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("`{}` does not listen after 30 s", program.display());
}
