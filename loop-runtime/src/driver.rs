//! The driver: does what the turn machine decides, and writes down what happened.

use std::sync::Arc;

use futures_util::StreamExt;
use prompt_compiler::{BlockMark, CompiledPrompt};
use skill_core::{
    CompletionEvent, ProviderError, ProviderErrorKind, SkillView, StopReason, ToolCall,
    ToolDefinition, Usage,
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tool_gateway::{CallRecord, LogError, ToolContext};

use crate::agent::{Agent, Failure, TurnReport, TurnRequest};
use crate::call_log::DriverLog;
use crate::event::{Emitter, EventKind};
use crate::gather::{self, Gathered};
use crate::journal::JournalEvent;
use crate::projection::missing_result;
use crate::reply::ReplyBuilder;
use crate::session::Session;
use crate::skill_state;
use crate::store::{StoreError, StoreErrorKind};
use crate::turn::{ErrorKind, Reply, Turn, TurnAction, TurnOutcome};

/// What to do when the journal cannot be written.
const JOURNAL_HINT: &str =
    "nothing more was done; free space or mend the data directory, then resume the session";

/// Drives one turn.
pub(crate) struct Driver<'a, 'e> {
    agent: &'a Agent,
    session: Session,
    request: TurnRequest,
    cancel: CancellationToken,
    emitter: Emitter<'e>,
    turn_id: String,
    turn: Turn,
    view: SkillView,
    tools: Arc<[ToolDefinition]>,
    environment: String,
    marks: Option<Vec<BlockMark>>,
    usage: Usage,
    denied: u32,
    text: String,
    failure: Option<Failure>,
}

impl<'a, 'e> Driver<'a, 'e> {
    pub(crate) fn new(
        agent: &'a Agent,
        session: Session,
        request: TurnRequest,
        cancel: CancellationToken,
        emitter: Emitter<'e>,
    ) -> Self {
        agent.catalog.refresh();
        let view = agent.catalog.view(&agent.principal);
        let tools = gather::offered_tools(agent, &view);
        Self {
            environment: gather::environment_digest(agent, &view, &tools),
            tools,
            view,
            turn_id: agent.ids.next_id(),
            turn: Turn::new(agent.profile.enable_tools, agent.profile.max_steps),
            agent,
            session,
            request,
            cancel,
            emitter,
            marks: None,
            usage: Usage::default(),
            denied: 0,
            text: String::new(),
            failure: None,
        }
    }

    /// Runs the turn to its end.
    pub(crate) async fn run(mut self) -> TurnReport {
        self.begin().await;
        let outcome = loop {
            match self.turn.next_action() {
                TurnAction::CallModel { step } => self.model_step(step).await,
                TurnAction::CallTools(calls) => self.tool_step(&calls).await,
                TurnAction::Finish(outcome) => break outcome,
            }
        };
        self.finish(outcome).await
    }

    async fn begin(&mut self) {
        let resumed = self.session.resumed();
        self.emitter.emit(EventKind::SessionStarted { resumed });
        self.settle_open_calls().await;
        if matches!(self.turn.next_action(), TurnAction::Finish(_)) {
            return;
        }
        self.settle_open_turn();
        self.emitter.enter_turn(&self.turn_id);
        self.session.entitle(&self.request.input);
        self.session.push(JournalEvent::TurnStarted {
            turn: self.turn_id.clone(),
            profile: self.agent.profile.name.to_owned(),
            model: self.agent.model.to_string(),
            agent: self.agent.principal.assistant.clone(),
            max_loaded: self.agent.preset.max_loaded,
            input: self.request.input.clone(),
        });
        self.expire_skills();
        let fast_path = self.agent.profile.is_fast_path();
        // On the fast path one row is written after the last delta; nothing there has an effect.
        if !fast_path {
            self.commit().await;
        }
        let profile = self.agent.profile.name.to_owned();
        self.emitter
            .emit(EventKind::TurnStarted { profile, fast_path });
    }

    /// Deals with calls that the last turn left open: those with an unknown end are named, those
    /// that waited for a decision are asked about afresh, the others were never started.
    async fn settle_open_calls(&mut self) {
        let unknown = self.session.projection().unknown.clone();
        for call in &unknown {
            let (id, name) = (&call.id, &call.name);
            self.notice(
                "unknown_outcome",
                format!("it is not known whether call `{id}` of `{name}` took effect: it was started, and the program ended before the outcome was recorded"),
            );
            self.record_missing(call, true);
        }
        let unstarted = self.session.projection().unstarted.clone();
        // A profile without tools runs none, not even those that only waited for a yes.
        if self.agent.profile.enable_tools && self.session.projection().awaits_approval {
            let asked = self.dispatch(&unstarted).await;
            self.take_records(asked);
            return;
        }
        unstarted
            .iter()
            .for_each(|call| self.record_missing(call, false));
    }

    fn record_missing(&mut self, call: &ToolCall, started: bool) {
        self.session.push(JournalEvent::ToolFinished {
            result: missing_result(call, started),
            state: Default::default(),
            opened: None,
            duration_ms: 0,
            denied: false,
        });
    }

    /// Ends a turn that a crash left open.
    fn settle_open_turn(&mut self) {
        if self.session.projection().open_turn.is_some() {
            self.session.push(JournalEvent::TurnFinished {
                outcome: TurnOutcome::Aborted,
                usage: Usage::default(),
                denied: 0,
                failure: Some("the program ended before the turn did".to_owned()),
            });
        }
    }

    /// Closes what a preset keeps for one turn only.
    fn expire_skills(&mut self) {
        if self.agent.preset.residency != prompt_compiler::Residency::Session {
            let open = skill_state::loaded(&self.session.projection().state, self.assistant());
            self.close_skills(&open, "expired");
        }
    }

    fn close_skills(&mut self, skills: &[String], reason: &str) {
        if skills.is_empty() {
            return;
        }
        let delta = skill_state::close(&self.session.projection().state, self.assistant(), skills);
        let keys = delta.0.keys().cloned().collect();
        self.session.push(JournalEvent::StateChanged {
            delta,
            reason: reason.to_owned(),
        });
        self.emitter.emit(EventKind::StateDelta { keys });
    }

    async fn model_step(&mut self, step: u32) {
        self.emitter.enter_step(step);
        let Some(prompt) = self.compile() else { return };
        self.session.push(JournalEvent::ModelRequested {
            step,
            tokens: prompt.report.total,
            environment: self.environment.clone(),
        });
        self.emitter.emit(EventKind::ModelStarted {
            provider: self.agent.provider.name().to_owned(),
            model: self.agent.model.to_string(),
        });
        let (reply, usage, error) = self.exchange(prompt).await;
        self.usage += usage;
        self.text = reply.message.joined_text();
        self.session.push(JournalEvent::ModelReplied {
            step,
            message: reply.message.clone(),
            stop: reply.stop.clone(),
            usage,
        });
        self.emitter.emit(EventKind::ModelFinished {
            stop_reason: reply.stop.clone(),
            usage,
        });
        if self.agent.preset.residency == prompt_compiler::Residency::Once {
            self.expire_skills();
        }
        self.judge(&reply, error);
    }

    /// Tells the machine what the exchange came to.
    fn judge(&mut self, reply: &Reply, error: Option<ProviderError>) {
        if self.cancel.is_cancelled() && reply.stop.is_none() {
            return self.turn.on_cancel();
        }
        let Some(error) = error else {
            self.failure = shortcoming(reply).map(Failure::new);
            return self.turn.on_reply(reply);
        };
        let outcome = if reply.message.content.is_empty() {
            TurnOutcome::Error(kind_of(error.kind))
        } else {
            // Something of the answer was seen: it was cut, and it is never asked for again.
            TurnOutcome::Truncated
        };
        self.failure = Some(Failure {
            message: with_cause(&error),
            hint: error.hint,
        });
        self.turn.on_failure(outcome);
    }

    fn compile(&mut self) -> Option<CompiledPrompt> {
        let Gathered { skills, .. } = self.gather()?;
        let messages = &self.session.projection().messages;
        let mut input = gather::input(
            self.agent,
            &skills,
            messages,
            &self.request.context,
            &self.tools,
        );
        input.previous = self.marks.as_deref();
        match prompt_compiler::compile(&input, &*self.agent.counter) {
            Ok(prompt) => {
                self.emitter.emit(EventKind::PromptCompiled {
                    tokens: prompt.report.total,
                    budget: self.agent.budget.request_limit(),
                    stable_prefix_tokens: prompt.report.stable_prefix,
                    exact: prompt.report.exact,
                    sections: prompt.report.sections.clone(),
                });
                self.marks = Some(prompt.marks.clone());
                Some(prompt)
            }
            Err(limit) => {
                self.failure = Some(Failure {
                    message: limit.to_string(),
                    hint: Some(
                        "shorten the largest part, or choose a model with a larger window"
                            .to_owned(),
                    ),
                });
                self.turn.on_failure(TurnOutcome::ContextLimit);
                None
            }
        }
    }

    /// Reads skills; one that is gone or changed is closed with a notice, and then read again.
    fn gather(&mut self) -> Option<Gathered> {
        let gathered = self.gather_once()?;
        if gathered.dropped.is_empty() {
            return Some(gathered);
        }
        for skill in &gathered.dropped {
            self.notice("skill_dropped", format!(
                "skill `{skill}` is not available as it was opened; it can be opened again if it is listed"
            ));
        }
        self.close_skills(&gathered.dropped, "dropped");
        self.gather_once()
    }

    fn gather_once(&mut self) -> Option<Gathered> {
        let gathered = gather::gather(&self.view, self.session.projection(), self.assistant());
        match gathered {
            Ok(gathered) => Some(gathered),
            Err(error) => {
                self.failure = Some(Failure {
                    message: error.to_string(),
                    hint: Some(
                        "run again: the next turn takes the skills as they are now".to_owned(),
                    ),
                });
                self.turn
                    .on_failure(TurnOutcome::Error(ErrorKind::Environment));
                None
            }
        }
    }

    /// Sends a request and takes in the answer as far as it comes.
    async fn exchange(&mut self, prompt: CompiledPrompt) -> (Reply, Usage, Option<ProviderError>) {
        let cancel = self.cancel.clone();
        let mut builder = ReplyBuilder::new();
        let stream = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            stream = self.agent.provider.stream(prompt.request) => Some(stream),
        };
        let mut failed = None;
        match stream {
            None => {}
            Some(Err(error)) => failed = Some(error),
            Some(Ok(mut stream)) => loop {
                let event = tokio::select! {
                    biased;
                    () = cancel.cancelled() => break,
                    event = stream.next() => event,
                };
                match event {
                    Some(Ok(event)) => {
                        builder.push(&event);
                        self.show(event);
                    }
                    Some(Err(error)) => {
                        failed = Some(error);
                        break;
                    }
                    None => break,
                }
            },
        }
        let (reply, usage) = builder.finish(&self.session.projection().call_ids);
        (reply, usage, failed)
    }

    fn show(&mut self, event: CompletionEvent) {
        match event {
            CompletionEvent::TextDelta(text) if !text.is_empty() => {
                self.emitter.emit(EventKind::TextDelta { text });
            }
            CompletionEvent::ReasoningDelta(text) if !text.is_empty() => {
                self.emitter.emit(EventKind::ReasoningDelta { text });
            }
            _ => {}
        }
    }

    async fn tool_step(&mut self, calls: &[ToolCall]) {
        let dispatched = self.dispatch(calls).await;
        if self.take_records(dispatched) {
            self.turn.on_tool_results();
        }
    }

    async fn dispatch(&mut self, calls: &[ToolCall]) -> Result<Vec<CallRecord>, LogError> {
        let Some(gathered) = self.gather() else {
            return Ok(Vec::new());
        };
        let mut context = ToolContext::new(
            self.assistant().to_owned(),
            self.view.clone(),
            self.cancel.clone(),
        );
        context.restrict = gathered.restrict;
        let log = DriverLog::new(Mutex::new((&mut self.session, &mut self.emitter)));
        self.agent.gateway.dispatch(calls, &context, &log).await
    }

    /// Takes in what calls came to; tells whether the turn may go on.
    fn take_records(&mut self, dispatched: Result<Vec<CallRecord>, LogError>) -> bool {
        let records = match dispatched {
            Ok(records) => records,
            Err(error) => {
                self.failure = Some(Failure {
                    message: error.to_string(),
                    hint: Some(JOURNAL_HINT.to_owned()),
                });
                self.turn.on_failure(TurnOutcome::Error(ErrorKind::Journal));
                return false;
            }
        };
        let denied = records.iter().filter(|record| record.denied).count();
        self.denied = self
            .denied
            .saturating_add(u32::try_from(denied).unwrap_or(u32::MAX));
        let keys = self.session.take_changed_keys();
        if !keys.is_empty() {
            self.emitter.emit(EventKind::StateDelta { keys });
        }
        let changed = records.iter().find(|record| {
            record.error_kind == Some(tool_gateway::ErrorKind::Environment.as_str())
        });
        if self.cancel.is_cancelled() {
            self.turn.on_cancel();
        } else if records
            .iter()
            .any(|record| !record.result.status.is_terminal())
        {
            self.turn.on_failure(TurnOutcome::AwaitingApproval);
        } else if let Some(record) = changed {
            self.failure = Some(Failure::new(record.result.content.clone()));
            self.turn
                .on_failure(TurnOutcome::Error(ErrorKind::Environment));
        }
        !matches!(self.turn.next_action(), TurnAction::Finish(_))
    }

    async fn finish(mut self, outcome: TurnOutcome) -> TurnReport {
        self.session.push(JournalEvent::TurnFinished {
            outcome: outcome.clone(),
            usage: self.usage,
            denied: self.denied,
            failure: self.failure.as_ref().map(|failure| failure.message.clone()),
        });
        let mut outcome = outcome;
        if let Err(error) = self.session.commit().await {
            // The first failure is the one to mend; this one only says that it is not on record.
            self.failure.get_or_insert(journal_failure(&error));
            if outcome == TurnOutcome::Completed {
                outcome = TurnOutcome::Error(ErrorKind::Journal);
            }
        }
        self.emitter.emit(EventKind::TurnFinished {
            outcome: outcome.clone(),
            text: self.text.clone(),
            usage: self.usage,
            denied: self.denied,
        });
        TurnReport {
            session: self.session.id().to_owned(),
            turn: self.turn_id,
            outcome,
            text: self.text,
            usage: self.usage,
            denied: self.denied,
            failure: self.failure,
        }
    }

    /// Writes what waits; a failure ends the turn before anything else happens.
    async fn commit(&mut self) {
        if let Err(error) = self.session.commit().await {
            self.failure = Some(journal_failure(&error));
            self.turn.on_failure(TurnOutcome::Error(ErrorKind::Journal));
        }
    }

    fn notice(&mut self, code: &str, message: String) {
        self.emitter.emit(EventKind::Notice {
            code: code.to_owned(),
            message,
        });
    }

    fn assistant(&self) -> &'a str {
        &self.agent.principal.assistant
    }
}

/// Says what is missing from a reply, where its outcome alone does not.
fn shortcoming(reply: &Reply) -> Option<String> {
    match &reply.stop {
        None => Some("the answer ended in the middle of the stream".to_owned()),
        Some(StopReason::MaxTokens) => Some("the model reached its output limit".to_owned()),
        Some(StopReason::Other(reason)) => Some(format!(
            "the model stopped for a reason that is not known here: `{reason}`"
        )),
        Some(_) if reply.malformed => Some("the model called a tool without a name".to_owned()),
        Some(_) => None,
    }
}

fn journal_failure(error: &StoreError) -> Failure {
    let hint = match error.kind {
        StoreErrorKind::Conflict | StoreErrorKind::Busy => {
            "another process works on this session; wait until it has ended, then resume"
        }
        _ => JOURNAL_HINT,
    };
    Failure {
        message: error.to_string(),
        hint: Some(hint.to_owned()),
    }
}

/// Returns a message with its deepest cause, which names what really happened.
fn with_cause(error: &ProviderError) -> String {
    let message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause.and_then(std::error::Error::source) {
        cause = Some(next);
    }
    match cause.map(ToString::to_string) {
        Some(cause) if !message.contains(&cause) => format!("{message}: {cause}"),
        _ => message,
    }
}

fn kind_of(kind: ProviderErrorKind) -> ErrorKind {
    match kind {
        ProviderErrorKind::Unauthorized => ErrorKind::Unauthorized,
        ProviderErrorKind::NotFound => ErrorKind::NotFound,
        ProviderErrorKind::InvalidRequest => ErrorKind::InvalidRequest,
        ProviderErrorKind::RateLimited => ErrorKind::RateLimited,
        ProviderErrorKind::Unavailable => ErrorKind::Unavailable,
        ProviderErrorKind::Timeout => ErrorKind::Timeout,
        _ => ErrorKind::Protocol,
    }
}
