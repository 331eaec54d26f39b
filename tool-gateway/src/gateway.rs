//! The only way a tool runs: one sequence of checks, in this order, for every call.
//!
//! look up → whitelist → freeze → validate → resolve and digest → policy → approval → record the
//! intent → run with deadline and cancellation → cap the output → record.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::Value;
use skill_core::{CallStatus, ToolCall, ToolDefinition};

use crate::access::Access;
use crate::approval::{Approval, ApprovalRequest, Approver};
use crate::arguments;
use crate::builder::{GatewayBuilder, Limits};
use crate::call::{CallEvent, CallLog, CallRecord, LogError};
use crate::context::ToolContext;
use crate::digest::{arguments_digest, canonical_json, with_basis};
use crate::ending::{Ending, aborted_before, beyond, denied, ended, failed, panicked, refused};
use crate::escape::{escape_block, escape_line};
use crate::nearest::did_you_mean;
use crate::output::cap;
use crate::policy::{Decision, Effect, Policy};
use crate::registry::{Entry, Registry};
use crate::running::{Running, panic_text};
use crate::tool::{DynTool, ErrorKind, Preview};

/// The tool that opens skills, for calls that name a skill as if it were a tool.
pub(crate) const OPEN_SKILL: &str = "open_skill";

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
}

/// A call that may run as far as everything but policy and people are concerned.
struct Checked {
    index: usize,
    tool: Arc<dyn DynTool>,
    arguments: Value,
    access: Arc<[Access]>,
    digest: String,
    /// What the preview that was approved was made from.
    basis: Option<String>,
}

/// A call that ends before it runs, with the digest if it came that far.
struct Refused {
    ending: Ending,
    digest: Option<String>,
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
    /// so that no reply keeps a program busy for long. Every call ends in one terminal state; only a call that an approver deferred, and those after it, come back as
    /// `awaiting_approval` and `pending` without having run: dispatch them again to go on.
    ///
    /// `Err` means that the log could not hold an event. What had started by then was waited for;
    /// what had not, did not run.
    pub async fn dispatch(
        &self,
        calls: &[ToolCall],
        context: &ToolContext,
        log: &dyn CallLog,
    ) -> Result<Vec<CallRecord>, LogError> {
        for call in calls {
            log.record(&CallEvent::Pending { call: call.clone() })
                .await?;
        }
        let mut dispatch = Dispatch {
            gateway: self,
            calls,
            context,
            log,
            wave: Vec::new(),
            records: vec![None; calls.len()],
            deferred: false,
        };
        for (index, call) in calls.iter().enumerate() {
            // Deciding does not wait for anything; a cancellation is seen between calls.
            tokio::task::yield_now().await;
            dispatch.take(index, call).await?;
        }
        dispatch.run_wave().await?;
        Ok(dispatch.records.into_iter().flatten().collect())
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
    fn check(
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
        let frozen = || Some(arguments_digest(&call.name, &arguments, &[]));
        validate(&call.name, entry, &arguments).map_err(|ending| Refused {
            ending,
            digest: frozen(),
        })?;
        let access = resolve(entry, &arguments).map_err(|ending| Refused {
            ending,
            digest: frozen(),
        })?;
        let digest = arguments_digest(&call.name, &arguments, &access);
        Ok(Checked {
            index,
            tool: Arc::clone(&entry.tool),
            arguments,
            access: access.into(),
            digest,
            basis: None,
        })
    }

    fn look_up(&self, name: &str, context: &ToolContext) -> Result<&Entry, Ending> {
        if let Some(entry) = self.registry.get(name) {
            return Ok(entry);
        }
        if self.is_allowed(OPEN_SKILL, context)
            && let Some(viewed) = context.view.find(Some(name), None)
        {
            let id = Value::from(viewed.skill.id.as_str());
            let text = format!(
                "`{name}` is a skill, not a tool; call `{OPEN_SKILL}` with {{\"id\": {id}}}"
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

/// One dispatch under way.
struct Dispatch<'a> {
    gateway: &'a Gateway,
    calls: &'a [ToolCall],
    context: &'a ToolContext,
    log: &'a dyn CallLog,
    /// Calls that are decided and do not touch each other, waiting to run together.
    wave: Vec<Checked>,
    records: Vec<Option<CallRecord>>,
    deferred: bool,
}

impl<'a> Dispatch<'a> {
    /// Decides one call: it ends here, or joins the wave.
    async fn take(&mut self, index: usize, call: &ToolCall) -> Result<(), LogError> {
        if self.deferred {
            let ending = Ending::of(
                CallStatus::Pending,
                "not decided yet: an earlier call waits for approval",
            );
            self.keep(index, ending.into_record(call, None));
            return Ok(());
        }
        if self.context.cancel.is_cancelled() {
            return self
                .finish(index, aborted_before().into_record(call, None))
                .await;
        }
        let limits = &self.gateway.limits;
        if index >= limits.calls {
            let ending = beyond(call, self.calls.len(), limits.calls);
            return self.finish(index, ending.into_record(call, None)).await;
        }
        if self.wave.len() >= limits.together.max(1) {
            self.run_wave().await?;
        }
        let mut checked = self.gateway.check(index, call, self.context);
        if self.must_wait(&checked) {
            self.run_wave().await?;
            checked = self.gateway.check(index, call, self.context);
        }
        let checked = match checked {
            Ok(checked) => checked,
            Err(refused) => {
                return self
                    .finish(index, refused.ending.into_record(call, refused.digest))
                    .await;
            }
        };
        let decision = self.gateway.policy.judge(&call.name, &checked.access);
        match decision.effect {
            Effect::Allow => self.wave.push(checked),
            Effect::Ask => return self.ask(call, checked, &decision).await,
            Effect::Deny => {
                return self
                    .finish(
                        index,
                        denied(call, &decision).into_record(call, Some(checked.digest)),
                    )
                    .await;
            }
        }
        Ok(())
    }

    /// Tells whether a call can only be judged after the wave has run.
    fn must_wait(&self, checked: &Result<Checked, Refused>) -> bool {
        let mut waiting = self.wave.iter();
        match checked {
            Ok(checked) => waiting.any(|earlier| conflict(&earlier.access, &checked.access)),
            // What is missing now may be there once the wave has written it.
            Err(_) => waiting.any(|earlier| conflict(&earlier.access, &[Access::OpenSkill])),
        }
    }

    /// Asks about one call, after everything before it has run.
    async fn ask(
        &mut self,
        call: &ToolCall,
        checked: Checked,
        decision: &Decision,
    ) -> Result<(), LogError> {
        self.run_wave().await?;
        let index = checked.index;
        let preview = self.preview(&checked).await;
        let basis = preview.basis.clone();
        let request = request(call, &checked, preview, decision);
        let digest = Some(request.arguments_digest.clone());
        let (call_id, action, reason) = (
            call.id.clone(),
            request.action.clone(),
            request.reason.clone(),
        );
        self.log
            .record(&CallEvent::Approval {
                call_id,
                action,
                reason,
            })
            .await?;
        let Some(approval) = self.answer(&request).await else {
            return self
                .finish(index, aborted_before().into_record(call, digest))
                .await;
        };
        let ending = match approval {
            Approval::Allow => match self.still_the_same(call, &checked) {
                Some(same) => {
                    let digest = request.arguments_digest;
                    self.wave.push(Checked {
                        digest,
                        basis,
                        ..same
                    });
                    return Ok(());
                }
                None => refused(call, "what it would touch changed while it was asked about"),
            },
            Approval::Deny { reason } => refused(call, &reason).with_detail(decision.explain()),
            Approval::Defer => {
                self.deferred = true;
                let ending = Ending::of(CallStatus::AwaitingApproval, "waiting for approval");
                self.keep(index, ending.into_record(call, digest));
                return Ok(());
            }
        };
        self.finish(index, ending.into_record(call, digest)).await
    }

    /// Lets the tool say what a person sees, on a thread that may block. One that panics says
    /// nothing.
    async fn preview(&self, checked: &Checked) -> Preview {
        let (tool, arguments) = (Arc::clone(&checked.tool), checked.arguments.clone());
        let shown = tokio::task::spawn_blocking(move || tool.preview(&arguments));
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => Preview::default(),
            shown = shown => shown.unwrap_or_default(),
        }
    }

    /// Waits for the answer; `None` if the call is cancelled first. An approver that panics says no.
    async fn answer(&self, request: &ApprovalRequest) -> Option<Approval> {
        let asking = AssertUnwindSafe(self.gateway.approver.decide(request)).catch_unwind();
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => None,
            answer = asking => Some(answer.unwrap_or_else(|panic| {
                let text = panic_text(&*panic);
                Approval::Deny { reason: format!("asking failed: {text}") }
            })),
        }
    }

    /// Resolves an approved call again; `None` if it is not what was approved any more.
    fn still_the_same(&self, call: &ToolCall, approved: &Checked) -> Option<Checked> {
        let now = self
            .gateway
            .check(approved.index, call, self.context)
            .ok()?;
        (now.digest == approved.digest).then_some(now)
    }

    /// Runs the wave and waits for all of it.
    async fn run_wave(&mut self) -> Result<(), LogError> {
        let mut running = Vec::with_capacity(self.wave.len());
        let mut lost = None;
        for checked in std::mem::take(&mut self.wave) {
            let Some(call) = self.calls.get(checked.index) else {
                continue;
            };
            let logged = if self.context.cancel.is_cancelled() {
                self.finish(
                    checked.index,
                    aborted_before().into_record(call, Some(checked.digest)),
                )
                .await
            } else {
                let (call_id, arguments_digest) = (call.id.clone(), checked.digest.clone());
                let has_effect = has_effect(&checked.access);
                let intent = self
                    .log
                    .record(&CallEvent::Running {
                        call_id,
                        arguments_digest,
                        has_effect,
                    })
                    .await;
                intent.map(|()| running.push(self.start(call, checked)))
            };
            if let Err(error) = logged {
                lost = Some(error);
                break;
            }
        }
        for (index, record, logged) in join_all(running).await {
            self.keep(index, record);
            lost = lost.or(logged.err());
        }
        lost.map_or(Ok(()), Err)
    }

    /// Starts one call; the future returned waits for its end and records it.
    fn start(
        &self,
        call: &'a ToolCall,
        checked: Checked,
    ) -> impl Future<Output = (usize, CallRecord, Result<(), LogError>)> + use<'a> {
        let Checked {
            index,
            tool,
            arguments,
            access,
            digest,
            basis,
        } = checked;
        let (gateway, log) = (self.gateway, self.log);
        let effect = has_effect(&access);
        let limit = tool.deadline().unwrap_or(gateway.limits.deadline);
        let context = self
            .context
            .for_call(&call.id, access, basis, Arc::clone(&gateway.policy));
        let running = Running::start(tool, context, arguments, limit);
        async move {
            let (outcome, duration_ms) = running.end().await;
            let mut record = ended(call, outcome, digest, effect, gateway.limits.output_bytes);
            record.duration_ms = duration_ms;
            let logged = log
                .record(&CallEvent::Finished {
                    record: record.clone(),
                })
                .await;
            (index, record, logged)
        }
    }

    /// Records the end of a call that did not run.
    async fn finish(&mut self, index: usize, mut record: CallRecord) -> Result<(), LogError> {
        record.result.content = cap(record.result.content, self.gateway.limits.output_bytes);
        self.log
            .record(&CallEvent::Finished {
                record: record.clone(),
            })
            .await?;
        self.keep(index, record);
        Ok(())
    }

    fn keep(&mut self, index: usize, record: CallRecord) {
        if let Some(slot) = self.records.get_mut(index) {
            *slot = Some(record);
        }
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

/// Tells whether a call may change anything; one that declares nothing may do anything.
fn has_effect(access: &[Access]) -> bool {
    access.is_empty() || access.iter().any(Access::has_effect)
}

fn conflict(earlier: &[Access], later: &[Access]) -> bool {
    earlier
        .iter()
        .any(|a| later.iter().any(|b| a.conflicts_with(b)))
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

/// Asks the tool what the call touches; a tool that declares nothing is judged by its name.
fn resolve(entry: &Entry, arguments: &Value) -> Result<Vec<Access>, Ending> {
    let asked = catch_unwind(AssertUnwindSafe(|| entry.tool.access(arguments)));
    let name = &entry.tool.definition().name;
    match asked {
        Ok(Ok(access)) if access.is_empty() => Ok(vec![Access::Tool(name.clone())]),
        Ok(Ok(access)) => Ok(access),
        Ok(Err(error)) => Err(failed(error)),
        Err(panic) => Err(panicked(name, panic_text(&*panic))),
    }
}

/// Builds what is shown to whom is asked.
fn request(
    call: &ToolCall,
    checked: &Checked,
    shown: Preview,
    decision: &Decision,
) -> ApprovalRequest {
    let action = shown
        .action
        .unwrap_or_else(|| format!("{} {}", call.name, canonical_json(&checked.arguments)));
    ApprovalRequest {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        action: escape_line(&action),
        details: shown.details.map(|details| escape_block(&details)),
        arguments_digest: with_basis(&checked.digest, shown.basis.as_deref()),
        reason: escape_line(&decision.explain()),
    }
}
