//! A SQLite file of ours: made or recognised, then set up for durable writes.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// How long a writer sleeps where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// What tells a file of ours from any other SQLite file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Kept in `application_id`.
    pub(super) application: i64,
    /// The version of the tables, kept in `user_version`.
    pub(super) version: i64,
}

const NOBODY: Identity = Identity {
    application: 0,
    version: 0,
};

impl Identity {
    /// Reads what the file behind `connection` says of itself.
    pub(super) fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let read = |name| connection.pragma_query_value(None, name, |row| row.get(0));
        Ok(Self {
            application: read("application_id")?,
            version: read("user_version")?,
        })
    }

    /// Opens the file at `path` and returns what it is.
    ///
    /// A missing or empty file gets the tables of `schema` and this identity. One that is something
    /// else, or of a later version, stays as it is, to the byte.
    pub(super) fn open(
        self,
        path: &Path,
        schema: &str,
    ) -> Result<(Connection, Self), rusqlite::Error> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        let empty = is_empty(&connection)?;
        let mut found = Self::of(&connection)?;
        let known = found.application == self.application && found.version <= self.version;
        if empty || known {
            write_ahead(&connection)?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "foreign_keys", true)?;
        }
        if empty {
            self.create(&mut connection, schema)?;
            found = Self::of(&connection)?;
        }
        Ok((connection, found))
    }

    fn create(self, connection: &mut Connection, schema: &str) -> Result<(), rusqlite::Error> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the tables while this one waited for the lock.
        if tables(&transaction)? == 0 {
            transaction.execute_batch(schema)?;
            transaction.pragma_update(None, "application_id", self.application)?;
            transaction.pragma_update(None, "user_version", self.version)?;
        }
        transaction.commit()
    }
}

/// Switches to a write-ahead log. While two do that at once SQLite does not wait by itself.
fn write_ahead(connection: &Connection) -> Result<(), rusqlite::Error> {
    let mut left = BUSY;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && !left.is_zero() =>
            {
                std::thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
            switched => return switched,
        }
    }
}

/// Tells whether the file is nobody's yet: new, or left behind by a crash before it was made.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    // In this order: who sees tables sees whose they are, even while another process makes them.
    Ok(tables(connection)? == 0 && Identity::of(connection)? == NOBODY)
}

fn tables(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
}
