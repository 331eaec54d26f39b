//! Everything there is in the model: the journal on its disk, processes, and what calls have done.

use std::sync::{Arc, LazyLock};

use loop_runtime::{ErrorKind, Progress, Projection, TurnAction, TurnOutcome};
use prompt_compiler::validate;
use skill_core::{CallStatus, CompletionRequest, ModelId, ToolCall, ToolDefinition};

use super::Bounds;
use super::event::{Event, Kind, Reply};
use super::process::{Process, Purpose, Stage};

/// What the world outside knows of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Call {
    kind: Kind,
    pub(super) effects: u8,
    pub(super) asked: u8,
    /// The process in which it was granted and not yet used.
    granted: Option<usize>,
}

/// A state of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) journal: Vec<Event>,
    /// How much of it is on the disk, and how much of that somebody was told of.
    pub(super) synced: usize,
    pub(super) acknowledged: usize,
    pub(super) calls: Vec<Call>,
    processes: [Option<Process>; 2],
    turns: u8,
    crashes: u8,
    failures: u8,
    pub(super) ungranted: bool,
    pub(super) unannounced: bool,
    pub(super) invalid_request: bool,
    pub(super) interleaved: bool,
    pub(super) busy: bool,
    untrue_request: bool,
}

/// What may happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Start(usize),
    Reply(usize, Reply),
    Decide(usize),
    Answer(usize, bool),
    Defer(usize),
    Effect(usize, u8),
    Return(usize, u8),
    Cancel(usize),
    Write(usize),
    Sync(usize),
    FailWrite(usize),
    Kill(usize),
    PowerLoss,
}

static TOOLS: LazyLock<Arc<[ToolDefinition]>> = LazyLock::new(|| {
    [ToolDefinition {
        name: "act".to_owned(),
        description: "Acts.".to_owned(),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
    }]
    .into()
});

const REPLIES: [Reply; 7] = [
    Reply::Text,
    Reply::Cut,
    Reply::Calls([Some(Kind::Free), None]),
    Reply::Calls([Some(Kind::Ask), None]),
    Reply::Calls([Some(Kind::Free), Some(Kind::Free)]),
    Reply::Calls([Some(Kind::Free), Some(Kind::Ask)]),
    Reply::Calls([Some(Kind::Ask), Some(Kind::Deny)]),
];

impl World {
    /// Tells whether every result on record is what happened.
    pub(super) fn is_honest(&self) -> bool {
        let honest = |event: &Event| match event {
            Event::Finished(number, status) => self.is_true(*number, *status),
            _ => true,
        };
        !self.untrue_request && self.journal.iter().all(honest)
    }

    fn is_true(&self, number: u8, status: CallStatus) -> bool {
        let effects = self
            .calls
            .get(usize::from(number))
            .map_or(0, |call| call.effects);
        match status {
            CallStatus::Success => effects > 0,
            CallStatus::Aborted | CallStatus::Rejected => effects == 0,
            _ => true,
        }
    }

    pub(super) fn has_result(&self, status: CallStatus) -> bool {
        let has = |event: &Event| matches!(event, Event::Finished(_, found) if *found == status);
        self.journal.iter().any(has)
    }

    pub(super) fn actions(&self, bounds: &Bounds, actions: &mut Vec<Action>) {
        let alive = self.processes.iter().flatten().count();
        let may_crash = self.crashes < bounds.crashes && alive > 0;
        if may_crash {
            actions.push(Action::PowerLoss);
        }
        for at in [0, 1] {
            match &self.processes[at] {
                None if self.turns < bounds.turns && (at == 0 || alive > 0) => {
                    actions.push(Action::Start(at));
                }
                None => {}
                Some(process) => {
                    if may_crash {
                        actions.push(Action::Kill(at));
                    }
                    self.actions_of(at, process, bounds, actions);
                }
            }
        }
    }

    fn actions_of(&self, at: usize, process: &Process, bounds: &Bounds, to: &mut Vec<Action>) {
        for (number, stage) in &process.calls {
            match stage {
                Stage::Running => to.push(Action::Effect(at, *number)),
                Stage::Asking if process.write.is_none() => {
                    to.extend([Action::Answer(at, true), Action::Answer(at, false)]);
                    to.push(Action::Defer(at));
                }
                _ => {}
            }
            let stops = *stage == Stage::Running && process.cancelled;
            if process.write.is_none() && (stops || *stage == Stage::Ran) {
                to.push(Action::Return(at, *number));
            }
        }
        match process.write {
            Some((_, true)) => to.push(Action::Sync(at)),
            Some((_, false)) => {
                to.push(Action::Write(at));
                if self.failures < bounds.failures {
                    to.push(Action::FailWrite(at));
                }
            }
            None if process.settling || process.first(Stage::New).is_some() => {
                if self.can_decide(process) {
                    to.push(Action::Decide(at));
                }
            }
            None => {
                if matches!(
                    process.machine.0.next_action(),
                    TurnAction::CallModel { .. }
                ) {
                    let room = usize::from(bounds.calls).saturating_sub(self.calls.len());
                    let fits = |reply: &&Reply| reply.kinds().count() <= room;
                    to.extend(
                        REPLIES
                            .iter()
                            .filter(fits)
                            .map(|reply| Action::Reply(at, *reply)),
                    );
                }
            }
        }
        if !process.cancelled && !matches!(process.write, Some((Purpose::End, _))) {
            to.push(Action::Cancel(at));
        }
    }

    fn can_decide(&self, process: &Process) -> bool {
        let Some(next) = process.first(Stage::New) else {
            return false;
        };
        let kind = self.calls[usize::from(next)].kind;
        let asking = process.first(Stage::Asking).is_some();
        // Whoever is asked sees the world as it is after everything before it.
        let waits = kind == Kind::Ask && process.is_running();
        !process.broken && !process.deferred && !asking && (!waits || process.cancelled)
    }

    pub(super) fn act(&mut self, bounds: &Bounds, action: Action) {
        match action {
            Action::PowerLoss => {
                self.crashes += 1;
                self.journal.truncate(self.synced);
                [0, 1].into_iter().for_each(|at| self.end(at));
            }
            Action::Kill(at) => {
                self.crashes += 1;
                self.end(at);
            }
            Action::Start(_) if self.processes.iter().any(Option::is_some) => self.busy = true,
            Action::Start(at) => self.start(at),
            Action::Effect(at, number) => self.effect(at, number),
            other => self.act_in(bounds, other),
        }
    }

    /// Does what one process does, and what follows from it without anything else happening.
    fn act_in(&mut self, bounds: &Bounds, action: Action) {
        let (Action::Reply(at, _)
        | Action::Decide(at)
        | Action::Answer(at, _)
        | Action::Defer(at)
        | Action::Return(at, _)
        | Action::Cancel(at)
        | Action::Write(at)
        | Action::Sync(at)
        | Action::FailWrite(at)) = action
        else {
            return;
        };
        let Some(mut process) = self.processes[at].take() else {
            return;
        };
        let alive = match action {
            Action::Reply(_, reply) => self.reply(&mut process, reply),
            Action::Decide(_) => self.decide(bounds, at, &mut process),
            Action::Answer(_, yes) => self.answer(bounds, at, &mut process, yes),
            Action::Write(_) => self.write(&mut process),
            Action::Sync(_) => self.sync(&mut process),
            Action::FailWrite(_) => self.fail_write(&mut process),
            Action::Defer(_) => process.defer(),
            Action::Return(_, number) => process.ended(number),
            _ => process.cancel(),
        };
        if alive {
            process.go_on();
            self.processes[at] = Some(process);
        } else {
            self.end(at);
        }
    }

    /// A process is gone, and what was granted in it with it.
    fn end(&mut self, at: usize) {
        self.processes[at] = None;
        for call in self
            .calls
            .iter_mut()
            .filter(|call| call.granted == Some(at))
        {
            call.granted = None;
        }
    }

    fn projection(&self, waiting: &[Event]) -> Projection {
        let events = self.journal.iter().chain(waiting);
        let entries: Vec<_> = (1..)
            .zip(events)
            .map(|(seq, event)| event.entry(seq))
            .collect();
        Projection::of(&entries)
    }

    fn start(&mut self, at: usize) {
        self.turns += 1;
        let projection = self.projection(&[]);
        let mut process = Process::new(self.journal.len(), projection.open_turn.is_some());
        let finished = |call: &ToolCall, status| Event::Finished(number(call), status);
        let asks = projection.awaits_approval();
        for (call, progress) in projection.open_calls() {
            match progress {
                Progress::Acting => process.waiting.push(finished(call, CallStatus::Unknown)),
                Progress::NotStarted if asks => process.calls.push((number(call), Stage::New)),
                _ => process.waiting.push(finished(call, CallStatus::Aborted)),
            }
        }
        process.go_on();
        self.processes[at] = Some(process);
    }

    fn reply(&mut self, process: &mut Process, reply: Reply) -> bool {
        self.judge_request(&process.waiting);
        let first = u8::try_from(self.calls.len()).unwrap();
        process.waiting.push(Event::Replied(first, reply));
        process.machine.0.on_reply(&reply.reply(first));
        process.calls.clear();
        if reply == Reply::Cut {
            return true;
        }
        for (number, kind) in (first..).zip(reply.kinds()) {
            process.calls.push((number, Stage::New));
            self.calls.push(Call {
                kind,
                effects: 0,
                asked: 0,
                granted: None,
            });
        }
        true
    }

    /// Looks at the request that would be sent now as a strict provider does, and at what it says.
    fn judge_request(&mut self, waiting: &[Event]) {
        let messages = self.projection(waiting).messages;
        let number = |id: &str| id.parse().unwrap();
        let is_true = messages
            .iter()
            .flat_map(|message| message.results())
            .all(|result| self.is_true(number(&result.call_id), result.status));
        self.untrue_request |= !is_true;
        let request = CompletionRequest {
            model: ModelId::new("m"),
            system: Vec::new(),
            messages,
            tools: Arc::clone(&TOOLS),
            max_output_tokens: None,
        };
        self.invalid_request |= validate(&request).is_err();
    }

    fn decide(&mut self, bounds: &Bounds, at: usize, process: &mut Process) -> bool {
        let Some(number) = process.first(Stage::New) else {
            return true;
        };
        let call = &mut self.calls[usize::from(number)];
        match call.kind {
            _ if process.cancelled => {
                process.push(
                    Event::Finished(number, CallStatus::Aborted),
                    Purpose::Result(number),
                );
            }
            Kind::Free => self.grant(bounds, at, process, number),
            Kind::Ask => {
                call.asked += 1;
                process.advance(number, Stage::Asking);
                process.push(Event::Asked(number), Purpose::Question(number));
            }
            Kind::Deny => {
                process.push(
                    Event::Finished(number, CallStatus::Rejected),
                    Purpose::Result(number),
                );
            }
        }
        true
    }

    fn answer(&mut self, bounds: &Bounds, at: usize, process: &mut Process, yes: bool) -> bool {
        let Some(number) = process.first(Stage::Asking) else {
            return true;
        };
        if yes && !process.cancelled {
            self.grant(bounds, at, process, number);
        } else {
            let status = if process.cancelled {
                CallStatus::Aborted
            } else {
                CallStatus::Rejected
            };
            process.push(Event::Finished(number, status), Purpose::Result(number));
        }
        true
    }

    /// Lets a call run: its intent first.
    fn grant(&mut self, bounds: &Bounds, at: usize, process: &mut Process, number: u8) {
        self.calls[usize::from(number)].granted = Some(at);
        if bounds.intents {
            process.push(Event::Intent(number), Purpose::Intent(number));
        } else {
            process.advance(number, Stage::Running);
        }
    }

    fn effect(&mut self, at: usize, number: u8) {
        let call = &mut self.calls[usize::from(number)];
        call.effects += 1;
        self.ungranted |= call.granted.take() != Some(at);
        let durable = &self.journal[..self.synced];
        self.unannounced |= !durable.contains(&Event::Intent(number));
        if let Some(process) = &mut self.processes[at] {
            process.advance(number, Stage::Ran);
        }
    }

    fn write(&mut self, process: &mut Process) -> bool {
        self.interleaved |= process.known != self.journal.len();
        self.journal.append(&mut process.waiting);
        process.known = self.journal.len();
        process.write = process.write.map(|(purpose, _)| (purpose, true));
        true
    }

    fn sync(&mut self, process: &mut Process) -> bool {
        self.synced = self.journal.len();
        self.acknowledged = self.synced;
        match process.write.take() {
            Some((Purpose::Intent(number), _)) => process.advance(number, Stage::Running),
            Some((Purpose::Result(number), _)) => process.advance(number, Stage::Ended),
            Some((Purpose::End, _)) => return false,
            Some((Purpose::Begin | Purpose::Question(_), _)) | None => {}
        }
        true
    }

    fn fail_write(&mut self, process: &mut Process) -> bool {
        self.failures += 1;
        let failed = TurnOutcome::Error(ErrorKind::Journal);
        match process.write.take() {
            Some((Purpose::End, _)) => return false,
            Some((Purpose::Begin, _)) => process.machine.0.on_failure(failed),
            Some((
                Purpose::Question(number) | Purpose::Intent(number) | Purpose::Result(number),
                _,
            )) => {
                process.broken = true;
                process.advance(number, Stage::Ended);
            }
            None => {}
        }
        true
    }
}

impl Process {
    fn defer(&mut self) -> bool {
        self.deferred = true;
        true
    }

    fn cancel(&mut self) -> bool {
        self.cancelled = true;
        true
    }

    /// A call that ran has come to its end, or was stopped on the way.
    fn ended(&mut self, number: u8) -> bool {
        let status = if self.cancelled {
            CallStatus::Unknown
        } else {
            CallStatus::Success
        };
        self.push(Event::Finished(number, status), Purpose::Result(number));
        true
    }

    /// Goes on to where something from outside is needed: an answer, a decision, the disk.
    fn go_on(&mut self) {
        while self.write.is_none() {
            if self.settling {
                if !self.is_step_over() {
                    return;
                }
                self.settle();
                continue;
            }
            match self.machine.0.next_action() {
                TurnAction::CallModel { .. } if self.cancelled => self.machine.0.on_cancel(),
                TurnAction::CallModel { .. } => return,
                TurnAction::CallTools(_) if !self.is_step_over() => return,
                TurnAction::CallTools(_) => self.end_step(),
                TurnAction::Finish(outcome) => {
                    self.push(Event::Ended(name(&outcome)), Purpose::End);
                }
            }
        }
    }

    fn settle(&mut self) {
        self.settling = false;
        if self.broken || self.deferred || self.cancelled {
            self.end_step();
            return;
        }
        if self.open_turn {
            self.waiting.push(Event::Ended("aborted"));
        }
        self.calls.clear();
        self.push(Event::Begun, Purpose::Begin);
    }

    fn end_step(&mut self) {
        let machine = &mut self.machine.0;
        if self.broken {
            machine.on_failure(TurnOutcome::Error(ErrorKind::Journal));
        } else if self.cancelled {
            machine.on_cancel();
        } else if self.deferred {
            machine.on_failure(TurnOutcome::AwaitingApproval);
        } else {
            machine.on_tool_results();
        }
    }
}

fn number(call: &ToolCall) -> u8 {
    call.id.parse().unwrap()
}

fn name(outcome: &TurnOutcome) -> &'static str {
    let names = [
        "completed",
        "max_steps",
        "aborted",
        "awaiting_approval",
        "truncated",
    ];
    let named = names.into_iter().find(|name| outcome.to_string() == *name);
    named.unwrap_or("error(journal)")
}
