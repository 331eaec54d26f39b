//! A model server that answers at once: HTTP/1.1 with keep-alive on a thread for each connection.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use super::measure::Program;
use super::scenario;

/// A running server; its threads end with the process.
pub(super) struct Server {
    address: SocketAddr,
    bodies: Arc<Bodies>,
}

/// What was asked since somebody last looked, in the order in which it came.
type Bodies = Mutex<Vec<Value>>;

/// One request, as far as this server cares.
#[derive(Debug, PartialEq)]
struct Request {
    path: String,
    body: Vec<u8>,
}

impl Server {
    pub(super) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let bodies = Arc::new(Bodies::default());
        let shared = Arc::clone(&bodies);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let bodies = Arc::clone(&shared);
                // A client that goes away mid-request ends its own connection only.
                thread::spawn(move || serve(&stream, &bodies));
            }
        });
        Ok(Self { address, bodies })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns what a program sent, after making sure that it is as much as its measure is about.
    pub(super) fn requests(
        &self,
        wanted: usize,
        program: &Program,
    ) -> Result<Vec<Value>, Box<dyn Error>> {
        let sent = std::mem::take(&mut *lock(&self.bodies));
        match sent.len() {
            seen if seen == wanted => Ok(sent),
            seen => Err(format!("`{program}` sent {seen} requests, not {wanted}").into()),
        }
    }
}

fn lock(bodies: &Bodies) -> std::sync::MutexGuard<'_, Vec<Value>> {
    bodies.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: &TcpStream, bodies: &Bodies) -> Result<(), Box<dyn Error + Send + Sync>> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(request) = read_request(&mut reader)? {
        let body: Value = serde_json::from_slice(&request.body)?;
        let events = scenario::answer(&request.path, &body);
        lock(bodies).push(body);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
        let reply = format!("{head}{:x}\r\n{events}\r\n0\r\n\r\n", events.len());
        writer.write_all(reply.as_bytes())?;
    }
    Ok(())
}

/// Reads one request, or `None` when the client has closed the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let Some(first) = read_line(reader)? else {
        return Ok(None);
    };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = Some(0);
    while let Some(line) = read_line(reader)?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok(),
            "transfer-encoding" => length = None,
            _ => {}
        }
    }
    let body = match length {
        Some(length) => read_exactly(reader, length)?,
        None => read_chunks(reader)?,
    };
    Ok(Some(Request { path, body }))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end().to_owned()))
}

fn read_exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = read_line(reader)?.unwrap_or_default();
        let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
        body.extend(read_exactly(reader, size)?);
        read_line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_requests_on_one_connection_are_read_whole() {
        let text = "POST /v1/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}\
                    POST /b HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                    3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n";
        let mut reader = io::Cursor::new(text);
        let mut next = || read_request(&mut reader).unwrap();
        let request = |path: &str, body: &str| {
            Some(Request {
                path: path.to_owned(),
                body: body.as_bytes().to_vec(),
            })
        };
        assert_eq!(next(), request("/v1/a", "{}"));
        assert_eq!(next(), request("/b", "[1,2]"));
        assert_eq!(next(), None);
    }

    #[test]
    fn a_connection_is_answered_in_turn_and_counted() {
        let server = Server::start().unwrap();
        let mut stream = TcpStream::connect(server.address).unwrap();
        let request = "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 15\r\n\r\n\
                       {\"messages\":[]}";
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        for _ in 0..2 {
            stream.write_all(request.as_bytes()).unwrap();
            while read_line(&mut reader)
                .unwrap()
                .is_some_and(|line| !line.is_empty())
            {}
            let events = String::from_utf8(read_chunks(&mut reader).unwrap()).unwrap();
            assert!(events.ends_with("data: [DONE]\n\n"), "{events}");
        }
        assert_eq!(lock(&server.bodies).len(), 2);
    }
}
