//! One POST and its streamed body, with deadlines; knows no protocol above HTTP.

mod client;
mod failure;
mod retry_after;

pub use client::Timeouts;
pub(crate) use client::{Body, BodyFault, HttpClient};
pub(crate) use failure::{ApiError, Origin, StatusFailure};
