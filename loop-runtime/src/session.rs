//! A session in hand: its projection, and the events that wait to be written.

use std::sync::Arc;

use skill_core::{Clock, Message};

use crate::agent::Agent;
use crate::journal::{JournalEntry, JournalEvent};
use crate::projection::Projection;
use crate::store::{Lease, SessionHeader, SessionRecord, SessionStore, StoreError};

/// The longest title, in characters.
const TITLE: usize = 80;

/// A session that one turn writes to.
#[derive(Debug)]
pub(crate) struct Session {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    header: SessionHeader,
    stored: bool,
    /// Whether anything is kept at all.
    kept: bool,
    resumed: bool,
    recovery: Option<String>,
    waiting: Vec<JournalEntry>,
    projection: Projection,
    _lease: Option<Lease>,
}

impl Session {
    /// Takes up the session `id` for writing, or begins one, stored with its first events.
    ///
    /// A session that is damaged is left as it is, and goes on as a new one that begins with all
    /// that could be read of it.
    pub(crate) async fn open(agent: &Agent, id: Option<&str>) -> Result<Self, StoreError> {
        let Some(id) = id else {
            return Self::begin(agent).await;
        };
        let lease = agent.store.lease(id).await?;
        let record = agent.store.load(id).await?;
        if let Some(damage) = record.damage.clone() {
            return Self::recover(agent, record, &damage).await;
        }
        let projection = Projection::of(&record.entries);
        Ok(Self {
            _lease: Some(lease),
            ..Self::new(agent, record.header, projection, true)
        })
    }

    /// Reads the session `id` as far as it can be read, without the right to write to it.
    pub(crate) async fn read(agent: &Agent, id: &str) -> Result<Self, StoreError> {
        let record = agent.store.load(id).await?;
        let projection = Projection::of(&record.entries);
        Ok(Self::new(agent, record.header, projection, true))
    }

    async fn recover(
        agent: &Agent,
        record: SessionRecord,
        damage: &str,
    ) -> Result<Self, StoreError> {
        let header = SessionHeader {
            id: agent.ids.next_id(),
            created_ms: agent.clock.now_ms(),
            ..record.header.clone()
        };
        let lease = agent.store.lease(&header.id).await?;
        let projection = Projection::of(&record.entries);
        let recovery = format!(
            "session `{}` is damaged ({damage}); it stays as it is, and its {} readable events go on as session `{}`",
            record.header.id,
            record.entries.len(),
            header.id
        );
        Ok(Self {
            resumed: true,
            recovery: Some(recovery),
            waiting: record.entries,
            _lease: Some(lease),
            ..Self::new(agent, header, projection, false)
        })
    }

    async fn begin(agent: &Agent) -> Result<Self, StoreError> {
        let mut session = Self::new(agent, new_header(agent), Projection::default(), false);
        // A turn on the fast path is written when it is over: there is nothing to share before.
        if !agent.profile.is_fast_path() {
            session._lease = Some(agent.store.lease(session.id()).await?);
        }
        Ok(session)
    }

    fn new(agent: &Agent, header: SessionHeader, mut projection: Projection, stored: bool) -> Self {
        // What an earlier turn changed was told then.
        projection.changed.clear();
        Self {
            store: Arc::clone(&agent.store),
            clock: Arc::clone(&agent.clock),
            header,
            stored,
            kept: agent.profile.keeps_journal,
            resumed: stored,
            recovery: None,
            waiting: Vec::new(),
            projection,
            _lease: None,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.header.id
    }

    pub(crate) fn resumed(&self) -> bool {
        self.resumed
    }

    /// Returns what was recovered from a damaged session, once.
    pub(crate) fn take_recovery(&mut self) -> Option<String> {
        self.recovery.take()
    }

    pub(crate) fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Returns the keys of state that the last closed step changed, once.
    pub(crate) fn take_changed_keys(&mut self) -> Vec<String> {
        std::mem::take(&mut self.projection.changed)
    }

    /// Names the session after its first task.
    pub(crate) fn entitle(&mut self, input: &Message) {
        if self.header.title.is_empty() {
            let text = input.joined_text();
            let words: Vec<&str> = text.split_whitespace().take(TITLE).collect();
            self.header.title = words.join(" ").chars().take(TITLE).collect();
        }
    }

    /// Adds an event, which is written with the next [`Session::commit`].
    pub(crate) fn push(&mut self, event: JournalEvent) {
        self.projection.push(&event);
        let entry = JournalEntry {
            seq: self.projection.seq,
            at_ms: self.clock.now_ms(),
            event,
        };
        self.waiting.push(entry);
    }

    /// Writes every waiting event in one transaction.
    ///
    /// After an error nothing of them is written, and they wait on.
    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        if !self.kept {
            self.waiting.clear();
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.stored {
            self.store.append(&self.header.id, &self.waiting).await?;
        } else {
            self.store.create(&self.header, &self.waiting).await?;
            self.stored = true;
        }
        self.waiting.clear();
        Ok(())
    }
}

fn new_header(agent: &Agent) -> SessionHeader {
    SessionHeader {
        id: agent.ids.next_id(),
        created_ms: agent.clock.now_ms(),
        workspace: agent.workspace.clone(),
        assistant: agent.principal.assistant.clone(),
        title: String::new(),
    }
}
