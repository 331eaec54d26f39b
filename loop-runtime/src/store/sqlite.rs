//! A store in one SQLite file: write-ahead log, full synchronisation, one short transaction a call.
//!
//! Calls block their thread for as long as the disk takes to make the transaction durable.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior,
    params,
};

use super::database::{Identity, is_empty};
use super::lock::FileLock;
use super::{
    Lease, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError, StoreErrorKind,
    memory::follows, rows,
};
use crate::journal::JournalEntry;

/// The version of the tables and of what stands in them.
pub(super) const VERSION: i64 = 1;

const IDENTITY: Identity = Identity {
    // "tekn" in ASCII.
    application: 0x7465_6b6e,
    version: VERSION,
};

const SCHEMA: &str = "
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    assistant TEXT NOT NULL,
    title TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE events (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID, STRICT;
";

/// Keeps sessions in one file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
    /// Folder of the locks of sessions, beside the file.
    locks: PathBuf,
}

impl SqliteStore {
    /// Opens the store at `path`, making file and tables if they are not there.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Io`] when the file cannot be made or written,
    /// [`StoreErrorKind::Newer`] when a later version wrote it, [`StoreErrorKind::Corrupt`] when
    /// it is no store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        check_kind(path)?;
        let (connection, found) = IDENTITY
            .open(path, SCHEMA)
            .map_err(|error| failed(&format!("cannot open {}", path.display()), error))?;
        check_identity(found, path)?;
        Ok(Self {
            connection: Mutex::new(connection),
            locks: path.with_extension("locks"),
        })
    }

    /// Opens the store at `path` for reading only; it must exist.
    ///
    /// A file without tables, which a crash leaves when it comes before the first session, reads as
    /// an empty store; one that lost its end is read as far as it goes.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        check_kind(path)?;
        let (connection, found) = read_only(path)
            .map_err(|error| failed(&format!("cannot read {}", path.display()), error))?;
        check_identity(found, path)?;
        Ok(Self {
            connection: Mutex::new(connection),
            locks: path.with_extension("locks"),
        })
    }

    /// Looks for damage: of the file, and of each session in it.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::open`]; damage itself is what is returned.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.lock();
        let failed = |error| failed("cannot check the store", error);
        let mut damage: Vec<String> = connection
            .prepare("PRAGMA quick_check(8)")
            .and_then(|mut check| check.query_map([], |row| row.get(0))?.collect())
            .map_err(failed)?;
        damage.retain(|line| line != "ok");
        let sessions: Vec<String> = connection
            .prepare("SELECT id FROM sessions ORDER BY id")
            .and_then(|mut sessions| sessions.query_map([], |row| row.get(0))?.collect())
            .map_err(failed)?;
        for session in sessions {
            let record = rows::session(&connection, &session).map_err(failed)?;
            damage.extend(record.and_then(|record| record.damage));
        }
        Ok(damage)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(
        &self,
        session: &str,
        act: impl FnOnce(&Transaction<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let written = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let value = act(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        written.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) if is_key(&error) => StoreError::conflict(session),
            _ => failed(&format!("cannot write session `{session}`"), error),
        })
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        if !follows(events, 0) {
            return Err(StoreError::conflict(&header.id));
        }
        let bodies = bodies(events)?;
        self.write(&header.id, |transaction| {
            insert_header(transaction, header)?;
            insert_events(transaction, &header.id, events, &bodies)
        })
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        let bodies = bodies(events)?;
        self.write(session, |transaction| {
            let last: Option<Option<u64>> = transaction
                .prepare_cached(
                    "SELECT (SELECT max(seq) FROM events WHERE session = id)
                     FROM sessions WHERE id = ?1",
                )?
                .query_row([session], |row| row.get(0))
                .optional()?;
            let Some(last) = last.map(Option::unwrap_or_default) else {
                return Ok(Err(StoreError::not_found(session)));
            };
            if !follows(events, last) {
                return Ok(Err(StoreError::conflict(session)));
            }
            insert_events(transaction, session, events, &bodies).map(Ok)
        })?
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        // An id names a file here; the ids of this runtime are letters and digits.
        let name: String = session
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        match FileLock::take(&self.locks.join(name)) {
            Ok(Some(lock)) => Ok(Lease::new(lock)),
            Ok(None) => Err(StoreError::busy(session)),
            Err(error) => Err(StoreError {
                kind: StoreErrorKind::Io,
                message: format!(
                    "cannot lock session `{session}` in {}: {error}",
                    self.locks.display()
                ),
                source: Some(Box::new(error)),
            }),
        }
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        let connection = self.lock();
        rows::session(&connection, session)
            .map_err(|error| failed(&format!("cannot read session `{session}`"), error))?
            .ok_or_else(|| StoreError::not_found(session))
    }

    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        let connection = self.lock();
        let summaries = connection
            .prepare_cached(
                // What a session's last event tells is not kept twice: each append would have to
                // write a second table.
                "SELECT id, created_ms, workspace, assistant, title,
                     ifnull((SELECT at_ms FROM events WHERE session = id ORDER BY seq DESC LIMIT 1),
                         created_ms) AS updated_ms,
                     ifnull((SELECT max(seq) FROM events WHERE session = id), 0)
                 FROM sessions ORDER BY updated_ms DESC, id DESC LIMIT ?1",
            )
            .and_then(|mut statement| {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                statement.query_map([limit], summary)?.collect()
            });
        summaries.map_err(|error| failed("cannot list sessions", error))
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        // What was deleted is overwritten, not only forgotten.
        self.lock()
            .pragma_update(None, "secure_delete", true)
            .map_err(|error| failed(&format!("cannot delete session `{session}`"), error))?;
        let deleted = self.write(session, |transaction| {
            transaction.execute("DELETE FROM events WHERE session = ?1", [session])?;
            transaction.execute("DELETE FROM sessions WHERE id = ?1", [session])
        })?;
        if deleted == 0 {
            return Err(StoreError::not_found(session));
        }
        // The log still has the old pages. While somebody reads it stays; the last one to close
        // the file removes it.
        let _ = self
            .lock()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(())
    }
}

/// Tells whether a row with the same key was there already.
fn is_key(error: &rusqlite::Error) -> bool {
    let keys = [
        rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE,
    ];
    error
        .sqlite_error()
        .is_some_and(|error| keys.contains(&error.extended_code))
}

fn read_only(path: &Path) -> Result<(Connection, Identity), rusqlite::Error> {
    match without_writing(path) {
        // A crash while the file was made left a change half done, which a writer takes back.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            IDENTITY.open(path, SCHEMA)
        }
        opened => opened,
    }
}

fn without_writing(path: &Path) -> Result<(Connection, Identity), rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Nothing is written through this connection; without it a file that lost its end, and so is
    // shorter than it says, could not even be read up to there.
    connection.pragma_update(None, "writable_schema", true)?;
    if is_empty(&connection)? {
        return IDENTITY.open(Path::new(":memory:"), SCHEMA);
    }
    let found = Identity::of(&connection)?;
    Ok((connection, found))
}

fn check_identity(found: Identity, path: &Path) -> Result<(), StoreError> {
    if found.application != IDENTITY.application {
        let message = format!("{} is not a session store", path.display());
        return Err(StoreError::new(StoreErrorKind::Corrupt, message));
    }
    let (version, known) = (found.version, IDENTITY.version);
    if version > known {
        let message = format!(
            "{} was written by a newer version (format {version}; this one knows {known})",
            path.display()
        );
        return Err(StoreError::new(StoreErrorKind::Newer, message));
    }
    Ok(())
}

fn insert_header(
    transaction: &Transaction<'_>,
    header: &SessionHeader,
) -> Result<(), rusqlite::Error> {
    transaction
        .prepare_cached(
            "INSERT INTO sessions (id, created_ms, workspace, assistant, title)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            header.id,
            header.created_ms,
            header.workspace,
            header.assistant,
            header.title
        ])?;
    Ok(())
}

fn insert_events(
    transaction: &Transaction<'_>,
    session: &str,
    events: &[JournalEntry],
    bodies: &[String],
) -> Result<(), rusqlite::Error> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO events (session, seq, at_ms, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (entry, body) in events.iter().zip(bodies) {
        insert.execute(params![session, entry.seq, entry.at_ms, body])?;
    }
    Ok(())
}

fn bodies(events: &[JournalEntry]) -> Result<Vec<String>, StoreError> {
    events
        .iter()
        .map(|entry| serde_json::to_string(&entry.event))
        .collect::<Result<_, _>>()
        .map_err(|error| StoreError {
            kind: StoreErrorKind::Corrupt,
            message: "an event cannot be written down".to_owned(),
            source: Some(Box::new(error)),
        })
}

fn summary(row: &Row<'_>) -> Result<SessionSummary, rusqlite::Error> {
    Ok(SessionSummary {
        header: rows::header(row)?,
        updated_ms: row.get(5)?,
        events: row.get(6)?,
    })
}

/// Refuses what is no file: opening a pipe would wait for ever.
fn check_kind(path: &Path) -> Result<(), StoreError> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => Err(StoreError::new(
            StoreErrorKind::Corrupt,
            format!("{} is not a file", path.display()),
        )),
        _ => Ok(()),
    }
}

/// Sorts a failure of the database by what the caller can do.
fn failed(what: &str, error: rusqlite::Error) -> StoreError {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreErrorKind::Corrupt,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Busy,
        _ => StoreErrorKind::Io,
    };
    StoreError {
        kind,
        message: format!("{what}: {error}"),
        source: Some(Box::new(error)),
    }
}
