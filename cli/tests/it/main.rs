//! The binary from outside: a home of its own, a workspace of its own, servers written by others.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "what fails here fails its test, and a skipped test says so"
)]

mod approving;
mod bad_input;
mod chain;
mod confining;
mod context;
mod failing;
mod guarding;
mod harness;
mod interrupting;
mod killing;
mod limits;
mod offline;
mod peers;
mod policy;
mod prompts;
mod server;
mod sessions;
mod shapes;
mod skill_files;
mod skill_index;
mod skill_views;
mod streams;
mod terminal;
mod tools;
mod trusting;
