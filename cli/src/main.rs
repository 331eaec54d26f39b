//! `tekne`: a runtime for agents that work by skills.

mod app;
mod approver;
mod commands;
mod config;
mod environment;
mod error;
mod interrupt;
mod output;
mod render;
mod roots;
mod setup;
mod system;
mod task;

use std::process::ExitCode;

fn main() -> ExitCode {
    app::main()
}
