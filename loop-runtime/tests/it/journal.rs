//! Turns and their journal: a full disk, a crash, two stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loop_runtime::{
    ErrorKind, EventKind, JournalEntry, JournalEvent, Lease, MemoryStore, SessionHeader,
    SessionRecord, SessionStore, SessionSummary, SqliteStore, StoreError, StoreErrorKind,
    TurnOutcome, TurnRequest,
};
use skill_core::testing::{Answer, finished};
use skill_core::{CompletionEvent, Message, Role, StopReason};

use crate::bench::Bench;

/// A store that fails from a given write on.
#[derive(Debug)]
struct FailingStore {
    inner: MemoryStore,
    writes_left: AtomicUsize,
}

impl FailingStore {
    fn after(writes: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(),
            writes_left: AtomicUsize::new(writes),
        })
    }

    fn spend(&self) -> Result<(), StoreError> {
        let spent = self
            .writes_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        let full = || StoreError::new(StoreErrorKind::Io, "no space left on device");
        spent.map(drop).map_err(|_| full())
    }
}

#[async_trait::async_trait]
impl SessionStore for FailingStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        self.spend()?;
        self.inner.create(header, events).await
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        self.spend()?;
        self.inner.append(session, events).await
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        self.inner.lease(session).await
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        self.inner.load(session).await
    }

    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        self.inner.list(limit).await
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        self.spend()?;
        self.inner.delete(session).await
    }
}

#[tokio::test]
async fn a_full_disk_stops_the_turn_before_the_next_effect() {
    let calls = [("c1", "note", "{\"text\":\"x\"}")];
    // Writes of this turn: its start, the intent, the result, the intent of the next call, …
    for (writes, effects) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
        let answers = vec![
            Answer::calls(&calls),
            Answer::calls(&[("c2", "note", "{\"text\":\"y\"}")]),
            Answer::text("never"),
        ];
        let bench = Bench::with(answers, FailingStore::after(writes), "allow tool(note)");
        let (report, _) = bench.run(TurnRequest::task("go")).await;
        assert_eq!(
            report.outcome,
            TurnOutcome::Error(ErrorKind::Journal),
            "{writes} writes"
        );
        assert_eq!(bench.effects(), effects, "{writes} writes");
        assert!(report.failure.unwrap().message.contains("no space left"));
    }
}

#[tokio::test]
async fn after_a_crash_in_a_call_its_outcome_is_unknown_and_it_is_not_run_again() {
    let store = Arc::new(MemoryStore::new());
    let bench = Bench::with(
        vec![Answer::text("checked")],
        store.clone(),
        "allow tool(note)",
    );
    let header = SessionHeader {
        id: "crashed".into(),
        created_ms: 0,
        workspace: "/workspace".into(),
        assistant: "default".into(),
        title: "go".into(),
    };
    let reply = skill_core::Message {
        role: Role::Assistant,
        content: vec![skill_core::ContentBlock::ToolCall(skill_core::ToolCall {
            id: "c1".into(),
            name: "note".into(),
            arguments: "{\"text\":\"x\"}".into(),
        })],
    };
    let events = [
        JournalEvent::TurnStarted {
            turn: "t1".into(),
            profile: "agent".into(),
            model: "test".into(),
            agent: "default".into(),
            max_loaded: None,
            input: Message::user("go"),
        },
        JournalEvent::ModelReplied {
            step: 1,
            message: reply,
            stop: Some(StopReason::ToolCalls),
            usage: skill_core::Usage::default(),
        },
        JournalEvent::ToolStarted {
            call_id: "c1".into(),
            arguments_digest: "d".into(),
            has_effect: true,
        },
    ];
    let entries: Vec<JournalEntry> = (1..)
        .zip(events)
        .map(|(seq, event)| JournalEntry {
            seq,
            at_ms: 0,
            event,
        })
        .collect();
    store.create(&header, &entries).await.unwrap();
    let request = TurnRequest {
        session: Some("crashed".into()),
        ..TurnRequest::task("go on")
    };
    let (report, events) = bench.run(request).await;
    assert_eq!(report.text, "checked");
    assert_eq!(bench.effects(), 0);
    assert!(events.iter().any(|event| matches!(
        &event.kind,
        EventKind::Notice { code, message } if code == "unknown_outcome" && message.contains("c1")
    )));
    let request = bench.provider.requests().pop().unwrap();
    let results: Vec<&str> = request
        .messages
        .iter()
        .flat_map(|message| message.results())
        .map(|result| result.content.as_str())
        .collect();
    assert!(results[0].contains("unknown"), "{results:?}");
}

#[tokio::test]
async fn the_same_turn_leaves_the_same_journal_in_memory_and_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(&folder.path().join("journal.db")).unwrap();
    let mut records = Vec::new();
    for store in [
        Arc::new(MemoryStore::new()) as Arc<dyn SessionStore>,
        Arc::new(sqlite),
    ] {
        let answers = vec![
            Answer::calls(&[
                ("c1", "open_skill", "{\"id\":\"weekly\"}"),
                ("c2", "note", "{\"text\":\"周\"}"),
            ]),
            Answer::Events(vec![
                CompletionEvent::TextDelta("ok".into()),
                finished(StopReason::EndTurn),
            ]),
        ];
        let bench = Bench::with(answers, store, "allow tool(note)");
        let (report, _) = bench.run(TurnRequest::task("go")).await;
        let mut record = bench.agent.store.load(&report.session).await.unwrap();
        for entry in &mut record.entries {
            if let JournalEvent::ToolFinished { duration_ms, .. } = &mut entry.event {
                *duration_ms = 0;
            }
        }
        records.push(record);
    }
    assert_eq!(records[0], records[1]);
}

#[tokio::test]
async fn a_session_that_somebody_works_on_is_refused_and_left_alone() {
    let bench = Bench::new(vec![Answer::text("one"), Answer::text("never")]);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let lease = bench.agent.store.lease(&report.session).await.unwrap();
    let before = bench.agent.store.load(&report.session).await.unwrap();
    let request = TurnRequest {
        session: Some(report.session.clone()),
        ..TurnRequest::task("x")
    };
    let mut sink = |_| {};
    let refused = bench
        .agent
        .run(request, Default::default(), &mut sink)
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("in use by another process"),
        "{refused}"
    );
    assert_eq!(
        bench.agent.store.load(&report.session).await.unwrap(),
        before
    );
    drop(lease);
}

/// A store whose sessions cannot be read to their end.
#[derive(Debug)]
struct Damaged(MemoryStore, usize);

#[async_trait::async_trait]
impl SessionStore for Damaged {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        self.0.create(header, events).await
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        self.0.append(session, events).await
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        self.0.lease(session).await
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        let mut record = self.0.load(session).await?;
        record.entries.truncate(self.1);
        record.damage = Some("event 4 cannot be read".to_owned());
        Ok(record)
    }

    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        self.0.list(limit).await
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        self.0.delete(session).await
    }
}

#[tokio::test]
async fn p12_a_damaged_session_goes_on_as_another_one_with_all_that_can_be_read() {
    let answers = vec![
        Answer::calls(&[("c1", "note", "{\"text\":\"x\"}")]),
        Answer::text("first"),
        Answer::text("second"),
    ];
    let store = Arc::new(Damaged(MemoryStore::new(), 4));
    let bench = Bench::with(answers, store, "allow tool(note)");
    let (first, _) = bench.run(TurnRequest::task("one")).await;
    let request = TurnRequest {
        session: Some(first.session.clone()),
        ..TurnRequest::task("two")
    };
    let (second, events) = bench.run(request).await;
    assert_ne!(second.session, first.session);
    assert_eq!(second.text, "second");
    let told = events.iter().any(|event| {
        matches!(
            &event.kind,
            EventKind::Notice { code, message }
                if code == "session_recovered" && message.contains(&first.session)
        )
    });
    assert!(told);
    let last = bench.provider.requests().pop().unwrap();
    assert!(last.messages[0].joined_text().contains("one"));
}
