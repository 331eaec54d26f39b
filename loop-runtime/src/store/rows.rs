//! A session out of its rows, as far as they can be read.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

use super::{SessionHeader, SessionRecord};
use crate::journal::JournalEntry;

/// Reads a session, if it is there, up to the first event that cannot be read.
pub(super) fn session(
    connection: &Connection,
    session: &str,
) -> Result<Option<SessionRecord>, rusqlite::Error> {
    let header = connection
        .prepare_cached(
            "SELECT id, created_ms, workspace, assistant, title FROM sessions WHERE id = ?1",
        )?
        .query_row([session], header)
        .optional()?;
    let Some(header) = header else {
        return Ok(None);
    };
    let mut record = SessionRecord {
        header,
        entries: Vec::new(),
        damage: None,
    };
    if let Err(damage) = events(connection, &mut record)? {
        record.damage = Some(damage);
    }
    Ok(Some(record))
}

/// Reads the events of a session into it; the inner error says what is wrong with the next one.
fn events(
    connection: &Connection,
    record: &mut SessionRecord,
) -> Result<Result<(), String>, rusqlite::Error> {
    let session = record.header.id.as_str();
    let mut statement = connection
        .prepare_cached("SELECT seq, at_ms, body FROM events WHERE session = ?1 ORDER BY seq")?;
    let mut rows = statement.query([session])?;
    for expected in 1.. {
        let unreadable = |error: &dyn std::fmt::Display| {
            format!("event {expected} of session `{session}` cannot be read: {error}")
        };
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            // A page that is no more costs what stands on it and after it, not what stands before.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                return Ok(Err(unreadable(&error)));
            }
            Err(error) => return Err(error),
        };
        let (seq, at_ms): (u64, u64) = (row.get(0)?, row.get(1)?);
        if seq != expected {
            return Ok(Err(format!(
                "event {expected} of session `{session}` is missing"
            )));
        }
        match serde_json::from_slice(row.get_ref(2)?.as_bytes()?) {
            Ok(event) => record.entries.push(JournalEntry { seq, at_ms, event }),
            Err(error) => return Ok(Err(unreadable(&error))),
        }
    }
    Ok(Ok(()))
}

/// Reads a header out of the first five columns.
pub(super) fn header(row: &Row<'_>) -> Result<SessionHeader, rusqlite::Error> {
    Ok(SessionHeader {
        id: row.get(0)?,
        created_ms: row.get(1)?,
        workspace: row.get(2)?,
        assistant: row.get(3)?,
        title: row.get(4)?,
    })
}
