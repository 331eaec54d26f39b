//! A step's calls: admitted, run through the gateway, their results taken in.

use std::collections::BTreeSet;
use std::sync::Arc;

use skill_core::{Role, ToolCall};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tool_gateway::{CallRecord, LogError, ToolContext};

use super::Driver;
use crate::call_log::DriverLog;
use crate::event::EventKind;
use crate::failure::{Failure, JOURNAL_HINT};
use crate::guards::Stop;
use crate::journal::JournalEvent;
use crate::skill_state;
use crate::turn::{ErrorKind, TurnOutcome};

impl Driver<'_, '_> {
    pub(super) async fn tool_step(&mut self, calls: &[ToolCall]) {
        if let Err(stop) = self.admit(calls) {
            self.end_calls_unstarted(calls);
            return self.stop(stop);
        }
        self.run_calls(calls).await;
        if !self.is_over() {
            self.turn.on_tool_results();
        }
    }

    /// Asks the guards before anything runs.
    fn admit(&mut self, calls: &[ToolCall]) -> Result<(), Stop> {
        let opens = |call: &ToolCall| call.name == self.environment.preset.tools.open;
        if calls.iter().any(opens) {
            self.environment.admit(self.agent)?;
        }
        self.trail.admit(calls)?;
        let now = self.now_ms();
        self.ledger().count_calls(calls.len(), now)
    }

    /// Runs calls and takes in what they came to; may end the turn.
    pub(super) async fn run_calls(&mut self, calls: &[ToolCall]) {
        let dispatched = self.dispatch(calls).await;
        for ended in self.host.take_ended() {
            self.notice("delegated", ended);
        }
        match dispatched {
            Ok(records) => {
                self.take_in(&records);
                self.observe(calls, &records);
            }
            Err(error) => self.fail(
                TurnOutcome::Error(ErrorKind::Journal),
                Failure::with_hint(error.to_string(), JOURNAL_HINT),
            ),
        }
    }

    async fn dispatch(&mut self, calls: &[ToolCall]) -> Result<Vec<CallRecord>, LogError> {
        let Some(gathered) = self.gather() else {
            return Ok(Vec::new());
        };
        let timed = self.timed_token();
        let mut context = ToolContext::new(
            self.assistant().to_owned(),
            self.environment.view.clone(),
            timed.token().clone(),
        )
        .with_host(Arc::clone(&self.host) as _);
        context.restrict = narrowed(gathered.restrict, self.agent.only_tools.as_ref());
        let state = &self.session.projection().state;
        context.open_docs = Arc::new(skill_state::open_docs(state, self.assistant()));
        context.state = Arc::new(state.clone());
        context.session = Some(self.session.id().to_owned());
        context.query = self.query();
        let log = DriverLog::new(Mutex::new((&mut self.session, &mut self.emitter)));
        self.agent.gateway.dispatch(calls, &context, &log).await
    }

    /// Returns what the user said last.
    fn query(&self) -> Option<String> {
        let messages = &self.session.projection().messages;
        let said = messages.iter().rev().find(|one| one.role == Role::User);
        said.map(|message| message.joined_text())
    }

    /// Counts and shows what calls came to, and ends the turn where it cannot go on.
    fn take_in(&mut self, records: &[CallRecord]) {
        let denied = records.iter().filter(|record| record.denied).count();
        let denied = u32::try_from(denied).unwrap_or(u32::MAX);
        self.tally.denied = self.tally.denied.saturating_add(denied);
        let keys = self.session.take_changed_keys();
        if !keys.is_empty() {
            self.emitter.emit(EventKind::StateDelta { keys });
        }
        let now = self.now_ms();
        let timely = self.ledger().check_time(now);
        let waits = |record: &CallRecord| !record.result.status.is_terminal();
        if self.cancel.is_cancelled() {
            self.turn.on_cancel();
        } else if let Err(stop) = timely {
            self.stop(stop);
        } else if records.iter().any(waits) {
            self.turn.on_failure(TurnOutcome::AwaitingApproval);
        } else if let Some(record) = records.iter().find(|record| environment_changed(record)) {
            self.fail(
                TurnOutcome::Error(ErrorKind::Environment),
                Failure::new(record.result.content.clone()),
            );
        }
    }

    /// Lets the guards look at what calls came to; their advice stands behind the last result.
    fn observe(&mut self, calls: &[ToolCall], records: &[CallRecord]) {
        if self.is_over() {
            return;
        }
        let results = records.iter().map(|record| &record.result);
        match self.trail.observe(calls.iter().zip(results)) {
            Ok(Some(text)) => {
                if let Some(last) = calls.last() {
                    self.session.push(JournalEvent::Advised {
                        call_id: last.id.clone(),
                        text,
                    });
                }
            }
            Ok(None) => {}
            Err(stop) => self.stop(stop),
        }
    }

    /// Returns a token that is cancelled when the turn is, and when its time is up.
    pub(super) fn timed_token(&self) -> TimedToken {
        let token = self.cancel.child_token();
        let Some(left) = self.ledger().time_left(self.now_ms()) else {
            return TimedToken { token, timer: None };
        };
        let late = token.clone();
        let timer = tokio::spawn(async move {
            tokio::time::sleep(left).await;
            late.cancel();
        });
        TimedToken {
            token,
            timer: Some(timer),
        }
    }
}

/// A token with the timer that cancels it; dropping it stops the timer.
pub(super) struct TimedToken {
    token: CancellationToken,
    timer: Option<tokio::task::JoinHandle<()>>,
}

impl TimedToken {
    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }
}

impl Drop for TimedToken {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}

/// Returns the tools that open skills and a narrowed agent both allow.
fn narrowed(
    skills: Option<Arc<BTreeSet<String>>>,
    agent: Option<&BTreeSet<String>>,
) -> Option<Arc<BTreeSet<String>>> {
    match (skills, agent) {
        (Some(skills), Some(agent)) => Some(Arc::new(&*skills & agent)),
        (None, Some(agent)) => Some(Arc::new(agent.clone())),
        (skills, None) => skills,
    }
}

fn environment_changed(record: &CallRecord) -> bool {
    record.error_kind == Some(tool_gateway::ErrorKind::Environment.as_str())
}
