//! A step's request: compiled, admitted, sent, its answer judged.

use prompt_compiler::{CompileError, CompiledPrompt, Residency};
use skill_core::{CompletionEvent, StopReason};

use super::Driver;
use crate::event::EventKind;
use crate::exchange::{Exchange, exchange};
use crate::failure::{Failure, kind_of};
use crate::gather::{self, Gathered};
use crate::guards::Reservation;
use crate::journal::JournalEvent;
use crate::turn::{ErrorKind, Reply, TurnOutcome};

/// What to do about a request that is too large.
const TOO_LARGE: &str = "shorten the largest part, or choose a model with a larger window";

/// What to do about a request without words.
const NOTHING_SAID: &str = "say what is to be done";

impl Driver<'_, '_> {
    pub(super) async fn model_step(&mut self, step: u32) {
        self.emitter.enter_step(step);
        let Some(prompt) = self.prepare().await else {
            return;
        };
        // The turn began with a look at the skills; what was withdrawn since goes into no request.
        if step > 1 && self.agent.profile.shows_skills {
            self.agent.catalog.refresh();
        }
        if let Err(stop) = self.environment.admit(self.agent) {
            return self.stop(stop);
        }
        let Some(room) = self.reserve(&prompt) else {
            return;
        };
        self.session.push(JournalEvent::ModelRequested {
            step,
            tokens: prompt.report.total,
            environment: self.environment.digest.clone(),
        });
        self.emitter.emit(EventKind::ModelStarted {
            provider: self.agent.provider.name().to_owned(),
            model: self.agent.model.to_string(),
        });
        let narrowed = room.narrowed;
        let exchange = self.send(prompt, &room).await;
        let exchange = self.book(step, exchange, room);
        if self.agent.preset.residency == Residency::Once {
            self.expire_skills();
        }
        self.judge(exchange, narrowed);
    }

    /// Compiles the request; one that runs over the high water is compacted first.
    async fn prepare(&mut self) -> Option<CompiledPrompt> {
        let prompt = self.compile()?;
        let prompt = if self.compact(&prompt).await {
            if self.is_over() {
                return None;
            }
            self.compile()?
        } else {
            prompt
        };
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

    fn compile(&mut self) -> Option<CompiledPrompt> {
        let Gathered { skills, .. } = self.gather()?;
        let projection = self.session.projection();
        let session_context = gather::session_context(self.agent, projection, &self.context);
        let mut input = gather::input(
            self.agent,
            &self.environment,
            &skills,
            &projection.messages,
            &session_context,
            &self.context.turn,
        );
        input.previous = self.marks.as_deref();
        let exact = prompt_compiler::Budget {
            allow_bound: false,
            ..self.agent.budget.clone()
        };
        if self.agent.limits.needs_exact_counts() {
            input.budget = &exact;
        }
        let counter = &*self.agent.counter;
        let pipeline = &self.agent.pipeline;
        match pipeline.compile(&input, counter, &mut self.cache) {
            Ok(prompt) => Some(prompt),
            Err(CompileError::Limit(limit)) => {
                let failure = Failure::with_hint(limit.to_string(), TOO_LARGE);
                self.fail(TurnOutcome::ContextLimit, failure);
                None
            }
            Err(error) => {
                let failure = Failure::with_hint(error.to_string(), NOTHING_SAID);
                self.fail(TurnOutcome::Error(ErrorKind::InvalidRequest), failure);
                None
            }
        }
    }

    /// Sets the worst case of the request aside, before it is sent.
    fn reserve(&mut self, prompt: &CompiledPrompt) -> Option<Reservation> {
        let wanted = prompt
            .request
            .max_output_tokens
            .map_or(self.agent.budget.reserve_output, u64::from);
        let now = self.now_ms();
        let reserved = self.ledger().reserve(prompt.report.total, wanted, now);
        match reserved {
            Ok(room) => Some(room),
            Err(stop) => {
                self.stop(stop);
                None
            }
        }
    }

    /// Sends a request and takes in the answer as far as it comes, until it is cancelled or the
    /// turn's time is up.
    async fn send(&mut self, mut prompt: CompiledPrompt, room: &Reservation) -> Exchange {
        if room.narrowed {
            let most = u32::try_from(room.max_output).unwrap_or(u32::MAX);
            prompt.request.max_output_tokens = Some(most);
        }
        let timed = self.timed_token();
        let emitter = &mut self.emitter;
        let show = |event| match event {
            CompletionEvent::TextDelta(text) if !text.is_empty() => {
                emitter.emit(EventKind::TextDelta { text });
            }
            CompletionEvent::ReasoningDelta(text) if !text.is_empty() => {
                emitter.emit(EventKind::ReasoningDelta { text });
            }
            _ => {}
        };
        let used = &self.session.projection().call_ids;
        let provider = &*self.agent.provider;
        exchange(provider, prompt.request, used, timed.token(), show).await
    }

    /// Writes down what was said and what it cost.
    fn book(&mut self, step: u32, mut exchange: Exchange, room: Reservation) -> Exchange {
        let reply = &exchange.reply;
        let text = reply.message.joined_text();
        let answer = || self.agent.counter.count(&text);
        exchange.usage = self.ledger().settle(room, exchange.usage, answer);
        self.tally.usage += exchange.usage;
        self.tally.text = text;
        self.session.push(JournalEvent::ModelReplied {
            step,
            message: reply.message.clone(),
            stop: reply.stop.clone(),
            usage: exchange.usage,
        });
        self.emitter.emit(EventKind::ModelFinished {
            stop_reason: reply.stop.clone(),
            usage: exchange.usage,
        });
        exchange
    }

    /// Tells the machine what the exchange came to.
    fn judge(&mut self, exchange: Exchange, narrowed: bool) {
        let Exchange { reply, error, .. } = exchange;
        if reply.stop.is_none() && self.cancel.is_cancelled() {
            return self.turn.on_cancel();
        }
        let now = self.now_ms();
        let timely = self.ledger().check_time(now);
        if let (None, Err(stop)) = (&reply.stop, timely) {
            return self.stop(stop);
        }
        if narrowed && reply.stop == Some(StopReason::MaxTokens) {
            let message = "the answer ended where the turn's budget did";
            return self.fail(TurnOutcome::Budget, Failure::new(message));
        }
        match error {
            None => {
                self.tally.failure = Failure::of_reply(&reply);
                self.turn.on_reply(&reply);
            }
            Some(error) => {
                let outcome = outcome_of(&reply, error.kind);
                self.fail(outcome, Failure::of_provider(error));
            }
        }
    }
}

/// Something of the answer was seen: it was cut, and it is never asked for again.
fn outcome_of(reply: &Reply, kind: skill_core::ProviderErrorKind) -> TurnOutcome {
    if reply.message.content.is_empty() {
        TurnOutcome::Error(kind_of(kind))
    } else {
        TurnOutcome::Truncated
    }
}
