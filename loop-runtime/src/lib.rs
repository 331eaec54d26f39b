#![doc = include_str!("../README.md")]

mod agent;
mod call_log;
mod compact;
mod complete;
mod driver;
mod environment;
mod event;
mod exchange;
mod failure;
mod gather;
mod guards;
mod journal;
mod profile;
mod projection;
mod reply;
mod route;
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
    agent::{Agent, PreviewError, RunError, TurnReport, TurnRequest},
    compact::{Compaction, Summariser},
    complete::completion,
    event::{AgentEvent, EVENT_VERSION, EventKind},
    failure::Failure,
    guards::{Ledger, Prices, Reservation, Stop, Trail, TurnLimits},
    journal::{JOURNAL_VERSION, JournalEntry, JournalEvent, OpenedRecord},
    profile::Profile,
    projection::{Progress, Projection},
    reply::ReplyBuilder,
    route::{RoutedCall, Router},
    skill_state::{LoadError, LoadErrorKind, SkillLoad, loads_in},
    store::{
        Lease, MemoryStore, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError,
        StoreErrorKind,
    },
    turn::{ErrorKind, Reply, Turn, TurnAction, TurnOutcome, is_fast_path},
};
