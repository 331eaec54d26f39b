//! From journal to conversation: a pure function, so that every start of a session is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prompt_compiler::Opening;
use skill_core::{CallStatus, Message, Role, ToolCall, ToolResult};

use crate::digest;
use crate::journal::{JournalEntry, JournalEvent, OpenedRecord};
use crate::skill_state::{self, State};
use crate::turn::TurnOutcome;

/// What the model reads of a call whose outcome was not recorded.
pub(crate) const UNKNOWN_OUTCOME: &str = "The outcome of this call is unknown: it was started, then \
    the program stopped before the result was recorded. It may or may not have taken effect. Check \
    before you do it again.";

/// What the model reads of a call that only reads and whose result was not recorded.
pub(crate) const INTERRUPTED_READING: &str = "This call was interrupted before its result was \
    recorded. It only reads, so nothing changed: call it again if you still need it.";

/// What the model reads of a call that was never started.
pub(crate) const NEVER_STARTED: &str =
    "This call was not started: the turn ended first. Nothing was done.";

/// A session as the next request sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// The conversation, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The state.
    pub state: State,
    /// Which call opened which skill.
    pub openings: BTreeMap<String, Opening>,
    /// Every call id seen.
    pub call_ids: BTreeSet<String>,
    /// Which agent opened which skill last.
    pub loaders: BTreeMap<String, String>,
    /// What stands for the messages that were compacted away.
    pub summary: Option<String>,
    /// Whether the last compaction of this turn gained next to nothing: another would not either.
    pub compacted_in_vain: bool,
    /// The id of a turn that has begun and not ended.
    pub open_turn: Option<String>,
    /// The number of events taken in.
    pub seq: u64,
    /// What was said so far, in short; made anew after every second turn.
    pub digest: String,
    /// Keys of state that the last closed step changed.
    pub changed: Vec<String>,
    agent: String,
    max_loaded: Option<usize>,
    calls: Vec<PendingCall>,
    answered: bool,
    turns: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct PendingCall {
    call: ToolCall,
    asked: bool,
    progress: Progress,
    finished: Option<FinishedCall>,
}

/// How far a call got, as far as the journal knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nobody started it: nothing happened.
    NotStarted,
    /// It was started and only reads: nothing changed.
    Reading,
    /// It was started and may have had its effect.
    Acting,
}

#[derive(Clone, Debug, PartialEq)]
struct FinishedCall {
    result: ToolResult,
    state: skill_core::StateDelta,
    opened: Option<OpenedRecord>,
}

impl Projection {
    /// Projects a journal.
    pub fn of(entries: &[JournalEntry]) -> Self {
        let mut projection = Self::default();
        for entry in entries {
            projection.push(&entry.event);
        }
        projection
    }

    /// Takes in one more event.
    pub fn push(&mut self, event: &JournalEvent) {
        self.seq += 1;
        match event {
            JournalEvent::TurnStarted {
                turn,
                agent,
                max_loaded,
                input,
                ..
            } => {
                self.open_turn = Some(turn.clone());
                self.agent.clone_from(agent);
                self.max_loaded = *max_loaded;
                self.messages.push(Arc::new(input.clone()));
                self.answered = false;
                self.compacted_in_vain = false;
            }
            JournalEvent::ModelReplied { message, stop, .. } => self.reply(message, stop.is_some()),
            JournalEvent::ToolStarted {
                call_id,
                has_effect,
                ..
            } => {
                let progress = if *has_effect {
                    Progress::Acting
                } else {
                    Progress::Reading
                };
                self.mark(call_id, |pending| pending.progress = progress);
            }
            JournalEvent::ToolFinished {
                result,
                state,
                opened,
                ..
            } => {
                self.finish_call(FinishedCall {
                    result: result.clone(),
                    state: state.clone(),
                    opened: opened.clone(),
                });
            }
            JournalEvent::Advised { call_id, text } => self.advise(call_id, text),
            JournalEvent::StateChanged { delta, opened, .. } => {
                skill_state::merge(&mut self.state, delta);
                for opened in opened {
                    // No call has such an id.
                    self.remember_opening(format!("{}:{}", self.seq, opened.id), opened);
                }
            }
            JournalEvent::Compacted {
                upto,
                summary,
                before,
                after,
                ..
            } => self.compact(*upto, summary, *after * 10 <= *before * 9),
            JournalEvent::TurnFinished { outcome, .. } => self.end_turn(outcome),
            JournalEvent::ApprovalAsked { call_id, .. } => {
                self.mark(call_id, |pending| pending.asked = true);
            }
            JournalEvent::ModelRequested { .. } | JournalEvent::Unknown => {}
        }
    }

    /// Returns the calls that have no result, in call order, and how far each got.
    pub fn open_calls(&self) -> impl Iterator<Item = (&ToolCall, Progress)> {
        self.calls
            .iter()
            .filter(|pending| pending.finished.is_none())
            .map(|pending| (&pending.call, pending.progress))
    }

    /// Tells whether an open call waits for a decision: then it is to be asked about afresh.
    pub fn awaits_approval(&self) -> bool {
        self.calls.iter().any(|pending| {
            pending.asked && pending.progress == Progress::NotStarted && pending.finished.is_none()
        })
    }

    fn reply(&mut self, message: &Message, complete: bool) {
        self.calls = message
            .tool_calls()
            .filter(|_| complete)
            .map(|call| PendingCall {
                call: call.clone(),
                asked: false,
                progress: Progress::NotStarted,
                finished: None,
            })
            .collect();
        self.call_ids
            .extend(self.calls.iter().map(|pending| pending.call.id.clone()));
        self.answered = self.calls.is_empty() && !message.joined_text().is_empty();
        if !message.content.is_empty() {
            self.messages.push(Arc::new(message.clone()));
        }
    }

    fn mark(&mut self, call_id: &str, change: impl FnOnce(&mut PendingCall)) {
        if let Some(pending) = self
            .calls
            .iter_mut()
            .find(|pending| pending.call.id == call_id)
        {
            change(pending);
        }
    }

    fn finish_call(&mut self, finished: FinishedCall) {
        let id = &finished.result.call_id;
        if let Some(pending) = self.calls.iter_mut().find(|pending| pending.call.id == *id) {
            pending.finished.get_or_insert(finished);
        }
        if self.open_calls().next().is_none() {
            self.close_group();
        }
    }

    /// Turns a step whose calls all have results into one tool message, in call order.
    fn close_group(&mut self) {
        self.changed.clear();
        let calls = std::mem::take(&mut self.calls);
        let mut results = Vec::with_capacity(calls.len());
        for finished in calls.into_iter().filter_map(|pending| pending.finished) {
            if let Some(opened) = &finished.opened {
                self.remember_opening(finished.result.call_id.clone(), opened);
            } else if let Some(skill) = finished.result.content.strip_prefix("loaded: ") {
                let skill = skill.lines().next().unwrap_or_default().trim();
                self.loaders.insert(skill.to_owned(), self.agent.clone());
            }
            let agent = self.agent.clone();
            let delta =
                skill_state::apply(&mut self.state, &agent, &finished.state, self.max_loaded);
            self.changed.extend(delta.0.into_keys());
            results.push(finished.result);
        }
        if !results.is_empty() {
            self.messages.push(Arc::new(Message::tool_results(results)));
        }
    }

    fn remember_opening(&mut self, by: String, opened: &OpenedRecord) {
        self.loaders.insert(opened.id.clone(), self.agent.clone());
        let opening = Opening {
            skill: opened.id.clone(),
            digest: opened.digest.clone(),
        };
        self.openings.insert(by, opening);
    }

    /// Puts a summary in the place of the oldest messages; the user message of the round that goes
    /// on stays.
    fn compact(&mut self, upto: usize, summary: &str, gained: bool) {
        let old: Vec<Arc<Message>> = self
            .messages
            .drain(..upto.min(self.messages.len()))
            .collect();
        let begins_with_user = |message: &Arc<Message>| message.role == Role::User;
        if !self.messages.first().is_some_and(begins_with_user) {
            let user = old.into_iter().rfind(begins_with_user);
            self.messages.splice(0..0, user);
        }
        self.summary = Some(summary.to_owned());
        self.compacted_in_vain = !gained;
    }

    /// Puts a word of the runtime behind a result of the last step.
    fn advise(&mut self, call_id: &str, text: &str) {
        let Some(last) = self.messages.last_mut() else {
            return;
        };
        for block in &mut Arc::make_mut(last).content {
            if let skill_core::ContentBlock::ToolResult(result) = block
                && result.call_id == call_id
            {
                result.content.push_str(&format!("\n\n[{text}]"));
            }
        }
    }

    fn end_turn(&mut self, outcome: &TurnOutcome) {
        self.open_turn = None;
        self.turns += 1;
        if self.turns.is_multiple_of(digest::EVERY) {
            self.digest = digest::digest(&self.messages);
        }
        // What waits for a decision goes on waiting.
        if *outcome == TurnOutcome::AwaitingApproval && !self.calls.is_empty() {
            return;
        }
        // A journal of this version ends no turn with open calls; whatever is read must stay valid.
        for pending in std::mem::take(&mut self.calls) {
            let finished = pending.finished.map(|finished| finished.result);
            let result =
                finished.unwrap_or_else(|| missing_result(&pending.call, pending.progress));
            self.calls.push(PendingCall {
                finished: Some(FinishedCall {
                    result,
                    state: Default::default(),
                    opened: None,
                }),
                ..pending
            });
        }
        self.close_group();
        if !self.answered || *outcome != TurnOutcome::Completed {
            self.mark_end(outcome);
        }
    }

    /// Says to the model how a turn ended that did not end with an answer.
    fn mark_end(&mut self, outcome: &TurnOutcome) {
        let mark = match outcome {
            TurnOutcome::Completed => "[This turn ended without an answer.]".to_owned(),
            outcome => format!("[This turn ended without a complete answer: {outcome}.]"),
        };
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => {
                Arc::make_mut(last)
                    .content
                    .push(skill_core::ContentBlock::text(mark));
            }
            _ => self.messages.push(Arc::new(Message::assistant(mark))),
        }
    }
}

/// Returns the result of a call that nobody recorded one for.
pub(crate) fn missing_result(call: &ToolCall, progress: Progress) -> ToolResult {
    let (status, content) = match progress {
        Progress::NotStarted => (CallStatus::Aborted, NEVER_STARTED),
        Progress::Reading => (CallStatus::Aborted, INTERRUPTED_READING),
        Progress::Acting => (CallStatus::Unknown, UNKNOWN_OUTCOME),
    };
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status,
        content: content.to_owned(),
    }
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
