//! Entries of kind `tool`: a tool of this gateway under the name and the policies of a skill.

use std::sync::Arc;

use serde_json::Value;
use skill_core::EntryPoint;

use crate::access::Access;
use crate::context::ToolContext;
use crate::entry::host::Host;
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult};
use crate::policy::Policy;
use crate::tool::{DynTool, ErrorKind};

struct Named {
    name: String,
}

pub(super) fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    match entry {
        EntryPoint::Tool { name } => Some(Arc::new(Named { name: name.clone() })),
        _ => None,
    }
}

/// Finds the tool that an entry names: by its name, or an MCP tool by server and tool.
pub(super) fn named<'h>(host: &'h Host, name: &str) -> Option<&'h Arc<dyn DynTool>> {
    let pair = name
        .strip_prefix("mcp:")
        .and_then(|pair| pair.split_once('/'));
    host.given.tools.iter().find(|tool| match pair {
        None => tool.definition().name == name,
        Some((server, tool_name)) => tool.access(&Value::Object(Default::default())).is_ok_and(|access| {
            access.iter().any(|one| matches!(one, Access::Mcp { server: s, tool: t } if s == server && t == tool_name))
        }),
    })
}

#[async_trait::async_trait]
impl Runner for Named {
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        let broken = |text: String| SkillFailure::new(SkillFailure::BROKEN, text);
        let Some(tool) = named(host, &self.name) else {
            let text = format!(
                "`{}` needs the tool `{}`, which is not here",
                job.skill.id, self.name
            );
            return Err(broken(text));
        };
        let arguments = Value::Object(job.params.clone());
        let access = tool
            .access(&arguments)
            .map_err(|error| broken(error.message))?;
        let context = ToolContext::without_skills("skill", job.cancel.clone()).for_call(
            &job.call_id,
            access.into(),
            None,
            Arc::new(Policy::new(crate::policy::Mode::Headless)),
        );
        match tool.invoke(&context, arguments).await {
            Ok(output) => Ok(SkillResult::ok(output.content)),
            Err(error) => {
                let kind = match error.kind {
                    ErrorKind::Unavailable | ErrorKind::RateLimited => SkillFailure::TRANSIENT,
                    _ => SkillFailure::BUSINESS,
                };
                Err(SkillFailure {
                    detail: error.operator_text(),
                    ..SkillFailure::new(kind, error.message)
                })
            }
        }
    }
}
