//! The calls of one reply on their way through the gateway: decided one by one, run in waves.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use skill_core::{CallStatus, ToolCall};

use crate::access::Access;
use crate::approval::{Approval, ApprovalRequest};
use crate::call::{CallEvent, CallLog, CallRecord, LogError};
use crate::context::ToolContext;
use crate::digest::{canonical_json, with_basis};
use crate::ending::{Ending, aborted_before, beyond, denied, ended, failed, refused};
use crate::escape::{escape_block, escape_line};
use crate::gateway::{Checked, Gateway, Refused};
use crate::output::cap;
use crate::policy::{Decision, Effect};
use crate::running::{Running, panic_text};
use crate::tool::{Preview, ToolError};
use crate::trace::Note;

/// One dispatch under way.
pub(crate) struct Dispatch<'a> {
    gateway: &'a Gateway,
    calls: &'a [ToolCall],
    context: &'a ToolContext,
    log: &'a dyn CallLog,
    /// Calls that are decided and do not touch each other, waiting to run together.
    wave: Vec<Checked>,
    records: Vec<Option<CallRecord>>,
    /// What traces say, where any are kept.
    notes: Vec<Note>,
    deferred: bool,
}

impl<'a> Dispatch<'a> {
    pub(crate) fn new(
        gateway: &'a Gateway,
        calls: &'a [ToolCall],
        context: &'a ToolContext,
        log: &'a dyn CallLog,
    ) -> Self {
        Self {
            gateway,
            calls,
            context,
            log,
            wave: Vec::new(),
            records: vec![None; calls.len()],
            notes: notes(gateway, calls),
            deferred: false,
        }
    }

    /// Takes the calls one after the other, and returns their records.
    pub(crate) async fn run(mut self) -> Result<Vec<CallRecord>, LogError> {
        let calls = self.calls;
        for call in calls {
            self.log
                .record(&CallEvent::Pending { call: call.clone() })
                .await?;
        }
        for (index, call) in calls.iter().enumerate() {
            // Deciding does not wait for anything; a cancellation is seen between calls.
            tokio::task::yield_now().await;
            self.take(index, call).await?;
        }
        self.run_wave().await?;
        Ok(self.records.into_iter().flatten().collect())
    }

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
        if let Some(note) = self.notes.get_mut(index) {
            note.arguments = Some(checked.tool.recorded(&checked.arguments));
            note.decision = Some(decision.explain());
        }
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
        let preview = match self.preview(&checked).await {
            Ok(preview) => preview,
            Err(error) => {
                let ending = failed(error);
                return self
                    .finish(index, ending.into_record(call, Some(checked.digest)))
                    .await;
            }
        };
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
            Approval::Allow => match self.still_the_same(&checked) {
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
    async fn preview(&self, checked: &Checked) -> Result<Preview, ToolError> {
        let (tool, arguments) = (Arc::clone(&checked.tool), checked.arguments.clone());
        let shown = tokio::task::spawn_blocking(move || tool.preview(&arguments));
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => Ok(Preview::default()),
            shown = shown => shown.unwrap_or_else(|_| Ok(Preview::default())),
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
    fn still_the_same(&self, approved: &Checked) -> Option<Checked> {
        let (tool, arguments) = (&approved.tool, approved.arguments.clone());
        let now = self
            .gateway
            .resolved(approved.index, tool, arguments)
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
        let (note, asked) = (self.notes.get(index).cloned(), self.context);
        let effect = has_effect(&access);
        let limit = tool.deadline().unwrap_or(gateway.limits.deadline);
        let context = self
            .context
            .for_call(&call.id, access, basis, Arc::clone(&gateway.policy));
        let running = Running::start(tool, context, arguments, limit);
        async move {
            let (outcome, duration_ms) = running.end().await;
            let mut record = ended(call, outcome, digest, effect);
            record.duration_ms = duration_ms;
            record.result.content = gateway.bounded(record.result.content).await;
            gateway.traced(note, &record, asked);
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
        let note = self.notes.get(index).cloned();
        self.gateway.traced(note, &record, self.context);
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

/// Returns a note for each call, if traces are kept.
fn notes(gateway: &Gateway, calls: &[ToolCall]) -> Vec<Note> {
    let given = |call: &ToolCall| {
        serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| serde_json::Value::from(call.arguments.as_str()))
    };
    let note = |call: &ToolCall| Note {
        given: given(call),
        ..Note::default()
    };
    match gateway.trace {
        Some(_) => calls.iter().map(note).collect(),
        None => Vec::new(),
    }
}

/// Tells whether a call may change anything.
fn has_effect(access: &[Access]) -> bool {
    access.iter().any(Access::has_effect)
}

fn conflict(earlier: &[Access], later: &[Access]) -> bool {
    earlier
        .iter()
        .any(|a| later.iter().any(|b| a.conflicts_with(b)))
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
