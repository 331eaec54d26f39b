//! Language models behind one small trait: wire protocols, vendor differences as data, and a
//! stand-in that needs no model at all.
//!
//! `connect` turns `ConnectOptions` into an `Arc<dyn Provider>` that retries; [`DIALECTS`] lists
//! the vendors it knows; [`OfflineProvider`] answers without a language model; `probe_local`
//! finds a server on this machine. Nothing here reads the environment, a clock for a decision, or
//! a file: keys, deadlines and seeds are values. The exception is the HTTP client, which follows
//! the proxy variables and trusts the certificates of the system.
//!
#![cfg_attr(feature = "http", doc = include_str!("../README.md"))]

mod dialects;
mod offline;
mod secret;

#[cfg(feature = "http")]
mod base_url;
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
    base_url::{BaseUrl, BaseUrlError},
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
    offline::{OfflineProvider, named_files},
    secret::Secret,
};
