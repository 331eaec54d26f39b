//! Entries of kind Python: a function of a module beside the declaration, in a process of its own.

use std::sync::Arc;

use skill_core::EntryPoint;

use crate::entry::host::Host;
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult};

struct Python {
    module: String,
    function: String,
}

pub(super) fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    match entry {
        EntryPoint::Python { module, function } => Some(Arc::new(Python {
            module: module.clone(),
            function: function.clone(),
        })),
        _ => None,
    }
}

#[async_trait::async_trait]
impl Runner for Python {
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        host.workers
            .run(&host.given, job, &self.module, &self.function)
            .await
    }
}
