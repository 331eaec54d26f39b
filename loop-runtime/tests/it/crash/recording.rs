//! Scripted sessions, run on a real store that keeps a copy of its files after every write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use loop_runtime::{
    JournalEntry, Lease, Profile, SessionHeader, SessionRecord, SessionStore, SessionSummary,
    SqliteStore, StoreError, TurnRequest,
};
use skill_core::testing::{Answer, finished};
use skill_core::{CompletionEvent, ProviderErrorKind, StopReason};
use tool_gateway::Approval;

use super::disk::folder;
use crate::bench::Bench;

/// The store's files as they were when a write was acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Image {
    pub(super) database: Vec<u8>,
    pub(super) log: Vec<u8>,
    /// The events that were acknowledged by then.
    pub(super) events: usize,
}

/// A session with its files after each write.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) name: &'static str,
    pub(super) record: SessionRecord,
    pub(super) images: Vec<Image>,
}

/// A store in SQLite whose files are copied after each write.
#[derive(Debug)]
pub(super) struct RecordingStore {
    inner: SqliteStore,
    path: PathBuf,
    images: Mutex<Vec<Image>>,
}

impl RecordingStore {
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join("journal.db");
        Self {
            inner: SqliteStore::open(&path).unwrap(),
            path,
            images: Mutex::default(),
        }
    }

    pub(super) fn take_images(&self) -> Vec<Image> {
        std::mem::take(&mut self.images.lock().unwrap())
    }

    fn keep(&self, last: &[JournalEntry]) {
        let image = Image {
            database: std::fs::read(&self.path).unwrap(),
            log: std::fs::read(log_of(&self.path)).unwrap(),
            events: last.last().map_or(0, |entry| entry.seq as usize),
        };
        self.images.lock().unwrap().push(image);
    }
}

/// Returns the path of the write-ahead log of a database.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

#[async_trait::async_trait]
impl SessionStore for RecordingStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        self.inner.create(header, events).await?;
        self.keep(events);
        Ok(())
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        self.inner.append(session, events).await?;
        self.keep(events);
        Ok(())
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
        self.inner.delete(session).await
    }
}

/// One session: what the model answers, what the policy says, and how a person decides.
struct Script {
    name: &'static str,
    answers: Vec<Answer>,
    rule: &'static str,
    approvals: Vec<Approval>,
    turns: usize,
}

/// Runs every script; each on a store of its own.
pub(super) async fn recordings() -> Vec<Recording> {
    let mut recordings = Vec::new();
    for script in scripts() {
        recordings.push(record(script).await);
    }
    recordings
}

async fn record(script: Script) -> Recording {
    let folder = folder();
    let store = Arc::new(RecordingStore::open(folder.path()));
    let bench = Bench::with(script.answers, Arc::clone(&store) as _, script.rule);
    let bench = bench.profile(Profile {
        max_steps: 12,
        ..Profile::AGENT
    });
    for approval in script.approvals {
        bench.decide(approval);
    }
    let mut session = None;
    for turn in 0..script.turns {
        let request = TurnRequest {
            session: session.take(),
            ..TurnRequest::task(format!("任务 {turn}: {}", script.name))
        };
        let (report, _) = bench.run(request).await;
        session = Some(report.session);
    }
    Recording {
        name: script.name,
        record: store.load(&session.unwrap()).await.unwrap(),
        images: store.take_images(),
    }
}

fn note(id: &'static str, text: &'static str) -> Answer {
    Answer::calls(&[(id, "note", text)])
}

fn open(id: &'static str) -> Answer {
    Answer::calls(&[(id, "open_skill", "{\"id\":\"weekly\"}")])
}

const NOTE: &str = "{\"text\":\"x\"}";

fn script(name: &'static str, answers: Vec<Answer>) -> Script {
    Script {
        name,
        answers,
        rule: "allow tool(note)",
        approvals: Vec::new(),
        turns: 1,
    }
}

fn asked(name: &'static str, answers: Vec<Answer>, approvals: Vec<Approval>) -> Script {
    Script {
        rule: "ask tool(note)",
        approvals,
        ..script(name, answers)
    }
}

fn no() -> Approval {
    Approval::Deny {
        reason: "no".into(),
    }
}

fn done() -> Answer {
    Answer::text("done")
}

/// Twenty sessions: every way a turn goes, alone and one after the other.
fn scripts() -> Vec<Script> {
    let several = || {
        Answer::calls(&[
            ("a", "note", NOTE),
            ("b", "note", NOTE),
            ("c", "note", NOTE),
        ])
    };
    let text = |text: &str| CompletionEvent::TextDelta(text.into());
    let ten = (0..10).map(|_| note("n", NOTE)).chain([done()]);
    let long = "长".repeat(3_000);
    vec![
        script("an answer", vec![done()]),
        script("one call", vec![note("a", NOTE), done()]),
        script("two steps", vec![note("a", NOTE), note("b", NOTE), done()]),
        script("calls at once", vec![several(), done()]),
        script("a skill", vec![open("a"), done()]),
        script(
            "a skill and a call",
            vec![open("a"), note("b", NOTE), done()],
        ),
        Script {
            rule: "deny tool(note)",
            ..script("a denied call", vec![note("a", NOTE), done()])
        },
        asked(
            "a yes",
            vec![note("a", NOTE), done()],
            vec![Approval::Allow],
        ),
        asked("a no", vec![note("a", NOTE), done()], vec![no()]),
        Script {
            turns: 2,
            ..asked(
                "a late yes",
                vec![note("a", NOTE), done()],
                vec![Approval::Defer, Approval::Allow],
            )
        },
        script(
            "a cut stream",
            vec![Answer::Cut(
                vec![text("half")],
                ProviderErrorKind::Unavailable,
            )],
        ),
        script("no answer", vec![Answer::Error(ProviderErrorKind::Timeout)]),
        script(
            "an output limit",
            vec![Answer::Events(vec![
                text("half"),
                finished(StopReason::MaxTokens),
            ])],
        ),
        script(
            "an unknown tool",
            vec![Answer::calls(&[("a", "nope", "{}")]), done()],
        ),
        script("wrong arguments", vec![note("a", "{\"texts\":1}"), done()]),
        script("a long answer", vec![Answer::text(&long)]),
        script("ten calls", ten.collect()),
        Script {
            turns: 2,
            ..script(
                "two turns",
                vec![note("a", NOTE), done(), note("b", NOTE), done()],
            )
        },
        Script {
            turns: 3,
            ..script(
                "three turns, one cut",
                vec![
                    open("a"),
                    done(),
                    Answer::Cut(vec![text("half")], ProviderErrorKind::Protocol),
                    several(),
                    done(),
                ],
            )
        },
        Script {
            turns: 2,
            ..asked(
                "asked twice at once",
                vec![several(), done(), done()],
                vec![Approval::Allow, no(), Approval::Defer, Approval::Allow],
            )
        },
    ]
}
