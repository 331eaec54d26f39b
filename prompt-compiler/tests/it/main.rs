//! Rules of the compiler, each as a test named after it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod cache;
mod cost;
mod counting;
mod presets;
mod properties;
mod stages;
mod support;
