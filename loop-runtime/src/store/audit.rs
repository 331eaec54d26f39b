//! Audit records in one SQLite file: only ever added to, durable when the call returns.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, params};
use skill_core::{AuditError, AuditRecord, AuditSink};

use super::database::Identity;

const IDENTITY: Identity = Identity {
    // "teka" in ASCII.
    application: 0x7465_6b61,
    version: 1,
};

const SCHEMA: &str = "
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TRIGGER records_stay_as_they_are BEFORE UPDATE ON records
BEGIN SELECT raise(ABORT, 'an audit record does not change'); END;
CREATE TRIGGER records_stay BEFORE DELETE ON records
BEGIN SELECT raise(ABORT, 'an audit record is not deleted'); END;
";

/// Keeps audit records in one file.
///
/// Calls block their thread for as long as the disk takes.
#[derive(Debug)]
pub struct SqliteAudit {
    connection: Mutex<Connection>,
}

impl SqliteAudit {
    /// Opens the file at `path`, making it if it is not there.
    ///
    /// # Errors
    ///
    /// [`AuditError`] when it cannot be made, is of a later version, or is something else.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let (connection, found) = IDENTITY
            .open(path, SCHEMA)
            .map_err(|error| failed(format!("{} cannot be opened", path.display()), error))?;
        if found != IDENTITY {
            return Err(AuditError {
                problem: format!("{} is no audit file of this version", path.display()),
                source: None,
            });
        }
        Ok(Self {
            connection: Mutex::new(connection),
        })
    }

    /// Returns the last `limit` records, newest first.
    ///
    /// # Errors
    ///
    /// [`AuditError`] when they cannot be read.
    pub fn latest(&self, limit: usize) -> Result<Vec<AuditRecord>, AuditError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let connection = self.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        let bodies = connection
            .prepare_cached("SELECT body FROM records ORDER BY number DESC LIMIT ?1")
            .and_then(|mut statement| {
                let rows = statement.query_map([limit], |row| row.get::<_, String>(0))?;
                rows.collect::<Result<Vec<String>, _>>()
            })
            .map_err(|error| failed("the records cannot be read".to_owned(), error))?;
        let read = |body: String| {
            serde_json::from_str(&body).map_err(|error| AuditError {
                problem: "a record is damaged".to_owned(),
                source: Some(Box::new(error)),
            })
        };
        bodies.into_iter().map(read).collect()
    }
}

impl AuditSink for SqliteAudit {
    fn record(&self, record: &AuditRecord) -> Result<(), AuditError> {
        let body = serde_json::to_string(record).map_err(|error| AuditError {
            problem: "it cannot be written down".to_owned(),
            source: Some(Box::new(error)),
        })?;
        let connection = self.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection
            .prepare_cached(
                "INSERT INTO records (at_ms, action, outcome, subject, body)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    record.at_ms,
                    record.action.as_str(),
                    record.outcome.as_str(),
                    record.subject,
                    body
                ])
            })
            .map(drop)
            .map_err(|error| failed("the file cannot be written".to_owned(), error))
    }
}

fn failed(problem: String, error: rusqlite::Error) -> AuditError {
    AuditError {
        problem,
        source: Some(Box::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use skill_core::{AuditAction, AuditOutcome};

    use super::*;

    fn record(number: u64) -> AuditRecord {
        AuditRecord {
            at_ms: number,
            actor: "local user".to_owned(),
            action: AuditAction::Register,
            subject: format!("pdf@{number}"),
            digest: number.is_multiple_of(2).then(|| "d".to_owned()),
            outcome: AuditOutcome::Done,
            reason: None,
        }
    }

    #[test]
    fn records_of_several_writers_are_there_after_a_restart_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || SqliteAudit::open(path).unwrap().record(&record(number)));
            }
        });
        let audit = SqliteAudit::open(&path).unwrap();
        audit.record(&record(9)).unwrap();
        let latest = audit.latest(2).unwrap();
        assert_eq!((latest.len(), &latest[0]), (2, &record(9)));
        assert_eq!(audit.latest(usize::MAX).unwrap().len(), 9);
    }

    #[test]
    fn a_record_neither_changes_nor_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let audit = SqliteAudit::open(&path).unwrap();
        audit.record(&record(1)).unwrap();
        let other = Connection::open(&path).unwrap();
        assert!(other.execute("DELETE FROM records", []).is_err());
        assert!(
            other
                .execute("UPDATE records SET subject = 'x'", [])
                .is_err()
        );
        assert_eq!(audit.latest(9).unwrap(), [record(1)]);
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE mine (x)").unwrap();
        let before = std::fs::read(&path).unwrap();
        assert!(SqliteAudit::open(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before);
        std::fs::write(
            folder.path().join("text"),
            "not a database, but long enough for one",
        )
        .unwrap();
        assert!(SqliteAudit::open(&folder.path().join("text")).is_err());
    }
}
