//! A session as JSON Lines: what is taken elsewhere, and read back.
//!
//! The first line is the header, each further one an event, in order; a last one says what is wrong
//! with the event after them, if there is one that cannot be read. Every line has its version.

use serde::{Deserialize, Serialize};

use super::{SessionHeader, SessionRecord, StoreError, StoreErrorKind};
use crate::journal::{JOURNAL_VERSION, JournalEntry};

#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Header { session: SessionHeader },
    Entry(JournalEntry),
    Damage { damage: String },
}

/// The version alone: what else stands in a line of a later one is not known.
#[derive(Deserialize)]
struct Version {
    v: u32,
}

impl SessionRecord {
    /// Returns the session as JSON Lines, each with its version, `"v":1`.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Corrupt`] when an event cannot be written as JSON.
    pub fn to_json_lines(&self) -> Result<String, StoreError> {
        let header = Content::Header {
            session: self.header.clone(),
        };
        let entries = self.entries.iter().cloned().map(Content::Entry);
        let damage = self.damage.clone().map(|damage| Content::Damage { damage });
        let mut text = String::new();
        for content in std::iter::once(header).chain(entries).chain(damage) {
            let line = Line {
                v: JOURNAL_VERSION,
                content,
            };
            let line = serde_json::to_string(&line).map_err(|error| {
                wrong("an event cannot be written down".to_owned(), Some(error))
            })?;
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }

    /// Reads what [`SessionRecord::to_json_lines`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Newer`] for a line of a later version, [`StoreErrorKind::Corrupt`] for one
    /// that is no line of a session, or stands in the wrong place; the message has its number.
    pub fn from_json_lines(text: &str) -> Result<Self, StoreError> {
        let mut lines = (1..).zip(text.lines());
        let first = lines.next().map(|(_, line)| content(1, line)).transpose()?;
        let Some(Content::Header { session: header }) = first else {
            let message = "line 1 is not the header of a session".to_owned();
            return Err(wrong(message, None));
        };
        let mut record = Self {
            header,
            entries: Vec::new(),
            damage: None,
        };
        for (number, line) in lines {
            let next = record.entries.last().map_or(1, |entry| entry.seq + 1);
            match content(number, line)? {
                Content::Entry(entry) if entry.seq == next && record.damage.is_none() => {
                    record.entries.push(entry);
                }
                Content::Damage { damage } if record.damage.is_none() => {
                    record.damage = Some(damage);
                }
                _ => {
                    let message = format!("line {number} is not event {next} of the session");
                    return Err(wrong(message, None));
                }
            }
        }
        Ok(record)
    }
}

fn content(number: usize, line: &str) -> Result<Content, StoreError> {
    let unreadable = |error| {
        let message = format!("line {number} is no line of a session");
        wrong(message, Some(error))
    };
    let Version { v } = serde_json::from_str(line).map_err(unreadable)?;
    if v > JOURNAL_VERSION {
        let message =
            format!("line {number} is of a newer version ({v}; this one knows {JOURNAL_VERSION})");
        return Err(StoreError::new(StoreErrorKind::Newer, message));
    }
    let line: Line = serde_json::from_str(line).map_err(unreadable)?;
    Ok(line.content)
}

fn wrong(message: String, source: Option<serde_json::Error>) -> StoreError {
    StoreError {
        kind: StoreErrorKind::Corrupt,
        message,
        source: source.map(Into::into),
    }
}

#[cfg(test)]
mod tests {
    use skill_core::Message;

    use super::*;
    use crate::journal::JournalEvent;

    fn record(damage: Option<&str>) -> SessionRecord {
        let event = |seq| JournalEntry {
            seq,
            at_ms: 10 + seq,
            event: JournalEvent::TurnStarted {
                turn: "t".to_owned(),
                profile: "agent".to_owned(),
                model: "offline".to_owned(),
                agent: "default".to_owned(),
                max_loaded: Some(8),
                input: Message::user("第一步\n\u{0}\u{2028}🙂"),
            },
        };
        SessionRecord {
            header: SessionHeader {
                id: "one".to_owned(),
                created_ms: 1,
                workspace: "/workspace".to_owned(),
                assistant: "default".to_owned(),
                title: "a \"title\"".to_owned(),
            },
            entries: vec![event(1), event(2)],
            damage: damage.map(str::to_owned),
        }
    }

    #[test]
    fn a_session_reads_back_as_it_was_written() {
        for record in [record(None), record(Some("event 3 is missing"))] {
            let text = record.to_json_lines().unwrap();
            assert!(
                text.lines().all(|line| line.starts_with("{\"v\":1,")),
                "{text}"
            );
            assert_eq!(SessionRecord::from_json_lines(&text).unwrap(), record);
        }
    }

    #[test]
    fn a_line_that_is_wrong_or_in_the_wrong_place_is_named() {
        let text = record(None).to_json_lines().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (lines, expected) in [
            (vec![], "line 1 is not the header of a session"),
            (vec![lines[1]], "line 1 is not the header of a session"),
            (
                vec![lines[0], lines[2]],
                "line 2 is not event 1 of the session",
            ),
            (
                vec![lines[0], "{\"v\":1}"],
                "line 2 is no line of a session",
            ),
            (
                vec![lines[0], "{\"v\":2,\"what\":0}"],
                "line 2 is of a newer version (2; this one knows 1)",
            ),
        ] {
            let error = SessionRecord::from_json_lines(&lines.join("\n")).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
