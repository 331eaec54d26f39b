//! A model server of our own, for what no other server does: hang, wait for a word, speak HTML.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::harness::{Ran, World};

/// One answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A streamed text.
    Text(&'static str),
    /// Streamed tool calls: name and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// A status with further header lines and a body.
    Status(u16, &'static str, &'static str),
    /// The beginning of a stream, and then nothing.
    HangAfter(&'static str),
    /// Nothing at all.
    Hang,
    /// An answer that is held back until [`Server::release`].
    Held(Box<Answer>),
}

/// A server that gives each request the next of its answers; it ends with the test.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base_url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    release: Sender<()>,
}

impl Server {
    /// Starts a server.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (release, held) = channel();
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            // Connections that hang stay open until the test ends.
            let mut open = Vec::new();
            for answer in answers {
                let Ok((connection, _)) = listener.accept() else {
                    return;
                };
                if let Some(request) = read_request(&connection) {
                    lock(&seen).push(request);
                    open.extend(reply(connection, answer, &held));
                }
            }
            // Without answers left nobody is served.
            while let Ok((connection, _)) = listener.accept() {
                if let Some(request) = read_request(&connection) {
                    lock(&seen).push(request);
                    reply(
                        connection,
                        Answer::Status(500, "", "no answer is left"),
                        &held,
                    );
                }
            }
        });
        Self {
            base_url,
            requests,
            release,
        }
    }

    /// Lets the answer go that is held back.
    pub(crate) fn release(&self) {
        self.release.send(()).unwrap();
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        lock(&self.requests).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one request; returns its body.
fn read_request(connection: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Answers; returns the connection when it has to stay open.
fn reply(mut connection: TcpStream, answer: Answer, held: &Receiver<()>) -> Option<TcpStream> {
    match answer {
        Answer::Held(answer) => {
            held.recv().ok()?;
            return reply(connection, *answer, held);
        }
        Answer::Hang => return Some(connection),
        Answer::HangAfter(text) => {
            let _ = connection.write_all(stream(&[delta(text)], false).as_bytes());
            return Some(connection);
        }
        Answer::Text(text) => {
            let chunks = [delta(text), finish("stop")];
            let _ = connection.write_all(stream(&chunks, true).as_bytes());
        }
        Answer::Calls(calls) => {
            let chunks = [calling(&calls), finish("tool_calls")];
            let _ = connection.write_all(stream(&chunks, true).as_bytes());
        }
        Answer::Status(status, headers, body) => {
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = connection.write_all(text.as_bytes());
        }
    }
    None
}

fn stream(chunks: &[Value], done: bool) -> String {
    let mut text = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    );
    for chunk in chunks {
        text.push_str(&format!("data: {chunk}\n\n"));
    }
    if done {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

fn choice(delta: Value, finish: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": delta, "finish_reason": finish}
    ]})
}

fn delta(text: &str) -> Value {
    choice(json!({"role": "assistant", "content": text}), Value::Null)
}

fn finish(reason: &str) -> Value {
    choice(json!({}), reason.into())
}

fn calling(calls: &[(&'static str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({"index": index, "id": format!("call_{index}"), "type": "function",
                   "function": {"name": name, "arguments": arguments.to_string()}})
        })
        .collect();
    choice(
        json!({"role": "assistant", "tool_calls": calls}),
        Value::Null,
    )
}

/// Runs a task in which the model makes these calls and then says that it is done.
pub(crate) fn run_calls(world: &World, calls: Vec<(&'static str, Value)>, options: &[&str]) -> Ran {
    let server = Server::start(vec![Answer::Calls(calls), Answer::Text("done")]);
    let mut arguments = vec!["--model", "mock/m", "--base-url", &server.base_url];
    arguments.extend(["--json", "run"]);
    arguments.extend(options);
    arguments.push("Do it");
    world.run(&arguments)
}
