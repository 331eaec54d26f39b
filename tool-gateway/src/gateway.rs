//! The only way a tool runs: one sequence of checks, in this order, for every call.
//!
//! look up → whitelist → freeze → validate → complete → resolve and digest → policy → approval → record the
//! intent → run with deadline and cancellation → cap the output → record.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use skill_core::{ToolCall, ToolDefinition};

use crate::access::Access;
use crate::approval::Approver;
use crate::arguments;
use crate::builder::{GatewayBuilder, Limits};
use crate::call::{CallLog, CallRecord, LogError};
use crate::context::ToolContext;
use crate::digest::arguments_digest;
use crate::dispatch::Dispatch;
use crate::ending::{Ending, failed, panicked};
use crate::escape::escape_line;
use crate::nearest::did_you_mean;
use crate::output::cap;
use crate::policy::{Decision, Policy};
use crate::registry::{Entry, Registry};
use crate::running::panic_text;
use crate::spill::{Spill, shortened};
use crate::tool::{DynTool, ErrorKind};
use crate::trace::{Note, TraceSink};

/// The only way a tool runs.
///
/// Holds tools, whitelist, policy, approver and bounds; they are the same for its whole life, so
/// the definitions that the model sees are too.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) registry: Registry,
    pub(crate) definitions: Vec<ToolDefinition>,
    pub(crate) allowed: BTreeSet<String>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) limits: Limits,
    pub(crate) spill: Option<Arc<dyn Spill>>,
    pub(crate) trace: Option<Arc<dyn TraceSink>>,
}

/// A call that may run as far as everything but policy and people are concerned.
pub(crate) struct Checked {
    pub(crate) index: usize,
    pub(crate) tool: Arc<dyn DynTool>,
    pub(crate) arguments: Value,
    pub(crate) access: Arc<[Access]>,
    pub(crate) digest: String,
    /// What the preview that was approved was made from.
    pub(crate) basis: Option<String>,
}

/// A call that ends before it runs, with the digest if it came that far.
pub(crate) struct Refused {
    pub(crate) ending: Ending,
    pub(crate) digest: Option<String>,
}

impl Gateway {
    /// Returns a builder without tools.
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder::default()
    }

    /// Returns the tools that the model may call, in the order in which they were added.
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Takes every call through the whole sequence and returns one record each, in call order.
    ///
    /// Calls whose effects do not touch each other run at the same time, at most
    /// [`Limits::together`]. Of more than [`Limits::calls`] the first run and the rest is rejected,
    /// so that no reply keeps a program busy for long. Every call ends in one terminal state; only
    /// a call that an approver deferred, and those after it, come back as `awaiting_approval` and
    /// `pending` without having run: dispatch them again to go on.
    ///
    /// `Err` means that the log could not hold an event. What had started by then was waited for;
    /// what had not, did not run.
    pub async fn dispatch(
        &self,
        calls: &[ToolCall],
        context: &ToolContext,
        log: &dyn CallLog,
    ) -> Result<Vec<CallRecord>, LogError> {
        Dispatch::new(self, calls, context, log).run().await
    }

    /// Judges a call without running it: what would be decided, and by which rule.
    ///
    /// `Err` is the refusal that comes before the policy, as the model would read it.
    pub fn explain(&self, call: &ToolCall, context: &ToolContext) -> Result<Decision, String> {
        match self.check(0, call, context) {
            Ok(checked) => Ok(self.policy.judge(&call.name, &checked.access)),
            Err(refused) => Err(refused.ending.content),
        }
    }

    /// Does every check that asks neither policy nor people.
    pub(crate) fn check(
        &self,
        index: usize,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Checked, Refused> {
        let entry = self.look_up(&call.name, context).map_err(Refused::early)?;
        self.admit(&call.name, context).map_err(Refused::early)?;
        let arguments =
            arguments::parse(&call.arguments, self.limits.arguments_bytes).map_err(|problem| {
                Refused::early(Ending::error(ErrorKind::InvalidArguments, problem))
            })?;
        let frozen = Some(arguments_digest(&call.name, &arguments, &[]));
        let refuse = |ending| Refused {
            ending,
            digest: frozen.clone(),
        };
        validate(&call.name, entry, &arguments).map_err(refuse)?;
        let prepared = prepare(entry, context, arguments.clone()).map_err(refuse)?;
        self.resolved(index, &entry.tool, prepared)
    }

    /// Asks a tool what a prepared call touches, now.
    pub(crate) fn resolved(
        &self,
        index: usize,
        tool: &Arc<dyn DynTool>,
        arguments: Value,
    ) -> Result<Checked, Refused> {
        let name = &tool.definition().name;
        let access = resolve(tool, &arguments).map_err(|ending| Refused {
            ending,
            digest: Some(arguments_digest(name, &arguments, &[])),
        })?;
        Ok(Checked {
            index,
            digest: arguments_digest(name, &arguments, &access),
            tool: Arc::clone(tool),
            arguments,
            access: access.into(),
            basis: None,
        })
    }

    /// Caps the result of a tool; what is cut off is kept where there is a place for it.
    pub(crate) async fn bounded(&self, content: String) -> String {
        let limit = self.limits.output_bytes;
        if content.len() <= limit {
            return content;
        }
        let Some(spill) = self.spill.clone() else {
            return cap(content, limit);
        };
        let kept = tokio::task::spawn_blocking(move || match spill.keep(&content) {
            Ok(id) => shortened(&content, &id, limit),
            Err(_) => cap(content, limit),
        });
        kept.await
            .unwrap_or_else(|_| "[the result was lost while it was kept]".to_owned())
    }

    /// Returns the tool that opens skills, and its argument that names one.
    fn opener(&self, context: &ToolContext) -> Option<(&str, &str)> {
        let mut tools = self.registry.names().filter_map(|name| {
            let entry = self.registry.get(name)?;
            Some((name, entry.tool.opens_skills_by()?))
        });
        tools.find(|(name, _)| self.is_allowed(name, context))
    }

    /// Hands the trace of a call that ended to whoever keeps it.
    pub(crate) fn traced(&self, note: Option<Note>, record: &CallRecord, context: &ToolContext) {
        if let (Some(sink), Some(note)) = (&self.trace, note) {
            sink.record(&note.ended(record, context));
        }
    }

    fn look_up(&self, name: &str, context: &ToolContext) -> Result<&Entry, Ending> {
        if let Some(entry) = self.registry.get(name) {
            return Ok(entry);
        }
        if let Some((opener, argument)) = self.opener(context)
            && let Some(viewed) = context.view.find(Some(name), None)
        {
            let id = Value::from(viewed.skill.id.as_str());
            let text = format!(
                "`{name}` is a skill, not a tool; call `{opener}` with {{\"{argument}\": {id}}}"
            );
            return Err(Ending::rejected(ErrorKind::NotFound, text));
        }
        let hint = did_you_mean(name, self.callable(context));
        Err(Ending::rejected(
            ErrorKind::NotFound,
            format!("no tool named `{}`{hint}", escape_line(name)),
        ))
    }

    fn admit(&self, name: &str, context: &ToolContext) -> Result<(), Ending> {
        if self.is_allowed(name, context) {
            return Ok(());
        }
        let hint = did_you_mean(name, self.callable(context));
        let text =
            format!("`{name}` is not available here and did not run; go on without it{hint}");
        Err(Ending::rejected(ErrorKind::Denied, text).with_detail("outside the whitelist"))
    }

    fn is_allowed(&self, name: &str, context: &ToolContext) -> bool {
        let restricted = context
            .restrict
            .as_ref()
            .is_some_and(|only| !only.contains(name));
        self.allowed.contains(name) && !restricted
    }

    fn callable<'a>(&'a self, context: &'a ToolContext) -> impl Iterator<Item = &'a str> {
        self.registry
            .names()
            .filter(|name| self.is_allowed(name, context))
    }
}

impl Refused {
    fn early(ending: Ending) -> Self {
        Self {
            ending,
            digest: None,
        }
    }
}

fn validate(name: &str, entry: &Entry, arguments: &Value) -> Result<(), Ending> {
    match entry.schema.problems(arguments) {
        Ok(problems) if problems.is_empty() => Ok(()),
        Ok(problems) => {
            let text = format!(
                "the arguments of `{name}` are not valid:\n- {}",
                problems.join("\n- ")
            );
            Err(Ending::error(ErrorKind::InvalidArguments, text))
        }
        Err(broken) => Err(Ending::error(
            ErrorKind::Tool,
            format!("`{name}` cannot be called: its schema is broken"),
        )
        .with_detail(broken)),
    }
}

/// Lets the tool complete the arguments.
fn prepare(entry: &Entry, context: &ToolContext, arguments: Value) -> Result<Value, Ending> {
    let asked = AssertUnwindSafe(|| entry.tool.prepare(context, arguments));
    match catch_unwind(asked) {
        Ok(prepared) => prepared.map_err(failed),
        Err(panic) => Err(panicked(&entry.tool.definition().name, panic_text(&*panic))),
    }
}

/// Asks the tool what the call touches; a tool that declares nothing is judged by its name.
fn resolve(tool: &Arc<dyn DynTool>, arguments: &Value) -> Result<Vec<Access>, Ending> {
    let asked = catch_unwind(AssertUnwindSafe(|| tool.access(arguments)));
    let name = &tool.definition().name;
    match asked {
        Ok(Ok(access)) if access.is_empty() => Ok(vec![Access::Tool(name.clone())]),
        Ok(Ok(access)) => Ok(access),
        Ok(Err(error)) => Err(failed(error)),
        Err(panic) => Err(panicked(name, panic_text(&*panic))),
    }
}
