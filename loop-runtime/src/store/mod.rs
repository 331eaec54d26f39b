//! Where journals are kept: one small trait, a store in memory, a store in SQLite.

mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

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
}

/// What a caller can do about a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// No such session.
    NotFound,
    /// Somebody else has written to the session in the meantime.
    Conflict,
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
/// last one gets [`StoreErrorKind::Conflict`] and changes nothing, which makes a second writer of
/// one session harmless. [`crate::testing::check_store`] checks all of it.
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

    /// Reads a session.
    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError>;

    /// Lists at most `limit` sessions, the last written first.
    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError>;
}

#[cfg(all(test, feature = "sqlite"))]
mod contract_tests;
