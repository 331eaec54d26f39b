//! Where journals are kept: one small trait, a store in memory, a store in SQLite.

#[cfg(feature = "sqlite")]
mod audit;
#[cfg(feature = "sqlite")]
mod database;
mod lines;
#[cfg(feature = "sqlite")]
mod lock;
mod memory;
#[cfg(feature = "sqlite")]
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use {audit::SqliteAudit, sqlite::SqliteStore};

use crate::journal::JournalEntry;

/// What is known of a session without reading its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHeader {
    /// The id.
    pub id: String,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// The workspace it was begun in.
    pub workspace: String,
    /// The assistant.
    pub assistant: String,
    /// The first words of its first task.
    pub title: String,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The header.
    #[serde(flatten)]
    pub header: SessionHeader,
    /// When its last event was recorded.
    pub updated_ms: u64,
    /// The number of its events.
    pub events: u64,
}

/// A session with its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// The header.
    pub header: SessionHeader,
    /// The journal, oldest first, without gaps.
    pub entries: Vec<JournalEntry>,
    /// What is wrong with the event after the last one here, if there is one that cannot be read.
    pub damage: Option<String>,
}

/// The right to write to a session; it ends when this is dropped.
pub struct Lease {
    _held: Box<dyn std::any::Any + Send + Sync>,
}

impl Lease {
    /// Wraps whatever ends the right when it is dropped.
    pub fn new(held: impl std::any::Any + Send + Sync) -> Self {
        Self {
            _held: Box::new(held),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lease").finish_non_exhaustive()
    }
}

/// What a caller can do about a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// No such session.
    NotFound,
    /// Somebody else has written to the session in the meantime.
    Conflict,
    /// Somebody else works on the session, or is writing just now.
    Busy,
    /// The store is of a newer version; it was not touched.
    Newer,
    /// The store is damaged, or no store.
    Corrupt,
    /// The disk is full, read-only, or failing.
    Io,
}

/// A store that did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What the caller can do.
    pub kind: StoreErrorKind,
    /// What happened, naming the session or file.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Returns an error without a cause.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Returns the error for a session that is not there.
    pub fn not_found(session: &str) -> Self {
        Self::new(StoreErrorKind::NotFound, format!("no session `{session}`"))
    }

    /// Returns the error for a session that somebody else works on.
    pub fn busy(session: &str) -> Self {
        let message = format!("session `{session}` is in use by another process");
        Self::new(StoreErrorKind::Busy, message)
    }

    /// Returns the error for a session that somebody else has written to.
    pub fn conflict(session: &str) -> Self {
        Self::new(
            StoreErrorKind::Conflict,
            format!("session `{session}` was written to by another process"),
        )
    }
}

/// Keeps sessions.
///
/// Contract: `create` and `append` are atomic, and durable when they return `Ok`; events of one
/// session are numbered from 1 without gaps; whoever appends at a number that does not follow the
/// last one gets [`StoreErrorKind::Conflict`] and changes nothing. Of all processes at most one holds
/// the lease of a session; a second one gets [`StoreErrorKind::Busy`], and the lease of a process
/// that died is free. [`crate::testing::check_store`] checks all of it.
#[async_trait]
pub trait SessionStore: Send + Sync + fmt::Debug {
    /// Begins a session with its first events.
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError>;

    /// Appends events, whose numbers follow the last one recorded.
    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError>;

    /// Takes the right to write to a session, which need not exist yet.
    async fn lease(&self, session: &str) -> Result<Lease, StoreError>;

    /// Reads a session, as far as it can be read.
    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError>;

    /// Lists at most `limit` sessions, the last written first.
    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError>;

    /// Deletes a session with all of its events, at once or not at all; durable when it returns
    /// `Ok`. Whoever calls it holds the lease. A damaged session can be deleted too.
    async fn delete(&self, session: &str) -> Result<(), StoreError>;
}

#[cfg(all(test, feature = "sqlite"))]
mod contract_tests;

#[cfg(all(test, feature = "sqlite"))]
mod version_tests;
