//! What a program writes: its beginning and its end are kept, whatever it writes in between.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much of the beginning and how much of the end of a stream is kept.
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// What a program wrote.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes in between were not kept.
    dropped: u64,
}

/// Reads a stream to its end.
pub(crate) async fn capture(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Captured> {
    let mut captured = Captured::default();
    let Some(mut stream) = stream else {
        return Ok(captured);
    };
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let read = stream.read(&mut buffer).await?;
        match buffer.get(..read) {
            Some(bytes) if !bytes.is_empty() => captured.push(bytes, KEPT_BYTES),
            _ => return Ok(captured),
        }
    }
}

impl Captured {
    fn push(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.head.len()).min(bytes.len());
        let (head, tail) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let over = self.tail.len().saturating_sub(limit);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// Returns it as text; what is not UTF-8 is shown as such.
    pub(crate) fn text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let tail: Vec<u8> = self.tail.into();
        if self.dropped > 0 {
            text.push_str(&format!("\n[{} bytes were not kept]\n", self.dropped));
            text.push_str(&String::from_utf8_lossy(&tail));
        } else if !tail.is_empty() {
            let mut bytes = self.head;
            bytes.extend(tail);
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]], limit: usize) -> String {
        let mut captured = Captured::default();
        pieces.iter().for_each(|piece| captured.push(piece, limit));
        captured.text()
    }

    #[test]
    fn what_fits_is_whole_and_of_more_the_beginning_and_the_end_are_kept() {
        assert_eq!(kept(&[b"abc", b"def"], 4), "abcdef");
        assert_eq!(kept(&["中".as_bytes()], 2), "中");
        assert_eq!(
            kept(&[b"0123456789", b"abc"], 4),
            "0123\n[5 bytes were not kept]\n9abc"
        );
    }
}
