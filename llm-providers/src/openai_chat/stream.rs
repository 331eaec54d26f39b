//! From the bytes of an answer to completion events; pure, so that it can be cut anywhere in tests.

use std::collections::VecDeque;

use serde_json::Value;
use skill_core::{CompletionEvent, StopReason, Usage};

use crate::http::ApiError;
use crate::openai_chat::calls::Calls;
use crate::openai_chat::wire::{Choice, Chunk, Content, Delta, Part};
use crate::sse::{SseDecoder, SseEvent};

/// All that one event, or an answer that is not streamed, may hold.
const EVENT_BYTES: usize = 8 << 20;

/// Why bytes are no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// They are not of the protocol.
    Protocol(Misfit),
    /// They tell of an error.
    Api(ApiError),
}

/// How bytes miss the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    Html,
    Empty,
    NoJson,
    TooLong,
    NoChoice,
    TooManyCalls,
}

/// Reads one answer.
#[derive(Debug)]
pub(super) struct AnswerReader {
    form: Form,
    answer: Answer,
}

#[derive(Debug)]
enum Form {
    /// Nothing but white space so far.
    Unknown,
    Events(SseDecoder),
    /// One JSON object, from a server that does not stream.
    Whole(Vec<u8>),
}

impl AnswerReader {
    pub(super) fn new() -> Self {
        Self {
            form: Form::Unknown,
            answer: Answer::default(),
        }
    }

    /// Tells whether the server said that the answer is over.
    pub(super) fn is_complete(&self) -> bool {
        self.answer.done
    }

    /// Tells whether the model stopped; usage may still follow.
    pub(super) fn has_stopped(&self) -> bool {
        self.answer.done || self.answer.stop.is_some()
    }

    /// Reads more bytes and appends the events they make.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        events: &mut VecDeque<CompletionEvent>,
    ) -> Result<(), Fault> {
        if matches!(self.form, Form::Unknown) {
            let Some(form) = detect(bytes)? else {
                return Ok(());
            };
            self.form = form;
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                if body.len() > EVENT_BYTES {
                    return Err(Fault::Protocol(Misfit::TooLong));
                }
                Ok(())
            }
            Form::Events(decoder) => {
                let mut decoded = Vec::new();
                let outcome = decoder.push(bytes, &mut decoded);
                for event in &decoded {
                    self.answer.event(event, events)?;
                }
                outcome.map_err(|_| Fault::Protocol(Misfit::TooLong))
            }
        }
    }

    /// Ends the answer and appends what is left; the terminal event only if the answer is whole.
    ///
    /// # Errors
    ///
    /// Fails for an answer that never began. One that was cut is no error here: it just ends.
    pub(super) fn finish(&mut self, events: &mut VecDeque<CompletionEvent>) -> Result<(), Fault> {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => return Err(Fault::Protocol(Misfit::Empty)),
            Form::Whole(body) => self.answer.whole(&body, events)?,
            Form::Events(decoder) => {
                // A last event without its blank line counts if it can be read; else it was cut.
                if let Some(event) = decoder.finish().filter(is_readable) {
                    self.answer.event(&event, events)?;
                }
            }
        }
        self.answer.finish(events)
    }
}

/// Tells by the first byte what an answer is; headers lie more often.
fn detect(bytes: &[u8]) -> Result<Option<Form>, Fault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match text.trim_ascii_start().first() {
        None => Ok(None),
        Some(b'<') => Err(Fault::Protocol(Misfit::Html)),
        Some(b'{' | b'[') => Ok(Some(Form::Whole(Vec::new()))),
        Some(_) => Ok(Some(Form::Events(SseDecoder::new(EVENT_BYTES)))),
    }
}

fn is_readable(event: &SseEvent) -> bool {
    is_done(event) || serde_json::from_str::<serde::de::IgnoredAny>(&event.data).is_ok()
}

fn is_done(event: &SseEvent) -> bool {
    event.data.trim() == "[DONE]"
}

/// What is known of an answer so far.
#[derive(Debug, Default)]
struct Answer {
    calls: Calls,
    stop: Option<StopReason>,
    usage: Usage,
    refused: bool,
    /// Text or reasoning was seen.
    spoke: bool,
    /// The server said that nothing follows.
    done: bool,
    finished: bool,
}

impl Answer {
    fn event(
        &mut self,
        event: &SseEvent,
        events: &mut VecDeque<CompletionEvent>,
    ) -> Result<(), Fault> {
        if self.done || event.data.trim().is_empty() {
            return Ok(());
        }
        if is_done(event) {
            self.done = true;
            return self.finish(events);
        }
        let chunk: Chunk = parse(event.data.as_bytes())?;
        if event.name == "error" && chunk.error.is_none() {
            return Err(api_error(event.data.as_bytes()));
        }
        self.chunk(chunk, event.data.as_bytes(), events)
    }

    fn whole(&mut self, body: &[u8], events: &mut VecDeque<CompletionEvent>) -> Result<(), Fault> {
        let chunk: Chunk = parse(body)?;
        if chunk.error.is_none() && chunk.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(Fault::Protocol(Misfit::NoChoice));
        }
        self.chunk(chunk, body, events)?;
        // The body was read to its end, so the answer is whole even without a finish reason.
        self.done = true;
        Ok(())
    }

    fn chunk(
        &mut self,
        chunk: Chunk,
        text: &[u8],
        events: &mut VecDeque<CompletionEvent>,
    ) -> Result<(), Fault> {
        let is_error = chunk.error.as_ref().is_some_and(|error| !error.is_null())
            || chunk.object.as_ref().and_then(Value::as_str) == Some("error");
        if is_error {
            return Err(api_error(text));
        }
        let groq = chunk.x_groq.as_ref().and_then(|value| value.get("usage"));
        if let Some(usage) = chunk
            .usage
            .as_ref()
            .filter(|usage| usage.is_object())
            .or(groq)
        {
            self.usage = usage_of(usage);
        }
        let choices = chunk.choices.unwrap_or_default().into_iter();
        // Only one choice is ever asked for.
        for choice in choices.filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.choice(choice, events);
        }
        if self.calls.are_too_many() {
            return Err(Fault::Protocol(Misfit::TooManyCalls));
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice, events: &mut VecDeque<CompletionEvent>) {
        if let Some(delta) = choice.delta {
            self.delta(delta, events);
        } else if let Some(mut message) = choice.message {
            // A whole message lists its calls without numbers.
            for (index, call) in message.tool_calls.iter_mut().flatten().enumerate() {
                call.index = u64::try_from(index).ok();
            }
            self.delta(message, events);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(stop_reason(reason));
        }
    }

    fn delta(&mut self, delta: Delta, events: &mut VecDeque<CompletionEvent>) {
        let reasoning = delta.reasoning_content.or(delta.reasoning);
        self.say(reasoning, CompletionEvent::ReasoningDelta, events);
        match delta.content {
            Some(Content::Text(text)) => {
                self.say(Some(text), CompletionEvent::TextDelta, events);
            }
            Some(Content::Parts(parts)) => {
                for part in parts {
                    let thinking = part.thinking.map(|parts| joined(&parts));
                    self.say(thinking, CompletionEvent::ReasoningDelta, events);
                    self.say(part.text, CompletionEvent::TextDelta, events);
                }
            }
            Some(Content::Other(_)) | None => {}
        }
        self.refused |= delta.refusal.as_ref().is_some_and(|text| !text.is_empty());
        self.say(delta.refusal, CompletionEvent::TextDelta, events);
        for piece in delta.tool_calls.unwrap_or_default() {
            events.extend(self.calls.push(piece));
        }
    }

    fn say(
        &mut self,
        text: Option<String>,
        event: fn(String) -> CompletionEvent,
        events: &mut VecDeque<CompletionEvent>,
    ) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.spoke = true;
            events.push_back(event(text));
        }
    }

    /// Appends the terminal event if the answer is whole, once.
    fn finish(&mut self, events: &mut VecDeque<CompletionEvent>) -> Result<(), Fault> {
        if self.finished || !(self.done || self.stop.is_some()) {
            return Ok(());
        }
        if self.stop.is_none() && !self.spoke && self.calls.is_empty() {
            return Err(Fault::Protocol(Misfit::Empty));
        }
        self.finished = true;
        self.done = true;
        events.extend(self.calls.finish());
        let stop = match self.stop.take() {
            _ if self.refused => StopReason::Refused,
            // Some servers end an answer that calls tools like any other.
            Some(StopReason::EndTurn) | None if !self.calls.is_empty() => StopReason::ToolCalls,
            None => StopReason::EndTurn,
            Some(stop) => stop,
        };
        events.push_back(CompletionEvent::Finished {
            stop,
            usage: self.usage,
        });
        Ok(())
    }
}

fn parse(text: &[u8]) -> Result<Chunk, Fault> {
    serde_json::from_slice(text).map_err(|_| {
        match serde_json::from_slice::<Value>(text) {
            // An error may stand where a chunk is expected, in a shape of its own.
            Ok(value) if value.get("error").or(value.pointer("/0/error")).is_some() => {
                Fault::Api(ApiError::from_body(&value))
            }
            _ => Fault::Protocol(Misfit::NoJson),
        }
    })
}

fn api_error(text: &[u8]) -> Fault {
    let value: Value = serde_json::from_slice(text).unwrap_or_default();
    Fault::Api(ApiError::from_body(&value))
}

fn joined(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| part.text.as_deref())
        .collect()
}

fn stop_reason(reason: String) -> StopReason {
    match reason.as_str() {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" | "model_length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refused,
        _ => StopReason::Other(reason),
    }
}

fn usage_of(usage: &Value) -> Usage {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Usage {
        input: number("/prompt_tokens").unwrap_or(0),
        output: number("/completion_tokens").unwrap_or(0),
        cached: number("/prompt_tokens_details/cached_tokens")
            .or_else(|| number("/prompt_cache_hit_tokens"))
            .unwrap_or(0),
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
