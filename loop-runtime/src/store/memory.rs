//! A store in memory, for tests and for programs that keep nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Lease, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError};
use crate::journal::JournalEntry;

/// Keeps sessions until it is dropped.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<String, SessionRecord>>,
    leased: Arc<Mutex<BTreeSet<String>>>,
}

/// Frees a session when it is dropped.
struct Held {
    session: String,
    leased: Arc<Mutex<BTreeSet<String>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.leased
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.session);
    }
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, SessionRecord>) -> T) -> T {
        act(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        self.with(|sessions| {
            if sessions.contains_key(&header.id) || !follows(events, 0) {
                return Err(StoreError::conflict(&header.id));
            }
            let record = SessionRecord {
                header: header.clone(),
                entries: events.to_vec(),
                damage: None,
            };
            sessions.insert(header.id.clone(), record);
            Ok(())
        })
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        self.with(|sessions| {
            let record = sessions
                .get_mut(session)
                .ok_or_else(|| StoreError::not_found(session))?;
            let last = record.entries.last().map_or(0, |entry| entry.seq);
            if !follows(events, last) {
                return Err(StoreError::conflict(session));
            }
            record.entries.extend_from_slice(events);
            Ok(())
        })
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        let mut leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
        if !leased.insert(session.to_owned()) {
            return Err(StoreError::busy(session));
        }
        let leased = Arc::clone(&self.leased);
        Ok(Lease::new(Held {
            session: session.to_owned(),
            leased,
        }))
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        self.with(|sessions| sessions.get(session).cloned())
            .ok_or_else(|| StoreError::not_found(session))
    }

    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        let mut summaries: Vec<SessionSummary> =
            self.with(|sessions| sessions.values().map(summary).collect());
        summaries.sort_by(|one, other| {
            (other.updated_ms, &other.header.id).cmp(&(one.updated_ms, &one.header.id))
        });
        summaries.truncate(limit);
        Ok(summaries)
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        self.with(|sessions| sessions.remove(session))
            .map(drop)
            .ok_or_else(|| StoreError::not_found(session))
    }
}

fn summary(record: &SessionRecord) -> SessionSummary {
    let created = record.header.created_ms;
    SessionSummary {
        header: record.header.clone(),
        updated_ms: record.entries.last().map_or(created, |entry| entry.at_ms),
        events: record.entries.len() as u64,
    }
}

/// Tells whether the numbers of `events` follow `last` without a gap.
pub(super) fn follows(events: &[JournalEntry], last: u64) -> bool {
    (last + 1..)
        .zip(events)
        .all(|(seq, entry)| entry.seq == seq)
}
