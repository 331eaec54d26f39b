//! The turn as a pure state machine: it decides what comes next and never does it.
//!
//! A program may drive it with its own I/O: ask [`Turn::next_action`], do that, report back with
//! [`Turn::on_reply`], [`Turn::on_tool_results`], [`Turn::on_failure`] or [`Turn::on_cancel`].
//!
//! Invariants:
//!
//! - A finished turn stays finished with its first outcome.
//! - The step number only grows, by one at a time, and never exceeds the limit.
//! - Tools are asked for only out of a complete reply, and only where tools are on offer.
//! - A report that does not answer the last action changes nothing; asking changes nothing ever.
//! - Every turn ends: after `max_steps` replies and their results there is nothing but `Finish`.
//!
//! A turn serialises at any point and goes on from there, so a program can stop between any two
//! actions. `examples/own_loop.rs` drives one without the rest of this crate.

use std::fmt;

use serde::{Deserialize, Serialize};
use skill_core::{ContentBlock, Message, StopReason, ToolCall};

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The model was done.
    Completed,
    /// The step limit was reached; the turn can be continued.
    MaxSteps,
    /// The user cancelled.
    Aborted,
    /// A call waits for a decision.
    AwaitingApproval,
    /// The same calls were made again and again.
    RepeatedCall,
    /// Calls failed again and again.
    RepeatedFailure,
    /// A limit in calls, tokens, money or time was reached; the turn can be continued.
    Budget,
    /// What has to be sent does not fit the model's window.
    ContextLimit,
    /// The answer was cut: by the output limit or in the middle of the stream.
    Truncated,
    /// The model, or a filter before it, refused.
    Refused,
    /// Something failed; the kind says what.
    Error(ErrorKind),
}

/// What failed in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The provider's key is missing, wrong or without rights.
    Unauthorized,
    /// The provider does not know the model or the address.
    NotFound,
    /// The provider refused the request as such.
    InvalidRequest,
    /// Too many requests.
    RateLimited,
    /// The provider is not reachable or failing.
    Unavailable,
    /// The answer was not of the protocol.
    Protocol,
    /// No answer in time.
    Timeout,
    /// The set of skills changed under the turn.
    Environment,
    /// The journal could not be written.
    Journal,
    /// The output could not be written.
    Output,
}

const ERROR_KINDS: &[(ErrorKind, &str)] = &[
    (ErrorKind::Unauthorized, "unauthorized"),
    (ErrorKind::NotFound, "not_found"),
    (ErrorKind::InvalidRequest, "invalid_request"),
    (ErrorKind::RateLimited, "rate_limited"),
    (ErrorKind::Unavailable, "unavailable"),
    (ErrorKind::Protocol, "protocol"),
    (ErrorKind::Timeout, "timeout"),
    (ErrorKind::Environment, "environment"),
    (ErrorKind::Journal, "journal"),
    (ErrorKind::Output, "output"),
];

const PLAIN_OUTCOMES: &[(TurnOutcome, &str)] = &[
    (TurnOutcome::Completed, "completed"),
    (TurnOutcome::MaxSteps, "max_steps"),
    (TurnOutcome::Aborted, "aborted"),
    (TurnOutcome::AwaitingApproval, "awaiting_approval"),
    (TurnOutcome::RepeatedCall, "repeated_call"),
    (TurnOutcome::RepeatedFailure, "repeated_failure"),
    (TurnOutcome::Budget, "budget"),
    (TurnOutcome::ContextLimit, "context_limit"),
    (TurnOutcome::Truncated, "truncated"),
    (TurnOutcome::Refused, "refused"),
];

impl ErrorKind {
    /// Returns the name used in events, in the journal and as an error code.
    pub fn as_str(self) -> &'static str {
        // Every kind stands in the table; the test below holds that.
        ERROR_KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("error", |(_, name)| name)
    }
}

impl fmt::Display for TurnOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Error(kind) = self {
            return write!(formatter, "error({})", kind.as_str());
        }
        let name = PLAIN_OUTCOMES.iter().find(|(outcome, _)| outcome == self);
        formatter.write_str(name.map_or("error", |(_, name)| name))
    }
}

impl From<TurnOutcome> for String {
    fn from(outcome: TurnOutcome) -> Self {
        outcome.to_string()
    }
}

impl TryFrom<String> for TurnOutcome {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = PLAIN_OUTCOMES.iter().find(|(_, name)| *name == text);
        if let Some((outcome, _)) = plain {
            return Ok(outcome.clone());
        }
        let kind = text
            .strip_prefix("error(")
            .and_then(|rest| rest.strip_suffix(')'));
        ERROR_KINDS
            .iter()
            .find(|(_, name)| Some(*name) == kind)
            .map(|(kind, _)| Self::Error(*kind))
            .ok_or_else(|| format!("no outcome named `{text}`"))
    }
}

/// What has to be done next. Deliberately exhaustive: a driver handles all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnAction {
    /// Send a request to the model; this is step number `step`, from 1.
    CallModel {
        /// The step.
        step: u32,
    },
    /// Run these calls, in this order, and report every result.
    CallTools(Vec<ToolCall>),
    /// Nothing: the turn is over.
    Finish(TurnOutcome),
}

/// A reply of the model, as far as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What it said.
    pub message: Message,
    /// Why it stopped; `None` when the stream was cut before it said.
    pub stop: Option<StopReason>,
    /// Whether something of it could not be understood, such as a call without a name.
    pub malformed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Model,
    Tools(Vec<ToolCall>),
    Finished(TurnOutcome),
}

/// One user input until the model stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    tools: bool,
    max_steps: u32,
    step: u32,
    phase: Phase,
}

impl Turn {
    /// Begins a turn; a limit of 0 is taken for 1.
    pub fn new(enable_tools: bool, max_steps: u32) -> Self {
        Self {
            tools: enable_tools,
            max_steps: max_steps.max(1),
            step: 1,
            phase: Phase::Model,
        }
    }

    /// Returns the number of the current step, from 1.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Returns what has to be done next; asking twice changes nothing.
    pub fn next_action(&self) -> TurnAction {
        match &self.phase {
            Phase::Model => TurnAction::CallModel { step: self.step },
            Phase::Tools(calls) => TurnAction::CallTools(calls.clone()),
            Phase::Finished(outcome) => TurnAction::Finish(outcome.clone()),
        }
    }

    /// Takes the model's reply.
    pub fn on_reply(&mut self, reply: &Reply) {
        if self.phase == Phase::Model {
            self.phase = self.after_reply(reply);
        }
    }

    /// Takes the word that every call of the step has its result.
    pub fn on_tool_results(&mut self) {
        if !matches!(self.phase, Phase::Tools(_)) {
            return;
        }
        self.phase = if self.step >= self.max_steps {
            Phase::Finished(TurnOutcome::MaxSteps)
        } else {
            self.step += 1;
            Phase::Model
        };
    }

    /// Ends the turn with an outcome that is not the model's, unless it has ended.
    pub fn on_failure(&mut self, outcome: TurnOutcome) {
        if !matches!(self.phase, Phase::Finished(_)) {
            self.phase = Phase::Finished(outcome);
        }
    }

    /// Ends the turn as cancelled, unless it has ended.
    pub fn on_cancel(&mut self) {
        self.on_failure(TurnOutcome::Aborted);
    }

    fn after_reply(&self, reply: &Reply) -> Phase {
        let Some(stop) = &reply.stop else {
            return Phase::Finished(TurnOutcome::Truncated);
        };
        // A reply that ran into the output limit may end inside a call: none of it runs.
        if *stop == StopReason::MaxTokens {
            return Phase::Finished(TurnOutcome::Truncated);
        }
        let calls: Vec<ToolCall> = reply.message.tool_calls().cloned().collect();
        if self.tools && !calls.is_empty() {
            return Phase::Tools(calls);
        }
        if reply.malformed && !has_text(reply) {
            return Phase::Finished(TurnOutcome::Error(ErrorKind::Protocol));
        }
        Phase::Finished(match stop {
            StopReason::Refused => TurnOutcome::Refused,
            StopReason::EndTurn | StopReason::ToolCalls if calls.is_empty() || has_text(reply) => {
                TurnOutcome::Completed
            }
            // Calls where no tools are on offer, or a reason nobody knows: not a success.
            _ => TurnOutcome::Error(ErrorKind::Protocol),
        })
    }
}

fn has_text(reply: &Reply) -> bool {
    reply
        .message
        .content
        .iter()
        .filter_map(ContentBlock::as_text)
        .any(|text| !text.is_empty())
}

/// Tells whether a turn runs on the caller's task: one model call, no worker, no tools.
pub fn is_fast_path(enable_tools: bool, max_steps: u32) -> bool {
    !enable_tools && max_steps <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use skill_core::Role;

    fn reply(text: &str, calls: usize, stop: Option<StopReason>) -> Reply {
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(ContentBlock::text(text));
        }
        content.extend((0..calls).map(|number| {
            ContentBlock::ToolCall(ToolCall {
                id: format!("c{number}"),
                name: "read_file".into(),
                arguments: "{}".into(),
            })
        }));
        Reply {
            message: Message {
                role: Role::Assistant,
                content,
            },
            stop,
            malformed: false,
        }
    }

    fn after(tools: bool, reply: &Reply) -> TurnAction {
        let mut turn = Turn::new(tools, 6);
        turn.on_reply(reply);
        turn.next_action()
    }

    fn finish(outcome: TurnOutcome) -> TurnAction {
        TurnAction::Finish(outcome)
    }

    #[test]
    fn the_fast_path_is_taken_without_tools_and_with_one_step_at_most() {
        let table = [(false, 1), (false, 0), (false, 2), (true, 1), (true, 100)];
        let taken = table.map(|(tools, steps)| is_fast_path(tools, steps));
        assert_eq!(taken, [true, true, false, false, false]);
    }

    #[test]
    fn calls_in_a_complete_reply_run_whatever_the_finish_reason() {
        for stop in [
            StopReason::EndTurn,
            StopReason::ToolCalls,
            StopReason::Other("x".into()),
        ] {
            let reply = reply("", 2, Some(stop));
            assert!(
                matches!(after(true, &reply), TurnAction::CallTools(calls) if calls.len() == 2)
            );
        }
    }

    #[test]
    fn a_reply_without_calls_ends_the_turn_with_or_without_text() {
        for stop in [StopReason::EndTurn, StopReason::ToolCalls] {
            assert_eq!(
                after(true, &reply("hi", 0, Some(stop.clone()))),
                finish(TurnOutcome::Completed)
            );
            assert_eq!(
                after(true, &reply("", 0, Some(stop))),
                finish(TurnOutcome::Completed)
            );
        }
    }

    #[test]
    fn a_cut_stream_or_an_output_limit_runs_no_call() {
        assert_eq!(
            after(true, &reply("hi", 1, None)),
            finish(TurnOutcome::Truncated)
        );
        let limited = reply("", 1, Some(StopReason::MaxTokens));
        assert_eq!(after(true, &limited), finish(TurnOutcome::Truncated));
    }

    #[test]
    fn a_reply_of_which_nothing_could_be_understood_is_no_success() {
        let malformed = Reply {
            malformed: true,
            ..reply("", 0, Some(StopReason::ToolCalls))
        };
        assert_eq!(
            after(true, &malformed),
            finish(TurnOutcome::Error(ErrorKind::Protocol))
        );
        let with_text = Reply {
            malformed: true,
            ..reply("hi", 0, Some(StopReason::EndTurn))
        };
        assert_eq!(after(true, &with_text), finish(TurnOutcome::Completed));
    }

    #[test]
    fn a_refusal_and_an_unknown_reason_are_not_success() {
        assert_eq!(
            after(true, &reply("no", 0, Some(StopReason::Refused))),
            finish(TurnOutcome::Refused)
        );
        let unknown = reply("", 0, Some(StopReason::Other("pause".into())));
        assert_eq!(
            after(true, &unknown),
            finish(TurnOutcome::Error(ErrorKind::Protocol))
        );
    }

    #[test]
    fn calls_where_no_tools_are_on_offer_never_run() {
        let only_calls = reply("", 1, Some(StopReason::ToolCalls));
        assert_eq!(
            after(false, &only_calls),
            finish(TurnOutcome::Error(ErrorKind::Protocol))
        );
        let with_text = reply("hi", 1, Some(StopReason::ToolCalls));
        assert_eq!(after(false, &with_text), finish(TurnOutcome::Completed));
    }

    #[test]
    fn at_the_limit_the_tools_of_the_last_step_still_run() {
        for limit in [0, 1] {
            let mut turn = Turn::new(true, limit);
            turn.on_reply(&reply("", 1, Some(StopReason::ToolCalls)));
            assert!(matches!(turn.next_action(), TurnAction::CallTools(_)));
            turn.on_tool_results();
            assert_eq!(turn.next_action(), finish(TurnOutcome::MaxSteps));
        }
    }

    #[test]
    fn results_lead_to_the_next_step() {
        let mut turn = Turn::new(true, 6);
        turn.on_reply(&reply("", 1, Some(StopReason::ToolCalls)));
        turn.on_tool_results();
        assert_eq!(turn.next_action(), TurnAction::CallModel { step: 2 });
    }

    #[test]
    fn a_finished_turn_keeps_its_first_outcome() {
        let mut turn = Turn::new(true, 6);
        turn.on_cancel();
        turn.on_cancel();
        turn.on_reply(&reply("hi", 0, Some(StopReason::EndTurn)));
        turn.on_tool_results();
        turn.on_failure(TurnOutcome::ContextLimit);
        assert_eq!(turn.next_action(), finish(TurnOutcome::Aborted));
    }

    #[test]
    fn a_turn_survives_being_written_down() {
        let mut turn = Turn::new(true, 6);
        turn.on_reply(&reply("", 2, Some(StopReason::ToolCalls)));
        let text = serde_json::to_string(&turn).unwrap();
        assert_eq!(serde_json::from_str::<Turn>(&text).unwrap(), turn);
    }

    #[test]
    fn every_outcome_reads_back_from_its_name() {
        let errors = ERROR_KINDS
            .iter()
            .map(|(kind, _)| TurnOutcome::Error(*kind));
        for outcome in PLAIN_OUTCOMES
            .iter()
            .map(|(outcome, _)| outcome.clone())
            .chain(errors)
        {
            assert_eq!(TurnOutcome::try_from(outcome.to_string()), Ok(outcome));
        }
        assert!(TurnOutcome::try_from("error(nonsense)".to_owned()).is_err());
    }
}
