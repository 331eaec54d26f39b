//! Machine, journal, approvals and crashes as a model whose every state is looked at.
//!
//! The machine is the real [`Turn`](loop_runtime::Turn), and what a session is taken up with is the
//! real [`Projection`](loop_runtime::Projection) of its journal. Around them the model does what the
//! driver and the gateway do, one durable write at a time, while processes are killed, power is lost,
//! disks fill up, users cancel, answer late, and start a second process.

mod event;
mod process;
mod world;

use stateright::{Checker, Model, Property};

use event::{Event, Kind, Reply};
use world::{Action, World};

/// How far the model goes.
#[derive(Clone, Debug)]
struct Bounds {
    /// Whether an intent is recorded before its effect; without it the promises must fail.
    intents: bool,
    /// The turns that are begun, in all processes.
    turns: u8,
    /// The calls that the model of language asks for, in all turns.
    calls: u8,
    /// Kills and power losses.
    crashes: u8,
    /// Writes that fail.
    failures: u8,
}

/// What is checked with every test run.
const SMALL: Bounds = Bounds {
    intents: true,
    turns: 2,
    calls: 2,
    crashes: 1,
    failures: 1,
};

/// What is checked once.
const LARGE: Bounds = Bounds {
    intents: true,
    turns: 3,
    calls: 3,
    crashes: 2,
    failures: 1,
};

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::default()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no call has its effect twice", |_, world: &World| {
                world.calls.iter().all(|call| call.effects <= 1)
            }),
            Property::always("no effect without a grant", |_, world: &World| {
                !world.ungranted
            }),
            Property::always(
                "no effect before its intent is durable",
                |model: &Self, world: &World| !model.intents || !world.unannounced,
            ),
            Property::always("every request is valid", |_, world: &World| {
                !world.invalid_request
            }),
            Property::always("what is on record is true", |_, world: &World| {
                world.is_honest()
            }),
            Property::always("what was acknowledged stays", |_, world: &World| {
                world.acknowledged <= world.synced
            }),
            Property::always("a session has one writer", |_, world: &World| {
                !world.interleaved
            }),
            Property::sometimes("a turn completes", |_, world: &World| {
                world.journal.contains(&Event::Ended("completed"))
            }),
            Property::sometimes("an outcome is unknown", |_, world: &World| {
                world.has_result(skill_core::CallStatus::Unknown)
            }),
            Property::sometimes("a call is denied", |_, world: &World| {
                world.has_result(skill_core::CallStatus::Rejected)
            }),
            Property::sometimes(
                "a question outlives its process and is granted",
                |_, world: &World| {
                    world
                        .calls
                        .iter()
                        .any(|call| call.asked > 1 && call.effects > 0)
                },
            ),
            Property::sometimes("a second process is refused", |_, world: &World| world.busy),
        ]
    }
}

/// Looks at every state within the bounds; returns how many there are.
fn check(bounds: Bounds) -> usize {
    let checker = bounds.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

#[test]
fn p11_p13_no_interleaving_of_crashes_and_answers_breaks_a_promise() {
    let states = check(SMALL);
    eprintln!("{states} states, 0 violations");
    assert!(states > 50_000, "{states} states");
}

#[test]
#[ignore = "`cargo xtask ci --long` runs it"]
fn long_p11_p13_two_million_states_and_more_hold_every_promise() {
    let states = check(LARGE);
    eprintln!("{states} states, 0 violations");
    assert!(states >= 2_000_000, "{states} states");
}

#[test]
fn p11_without_intents_a_crash_makes_an_effect_happen_twice_and_the_record_lie() {
    let without = Bounds {
        intents: false,
        ..SMALL
    };
    for refuted in ["no call has its effect twice", "what is on record is true"] {
        let checker = without
            .clone()
            .checker()
            .finish_when(stateright::HasDiscoveries::AnyOf([refuted].into()))
            .spawn_bfs()
            .join();
        let path = checker.discovery(refuted);
        let path = path.unwrap_or_else(|| panic!("`{refuted}` holds without intents"));
        eprintln!("{refuted}: refuted by {:?}", path.into_actions());
    }
}

#[test]
fn the_model_of_an_answer_is_what_the_machine_takes() {
    let reply = Reply::Calls([Some(Kind::Free), Some(Kind::Ask)]);
    let message = reply.reply(4).message;
    let ids: Vec<&str> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["4", "5"]);
}
