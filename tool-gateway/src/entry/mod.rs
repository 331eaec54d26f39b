//! Executable skills: what a `skill.yaml` declares, run out of process and held to its policies.

mod command;
mod fill;
mod host;
mod http;
mod job;
mod limits;
mod native;
mod parameters;
mod python;
mod redact;
mod run_skill;
mod tool;
mod worker;
mod zone;

use std::sync::Arc;

use skill_core::EntryPoint;

pub use host::{
    HttpAnswer, HttpClient, HttpRequest, SecretSource, SkillHost, SkillModel, SkillTrust,
};
pub use job::{SkillFailure, SkillJob, SkillResult};
pub use native::NativeSkill;
pub use run_skill::run_skill;

use host::Host;

/// Runs one kind of entry.
#[async_trait::async_trait]
trait Runner: Send + Sync {
    /// Runs a job to its end. Cancellation drops the future; processes go with it.
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure>;
}

/// What makes the runner of an entry, if it is of its kind.
type Entry = fn(&EntryPoint) -> Option<Arc<dyn Runner>>;

/// The kinds of entries, one a file.
const ENTRIES: &[Entry] = &[
    python::runner,
    command::runner,
    http::runner,
    tool::runner,
    native::runner,
];

fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    ENTRIES.iter().find_map(|make| make(entry))
}
