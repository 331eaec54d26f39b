//! What a caller sees of a running turn.

use prompt_compiler::SectionReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill_core::{StopReason, Usage};

use crate::turn::TurnOutcome;

/// The version of the event format.
pub const EVENT_VERSION: u32 = 1;

/// One event of a turn, in the form in which `tekne run --json` prints it: one JSON object a line.
///
/// Later versions may add types and fields; readers skip what they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// The version of the format: 1.
    pub v: u32,
    /// The position in this run, from 1 without gaps.
    pub seq: u64,
    /// The session.
    pub session: String,
    /// The turn; empty before it has begun.
    pub turn: String,
    /// The step; 0 before the first.
    pub step: u32,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum EventKind {
    /// A session was begun or taken up again.
    #[serde(rename = "session.started")]
    SessionStarted {
        /// Whether it existed before.
        resumed: bool,
    },
    /// A turn was begun.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// The profile.
        profile: String,
        /// Whether it runs on the caller's task.
        fast_path: bool,
    },
    /// Context was gathered for the turn.
    #[serde(rename = "context.gathered")]
    ContextGathered {
        /// The names of the fragments, as the model reads them.
        fragments: Vec<String>,
    },
    /// A request was compiled.
    #[serde(rename = "prompt.compiled")]
    PromptCompiled {
        /// Its tokens.
        tokens: u64,
        /// The tokens there are.
        budget: u64,
        /// Tokens at its start that equal the previous request.
        stable_prefix_tokens: u64,
        /// Whether counts are exact.
        exact: bool,
        /// The ledger.
        sections: Vec<SectionReport>,
    },
    /// A request was sent.
    #[serde(rename = "model.started")]
    ModelStarted {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// More text.
    #[serde(rename = "text.delta")]
    TextDelta {
        /// The text.
        text: String,
    },
    /// More visible reasoning.
    #[serde(rename = "reasoning.delta")]
    ReasoningDelta {
        /// The text.
        text: String,
    },
    /// An answer ended.
    #[serde(rename = "model.finished")]
    ModelFinished {
        /// Why the model stopped; absent when the stream was cut.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        stop_reason: Option<StopReason>,
        /// What it cost.
        usage: Usage,
    },
    /// A call was received.
    #[serde(rename = "tool.pending")]
    ToolPending {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments: the JSON value, or the text where it is not JSON.
        arguments: Value,
    },
    /// A call waits for a decision.
    #[serde(rename = "tool.approval")]
    ToolApproval {
        /// The call's id.
        id: String,
        /// Exactly what would be done.
        action: String,
        /// Why it has to be asked.
        reason: String,
    },
    /// A call runs.
    #[serde(rename = "tool.running")]
    ToolRunning {
        /// The call's id.
        id: String,
    },
    /// A call ended.
    #[serde(rename = "tool.finished")]
    ToolFinished {
        /// The call's id.
        id: String,
        /// Its terminal state.
        status: String,
        /// What the model reads.
        content: String,
        /// Whether that is a failure.
        is_error: bool,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    },
    /// A skill was opened.
    #[serde(rename = "skill.opened")]
    SkillOpened {
        /// Its id.
        id: String,
        /// Its version, where it has one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        version: Option<String>,
        /// The digest of its content.
        digest: String,
        /// What opened it.
        via: String,
    },
    /// Session state changed.
    #[serde(rename = "state.delta")]
    StateDelta {
        /// The keys.
        keys: Vec<String>,
    },
    /// Something the user should know.
    #[serde(rename = "notice")]
    Notice {
        /// A stable code.
        code: String,
        /// What it is.
        message: String,
    },
    /// The turn ended.
    #[serde(rename = "turn.finished")]
    TurnFinished {
        /// Why.
        outcome: TurnOutcome,
        /// The answer.
        text: String,
        /// What the turn cost.
        usage: Usage,
        /// How many calls were denied.
        denied: u32,
        /// What it cost in US dollars, where prices are known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost_usd: Option<f64>,
    },
}

/// Numbers events and hands them on.
pub(crate) struct Emitter<'a> {
    session: String,
    turn: String,
    step: u32,
    seq: u64,
    sink: &'a mut (dyn FnMut(AgentEvent) + Send),
}

impl std::fmt::Debug for Emitter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Emitter")
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(session: String, sink: &'a mut (dyn FnMut(AgentEvent) + Send)) -> Self {
        Self {
            session,
            turn: String::new(),
            step: 0,
            seq: 0,
            sink,
        }
    }

    pub(crate) fn enter_turn(&mut self, turn: &str) {
        turn.clone_into(&mut self.turn);
    }

    pub(crate) fn enter_step(&mut self, step: u32) {
        self.step = step;
    }

    pub(crate) fn emit(&mut self, kind: EventKind) {
        self.seq += 1;
        (self.sink)(AgentEvent {
            v: EVENT_VERSION,
            seq: self.seq,
            session: self.session.clone(),
            turn: self.turn.clone(),
            step: self.step,
            kind,
        });
    }
}
