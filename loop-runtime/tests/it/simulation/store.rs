//! A store on a simulated disk: slow, failing, or the last that the process ever did.

use std::future::pending;

use loop_runtime::{
    JournalEntry, Lease, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError,
    StoreErrorKind,
};
use tokio::time::sleep;

use super::world::Shared;

#[derive(Debug)]
pub(super) struct SimulatedStore(pub(super) Shared);

/// What becomes of a write.
#[derive(Clone, Copy)]
enum Fate {
    Written,
    Failed,
    KilledBefore,
    KilledAfter,
}

/// Frees the session when it is dropped.
struct Held(Shared);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().unwrap().leased = false;
    }
}

impl SimulatedStore {
    async fn write(
        &self,
        session: &str,
        header: Option<&SessionHeader>,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        let (fate, delay) = {
            let mut world = self.0.lock().unwrap();
            let fate = match world.roll(40) {
                _ if world.calm => Fate::Written,
                0 => Fate::Failed,
                1 => Fate::KilledBefore,
                2 => Fate::KilledAfter,
                _ => Fate::Written,
            };
            (fate, world.milliseconds(20))
        };
        sleep(delay).await;
        if matches!(fate, Fate::KilledBefore) {
            return self.die().await;
        }
        if matches!(fate, Fate::Failed) {
            self.0.lock().unwrap().seen.insert("disk failed");
            return Err(StoreError::new(StoreErrorKind::Io, "no space left"));
        }
        self.keep(session, header, events)?;
        if matches!(fate, Fate::KilledAfter) {
            return self.die().await;
        }
        Ok(())
    }

    fn keep(
        &self,
        session: &str,
        header: Option<&SessionHeader>,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        let mut world = self.0.lock().unwrap();
        if let Some(header) = header {
            world.record = Some(SessionRecord {
                header: header.clone(),
                entries: Vec::new(),
                damage: None,
            });
        }
        let record = world
            .record
            .as_mut()
            .ok_or_else(|| StoreError::not_found(session))?;
        let next = record.entries.len() as u64 + 1;
        if events.first().is_some_and(|event| event.seq != next) {
            return Err(StoreError::conflict(session));
        }
        record.entries.extend_from_slice(events);
        Ok(())
    }

    async fn die(&self) -> Result<(), StoreError> {
        self.0.lock().unwrap().kill();
        pending().await
    }
}

#[async_trait::async_trait]
impl SessionStore for SimulatedStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        self.write(&header.id, Some(header), events).await
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        self.write(session, None, events).await
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        let mut world = self.0.lock().unwrap();
        if world.leased {
            return Err(StoreError::busy(session));
        }
        world.leased = true;
        Ok(Lease::new(Held(std::sync::Arc::clone(&self.0))))
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        let world = self.0.lock().unwrap();
        let record = world.record.clone();
        record.ok_or_else(|| StoreError::not_found(session))
    }

    async fn list(&self, _limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        let deleted = self.0.lock().unwrap().record.take();
        deleted
            .map(drop)
            .ok_or_else(|| StoreError::not_found(session))
    }
}
