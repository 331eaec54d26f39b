//! An incremental decoder of server-sent events: bytes in, events out, never any I/O.
//!
//! It follows <https://html.spec.whatwg.org/multipage/server-sent-events.html> in framing, and
//! differs in one point on purpose: [`SseDecoder::finish`] hands out a last event whose closing
//! blank line is missing, because real servers forget it.

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The event's name; empty for the default.
    pub(crate) name: String,
    /// The data lines, joined with line feeds.
    pub(crate) data: String,
}

/// An event, or a line of one, is longer than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {cap} bytes")]
pub(crate) struct EventTooLong {
    cap: usize,
}

/// Turns chunks of bytes, cut anywhere, into events.
///
/// Lines are framed as bytes and decoded when their event is complete, so a character cut by a
/// chunk boundary stays whole. Every byte is looked at once and copied at most twice.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    cap: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    name: Vec<u8>,
    first_line: bool,
    after_carriage_return: bool,
}

impl SseDecoder {
    /// Returns a decoder that holds at most `cap` bytes of an event.
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap,
            line: Vec::new(),
            data: Vec::new(),
            name: Vec::new(),
            first_line: true,
            after_carriage_return: false,
        }
    }

    /// Reads `chunk` and appends the events it completes to `events`.
    ///
    /// # Errors
    ///
    /// Fails once an event passes the cap; the events before it have been appended.
    pub(crate) fn push(
        &mut self,
        mut chunk: &[u8],
        events: &mut impl Extend<SseEvent>,
    ) -> Result<(), EventTooLong> {
        if self.after_carriage_return && !chunk.is_empty() {
            self.after_carriage_return = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(end) = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = chunk.split_at(end);
            self.extend_line(line)?;
            self.end_line(events)?;
            chunk = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_carriage_return = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.extend_line(chunk)
    }

    /// Ends the stream and returns the event that was still open, if it holds data.
    ///
    /// Whether that event is whole or was cut only its content can tell.
    pub(crate) fn finish(mut self) -> Option<SseEvent> {
        let mut events = Vec::new();
        // What was accepted before fits the cap, so neither step can fail here.
        let _ = self.end_line(&mut events);
        self.dispatch(&mut events);
        events.pop()
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        self.line.extend_from_slice(bytes);
        self.check(self.line.len())
    }

    fn end_line(&mut self, events: &mut impl Extend<SseEvent>) -> Result<(), EventTooLong> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        let outcome = if text.is_empty() {
            self.dispatch(events);
            Ok(())
        } else {
            self.read_field(text)
        };
        // Hand the allocation back, so that a stream of small lines allocates once.
        self.line = line;
        self.line.clear();
        outcome
    }

    fn read_field(&mut self, line: &[u8]) -> Result<(), EventTooLong> {
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (field, rest) = line.split_at(colon);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
                self.check(self.data.len())
            }
            b"event" => {
                self.name = value.to_vec();
                Ok(())
            }
            // Comments, `id` and `retry` mean nothing to a completion, unknown fields to no one.
            _ => Ok(()),
        }
    }

    fn dispatch(&mut self, events: &mut impl Extend<SseEvent>) {
        let name = std::mem::take(&mut self.name);
        if self.data.is_empty() {
            return;
        }
        if self.data.last() == Some(&b'\n') {
            self.data.pop();
        }
        events.extend([SseEvent {
            name: String::from_utf8_lossy(&name).into_owned(),
            data: String::from_utf8_lossy(&self.data).into_owned(),
        }]);
        self.data.clear();
    }

    fn check(&self, length: usize) -> Result<(), EventTooLong> {
        if length > self.cap {
            return Err(EventTooLong { cap: self.cap });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
