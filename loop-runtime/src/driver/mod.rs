//! The driver: does what the turn machine decides, and writes down what happened.
//!
//! Here is the sequence of a turn; each part of it is one file: `settle` ends what an earlier turn
//! left open, `routing` asks the router before the model, `model` makes a step's request and takes in
//! the answer, `tools` runs a step's calls, `compacting` sums up what is old, `skills` keeps the set of open skills, `ending` reports. None of them decides what comes next.

mod compacting;
mod context;
mod ending;
mod model;
mod routing;
mod settle;
mod skills;
mod tools;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prompt_compiler::{BlockMark, CompileCache};
use skill_core::Usage;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, TurnReport, TurnRequest};
use crate::context::TurnContext;
use crate::delegate::TurnHost;
use crate::environment::Environment;
use crate::event::{Emitter, EventKind};
use crate::failure::Failure;
use crate::guards::{Ledger, Stop, Trail};
use crate::journal::JournalEvent;
use crate::session::Session;
use crate::skill_state::Declared;
use crate::turn::{ErrorKind, Turn, TurnAction, TurnOutcome};

/// Drives one turn.
pub(crate) struct Driver<'a, 'e> {
    agent: &'a Arc<Agent>,
    environment: Environment,
    session: Session,
    declared: Declared,
    request: TurnRequest,
    cancel: CancellationToken,
    emitter: Emitter<'e>,
    turn: Turn,
    ledger: Arc<Mutex<Ledger>>,
    /// Whether the ledger is another turn's, whose sub-agent this is.
    within: bool,
    context: TurnContext,
    host: Arc<TurnHost>,
    trail: Trail,
    /// The number of messages from which looking for something to compact is worth it again.
    worth_compacting_from: usize,
    marks: Option<Vec<BlockMark>>,
    cache: CompileCache,
    tally: Tally,
}

/// What a turn begins with, checked already.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) session: Session,
    pub(crate) environment: Environment,
    pub(crate) declared: Declared,
    pub(crate) request: TurnRequest,
    pub(crate) ledger: Option<Arc<Mutex<Ledger>>>,
}

/// What is reported when the turn has ended.
struct Tally {
    turn_id: String,
    text: String,
    usage: Usage,
    denied: u32,
    failure: Option<Failure>,
}

impl<'a, 'e> Driver<'a, 'e> {
    pub(crate) fn new(
        agent: &'a Arc<Agent>,
        start: Start,
        cancel: CancellationToken,
        emitter: Emitter<'e>,
    ) -> Self {
        let ledger = start.ledger.clone().unwrap_or_else(|| {
            let ledger = Ledger::new(agent.limits.clone(), agent.clock.monotonic_ms());
            Arc::new(Mutex::new(ledger))
        });
        Self {
            turn: Turn::new(agent.profile.enable_tools, agent.profile.max_steps),
            within: start.ledger.is_some(),
            host: Arc::new(TurnHost::new(
                Arc::clone(agent),
                start.environment.clone(),
                Arc::clone(&ledger),
            )),
            ledger,
            context: TurnContext::default(),
            trail: Trail::default(),
            worth_compacting_from: 0,
            marks: None,
            cache: CompileCache::default(),
            tally: Tally {
                turn_id: agent.ids.next_id(),
                text: String::new(),
                usage: Usage::default(),
                denied: 0,
                failure: None,
            },
            agent,
            environment: start.environment,
            session: start.session,
            declared: start.declared,
            request: start.request,
            cancel,
            emitter,
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
        self.tell_what_was_recovered();
        self.settle_open_calls().await;
        if self.is_over() {
            return;
        }
        self.settle_open_turn();
        self.record_start();
        self.migrate_skills();
        self.begin_skills();
        self.gather_context().await;
        let fast_path = self.agent.profile.is_fast_path();
        // On the fast path one row is written after the last delta; nothing there has an effect.
        if !fast_path {
            self.commit().await;
        }
        let profile = self.agent.profile.name.to_owned();
        self.emitter
            .emit(EventKind::TurnStarted { profile, fast_path });
        self.route().await;
    }

    fn record_start(&mut self) {
        self.emitter.enter_turn(&self.tally.turn_id);
        self.session.entitle(&self.request.input);
        self.session.push(JournalEvent::TurnStarted {
            turn: self.tally.turn_id.clone(),
            profile: self.agent.profile.name.to_owned(),
            model: self.agent.model.to_string(),
            agent: self.agent.principal.assistant.clone(),
            max_loaded: self.agent.preset.max_loaded,
            input: self.request.input.clone(),
        });
    }

    fn is_over(&self) -> bool {
        matches!(self.turn.next_action(), TurnAction::Finish(_))
    }

    /// Ends the turn with an outcome that is not the model's.
    fn fail(&mut self, outcome: TurnOutcome, failure: Failure) {
        self.tally.failure = Some(failure);
        self.turn.on_failure(outcome);
    }

    /// Ends the turn because a guard says so.
    fn stop(&mut self, stop: Stop) {
        self.fail(stop.outcome, Failure::new(stop.message));
    }

    /// Writes what waits; a failure ends the turn before anything else happens.
    async fn commit(&mut self) {
        if let Err(error) = self.session.commit().await {
            let failure = Failure::of_journal(&error);
            self.fail(TurnOutcome::Error(ErrorKind::Journal), failure);
        }
    }

    fn notice(&mut self, code: &str, message: String) {
        self.emitter.emit(EventKind::Notice {
            code: code.to_owned(),
            message,
        });
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        self.agent.clock.monotonic_ms()
    }

    fn assistant(&self) -> &'a str {
        &self.agent.principal.assistant
    }
}
