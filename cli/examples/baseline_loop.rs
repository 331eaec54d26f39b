//! The least that a program can do that makes the requests of a turn and keeps its rows: the
//! baseline of `cargo xtask bench run`. Written by hand, for this one turn; it uses nothing of this
//! workspace.
//!
//! `baseline_loop URL REQUEST JOURNAL` posts the request in the file REQUEST to
//! `URL/chat/completions`, reads the files that the answers ask for, and goes on until an answer is
//! text. What happened is written to the SQLite file JOURNAL as `tekne` writes it: the same tables,
//! the same rows, one durable transaction at the same places.

#![expect(clippy::print_stdout, reason = "a program talks")]
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program reads its own clock and folder; a JSON value that is missing reads as null"
)]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn Error>>;

const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    assistant TEXT NOT NULL,
    title TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS events (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID, STRICT;
PRAGMA application_id = 1952803694;
PRAGMA user_version = 1;
";

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, request, journal] = arguments.as_slice() else {
        return Err("usage: baseline_loop URL REQUEST JOURNAL".into());
    };
    let body: Value = serde_json::from_slice(&std::fs::read(request)?)?;
    let client = client()?;
    let mut journal = Journal::open(Path::new(journal))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let url = format!("{url}/chat/completions");
    let text = runtime.block_on(turn(&client, &url, body, &mut journal))?;
    println!("{text}");
    Ok(())
}

/// Builds a client for a plain address: loading certificates would only flatter the other side.
fn client() -> Fallible<reqwest::Client> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let client = reqwest::Client::builder().tls_backend_preconfigured(tls);
    Ok(client.no_proxy().build()?)
}

async fn turn(
    client: &reqwest::Client,
    url: &str,
    mut body: Value,
    journal: &mut Journal,
) -> Fallible<String> {
    let input = body["messages"][1]["content"].clone();
    let started = json!({"kind": "turn_started", "turn": journal.session, "profile": "agent",
        "model": body["model"], "agent": "default", "max_loaded": 8,
        "input": {"role": "user", "content": [{"type": "text", "text": input}]}});
    journal.push(&started);
    journal.commit()?;
    for step in 1.. {
        let sent = body.to_string();
        let requested = json!({"kind": "model_requested", "step": step, "tokens": sent.len(),
            "environment": DIGEST});
        journal.push(&requested);
        let reply = exchange(client, url, sent).await?;
        journal.push(&reply.event(step));
        if reply.name.is_empty() {
            let finished = json!({"kind": "turn_finished", "outcome": "completed",
                "usage": reply.usage, "denied": 0});
            journal.push(&finished);
            journal.commit()?;
            return Ok(reply.text);
        }
        let id = reply.id.clone();
        journal.push(
            &json!({"kind": "tool_started", "call_id": id, "arguments_digest": DIGEST,
            "has_effect": false}),
        );
        let arguments: Value = serde_json::from_str(&reply.arguments)?;
        let path = arguments["path"].as_str().ok_or("a call without a path")?;
        let content = std::fs::read_to_string(path)?;
        let result = json!({"call_id": id, "name": reply.name, "status": "success",
            "content": content});
        journal.push(&json!({"kind": "tool_finished", "result": result, "duration_ms": 0}));
        journal.commit()?;
        let messages = body["messages"].as_array_mut().ok_or("no messages")?;
        messages.push(
            json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
            "function": {"name": reply.name, "arguments": reply.arguments}}]}),
        );
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
    Err("more steps than there are numbers".into())
}

/// An answer, put together from its deltas; at most one call.
#[derive(Default)]
struct Reply {
    text: String,
    id: String,
    name: String,
    arguments: String,
    stop: String,
    usage: Value,
}

impl Reply {
    fn take(&mut self, chunk: &Value) {
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        let add = |to: &mut String, value: &Value| to.push_str(value.as_str().unwrap_or_default());
        add(&mut self.text, &delta["content"]);
        let call = &delta["tool_calls"][0];
        add(&mut self.id, &call["id"]);
        add(&mut self.name, &call["function"]["name"]);
        add(&mut self.arguments, &call["function"]["arguments"]);
        add(&mut self.stop, &choice["finish_reason"]);
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            self.usage = json!({"input": usage["prompt_tokens"],
                "output": usage["completion_tokens"], "cached": 0});
        }
    }

    fn event(&self, step: u32) -> Value {
        let (content, stop) = if self.name.is_empty() {
            (json!({"type": "text", "text": self.text}), "end_turn")
        } else {
            let call = json!({"type": "tool_call", "id": self.id, "name": self.name,
                "arguments": self.arguments});
            (call, "tool_calls")
        };
        json!({"kind": "model_replied", "step": step, "stop": stop, "usage": self.usage,
            "message": {"role": "assistant", "content": [content]}})
    }
}

async fn exchange(client: &reqwest::Client, url: &str, body: String) -> Fallible<Reply> {
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .body(body);
    let mut response = request.send().await?.error_for_status()?;
    let mut reply = Reply::default();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        while let Some(end) = bytes.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = bytes.drain(..end + 2).collect();
            if let Some(event) = event.strip_prefix(b"data: ")
                && !event.starts_with(b"[DONE]")
            {
                reply.take(&serde_json::from_slice(event)?);
            }
        }
    }
    Ok(reply)
}

/// The rows of one session.
struct Journal {
    connection: Connection,
    session: String,
    stored: bool,
    seq: u64,
    waiting: Vec<(u64, u64, String)>,
}

impl Journal {
    fn open(path: &Path) -> Fallible<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self {
            connection,
            session: format!("{:032x}", now_ms()?),
            stored: false,
            seq: 0,
            waiting: Vec::new(),
        })
    }

    fn push(&mut self, event: &Value) {
        self.seq += 1;
        let at = now_ms().unwrap_or_default();
        self.waiting.push((self.seq, at, event.to_string()));
    }

    fn commit(&mut self) -> Fallible<()> {
        let transaction = self.connection.transaction()?;
        if !self.stored {
            let folder = std::env::current_dir()?.display().to_string();
            transaction.execute(
                "INSERT INTO sessions (id, created_ms, workspace, assistant, title)
                 VALUES (?1, ?2, ?3, 'default', 'by hand')",
                params![self.session, now_ms()?, folder],
            )?;
            self.stored = true;
        }
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO events (session, seq, at_ms, body) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (seq, at, body) in self.waiting.drain(..) {
                insert.execute(params![self.session, seq, at, body])?;
            }
        }
        Ok(transaction.commit()?)
    }
}

fn now_ms() -> Fallible<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(u64::try_from(since.as_millis())?)
}
