#![doc = include_str!("../README.md")]

mod agent;
mod call_log;
mod compact;
mod complete;
mod context;
mod delegate;
mod digest;
mod driver;
mod environment;
mod event;
mod exchange;
mod failure;
mod gather;
mod guards;
mod journal;
mod memory;
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

#[cfg(feature = "files")]
pub use context::{ContextReader, CurrentFile, Mentions, Notes, ProjectInstructions};
#[cfg(feature = "sqlite")]
pub use store::{SqliteAudit, SqliteStore};
pub use {
    agent::{Agent, PreviewError, RunError, TurnReport, TurnRequest},
    compact::{Compaction, Summariser},
    complete::completion,
    context::{ContextError, ContextQuery, ContextSource, Gathered},
    delegate::{SubAssistant, delegate_tool},
    event::{AgentEvent, EVENT_VERSION, EventKind},
    failure::Failure,
    guards::{Ledger, Prices, Reservation, Stop, Trail, TurnLimits},
    journal::{JOURNAL_VERSION, JournalEntry, JournalEvent, OpenedRecord},
    memory::{facts, forget_in, forgetting, memory_tools},
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
