//! Wire protocols of language models behind one small trait; vendor differences are data.

mod dialects;
mod offline;
mod secret;

#[cfg(feature = "http")]
mod connect;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod openai_chat;
#[cfg(feature = "http")]
mod probe;
#[cfg(feature = "http")]
mod retry;
#[cfg(feature = "http")]
mod sse;

#[cfg(feature = "http")]
pub use {
    connect::{ConnectError, ConnectErrorKind, ConnectOptions, connect},
    http::Timeouts,
    probe::{LocalServer, probe_local},
    retry::{RetryPolicy, RetryProvider},
};
pub use {
    dialects::{
        CallIds, DIALECTS, Dialect, OutputLimit, Protocol, ReasoningReplay, StreamUsage,
        UnknownProtocol, dialect,
    },
    offline::OfflineProvider,
    secret::Secret,
};
