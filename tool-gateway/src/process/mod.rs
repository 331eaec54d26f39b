//! Programs: started from an argument vector, in an environment that is built and not inherited,
//! held in a sandbox where the kernel has one, and ended with all that they started.

mod capture;
mod family;
mod program;
mod sandbox;
mod spawn;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use capture::{Captured, capture};
pub(crate) use program::{Bound, find_program};
pub use sandbox::{Sandbox, SandboxNeed};
pub(crate) use spawn::{Spec, Started, Stdin, spawn};

/// How programs are started: where they are looked for, what they know, what they may change.
///
/// Programs inherit nothing of the embedding program's environment: they get what stands here.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The folders that programs are looked for in, absolute; others are left out, and so is one
    /// that everybody may write to.
    pub search_path: Vec<PathBuf>,
    /// The environment that every program gets.
    pub environment: BTreeMap<String, String>,
    /// What programs may change.
    pub sandbox: Sandbox,
}
