#![doc = include_str!("../README.md")]

mod agent;
mod call_log;
mod driver;
mod event;
mod fast_path;
mod gather;
mod journal;
mod profile;
mod projection;
mod reply;
mod session;
pub mod skill_state;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod turn;
mod worker;

#[cfg(feature = "sqlite")]
pub use store::{SqliteAudit, SqliteStore};
pub use {
    agent::{Agent, Failure, PreviewError, RunError, TurnReport, TurnRequest},
    event::{AgentEvent, EVENT_VERSION, EventKind},
    journal::{JOURNAL_VERSION, JournalEntry, JournalEvent, OpenedRecord},
    profile::Profile,
    projection::Projection,
    reply::ReplyBuilder,
    store::{
        Lease, MemoryStore, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError,
        StoreErrorKind,
    },
    turn::{ErrorKind, Reply, Turn, TurnAction, TurnOutcome, is_fast_path},
};
