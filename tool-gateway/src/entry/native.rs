//! Entries of kind `native`: a function of the embedding program.

use std::fmt;
use std::sync::Arc;

use skill_core::EntryPoint;

use crate::entry::host::Host;
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult};

/// A function of the embedding program that a skill names.
#[async_trait::async_trait]
pub trait NativeSkill: Send + Sync + fmt::Debug {
    /// Runs a job; the future is dropped when its time is up.
    async fn run(&self, job: &SkillJob) -> Result<SkillResult, SkillFailure>;
}

struct Native {
    name: String,
}

pub(super) fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    match entry {
        EntryPoint::Native { name } => Some(Arc::new(Native { name: name.clone() })),
        _ => None,
    }
}

#[async_trait::async_trait]
impl Runner for Native {
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        match host.given.native.get(&self.name) {
            Some(function) => function.run(job).await,
            None => Err(SkillFailure::new(
                SkillFailure::BROKEN,
                format!(
                    "`{}` needs a function that this program does not have",
                    job.skill.id
                ),
            )
            .with_detail(format!("no native function `{}`", self.name))),
        }
    }
}
