//! The gateway from outside: scripted tools, approvers and logs; real folders.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail the test they are called from"
)]

mod approvals;
mod bounds;
mod calls;
mod order;
mod skills;
mod support;

#[cfg(all(unix, feature = "files"))]
mod binding;
#[cfg(all(target_os = "linux", feature = "commands"))]
mod commands;
#[cfg(all(unix, feature = "files"))]
mod confinement;
#[cfg(feature = "files")]
mod creating;
#[cfg(all(target_os = "linux", feature = "skills"))]
mod executing;
#[cfg(feature = "files")]
mod files;
#[cfg(all(unix, feature = "files"))]
mod guarding;
#[cfg(all(unix, feature = "files"))]
mod searching;
