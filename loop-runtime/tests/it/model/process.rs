//! One process of the model: a machine, what it has not written yet, and the calls of its step.

use std::hash::{Hash, Hasher};

use loop_runtime::Turn;

use super::event::Event;

/// The real machine, which can be written down and so compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine(pub(super) Turn);

impl Hash for Machine {
    fn hash<H: Hasher>(&self, state: &mut H) {
        serde_json::to_string(&self.0).unwrap().hash(state);
    }
}

/// How far a call of the step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    New,
    Asking,
    Running,
    /// Its effect has happened.
    Ran,
    Ended,
}

/// What a write is for, and so what its end allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    Begin,
    Question(u8),
    Intent(u8),
    Result(u8),
    End,
}

/// A process that holds the session's lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) machine: Machine,
    /// The events of the journal that it knows.
    pub(super) known: usize,
    pub(super) waiting: Vec<Event>,
    /// A write under way, and whether it has reached the file, though not yet the disk.
    pub(super) write: Option<(Purpose, bool)>,
    pub(super) calls: Vec<(u8, Stage)>,
    /// Whether it still deals with what an earlier turn left open.
    pub(super) settling: bool,
    /// Whether an earlier turn has no end on record.
    pub(super) open_turn: bool,
    pub(super) cancelled: bool,
    pub(super) broken: bool,
    pub(super) deferred: bool,
}

impl Process {
    pub(super) fn new(known: usize, open_turn: bool) -> Self {
        Self {
            machine: Machine(Turn::new(true, 2)),
            known,
            waiting: Vec::new(),
            write: None,
            calls: Vec::new(),
            settling: true,
            open_turn,
            cancelled: false,
            broken: false,
            deferred: false,
        }
    }

    pub(super) fn first(&self, stage: Stage) -> Option<u8> {
        let found = self.calls.iter().find(|(_, at)| *at == stage);
        found.map(|(number, _)| *number)
    }

    pub(super) fn is_running(&self) -> bool {
        self.first(Stage::Running)
            .or(self.first(Stage::Ran))
            .is_some()
    }

    pub(super) fn advance(&mut self, number: u8, to: Stage) {
        for (_, stage) in self.calls.iter_mut().filter(|(at, _)| *at == number) {
            *stage = to;
        }
    }

    pub(super) fn push(&mut self, event: Event, purpose: Purpose) {
        self.waiting.push(event);
        self.write = Some((purpose, false));
    }

    /// Tells whether nothing of the step is left to do.
    pub(super) fn is_step_over(&self) -> bool {
        let open = |stage: Stage| !matches!(stage, Stage::Ended);
        let stopped = self.broken || self.deferred;
        !self.is_running() && (stopped || !self.calls.iter().any(|(_, stage)| open(*stage)))
    }
}
