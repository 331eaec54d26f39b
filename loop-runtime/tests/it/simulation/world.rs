//! What surrounds the agent: tools that act, people that answer, and what both remember.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loop_runtime::{AgentEvent, EventKind, JournalEntry, JournalEvent, SessionRecord};
use skill_core::{CallStatus, CompletionRequest};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, Gateway, Mode, Policy, Source, ToolError, ToolOutput,
};

use crate::crash::Dice;

pub(super) type Shared = Arc<Mutex<World>>;

/// The arguments of every tool: the number of the call, so that its effects can be counted.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Act {
    number: u32,
}

/// Everything outside the process; it outlives every process.
#[derive(Debug)]
pub(super) struct World {
    dice: Dice,
    pub(super) record: Option<SessionRecord>,
    pub(super) leased: bool,
    effects: BTreeMap<u32, u32>,
    /// Calls that a person or a rule allowed in this life and that have not acted yet.
    granted: BTreeSet<u32>,
    asked: BTreeMap<u32, u32>,
    next: u32,
    crash: CancellationToken,
    /// Nothing fails any more: what is left must come to a good end.
    pub(super) calm: bool,
    pub(super) broken: Vec<String>,
    pub(super) seen: BTreeSet<&'static str>,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed + 1),
            record: None,
            leased: false,
            effects: BTreeMap::new(),
            granted: BTreeSet::new(),
            asked: BTreeMap::new(),
            next: 0,
            crash: CancellationToken::new(),
            calm: false,
            broken: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    pub(super) fn roll(&mut self, bound: usize) -> usize {
        self.dice.below(bound)
    }

    pub(super) fn milliseconds(&mut self, below: usize) -> Duration {
        Duration::from_millis(self.roll(below) as u64)
    }

    pub(super) fn begin_life(&mut self, calm: bool) -> CancellationToken {
        self.calm = calm;
        self.crash = CancellationToken::new();
        self.crash.clone()
    }

    /// The process is gone, and with it what had been allowed in it.
    pub(super) fn after_life(&mut self) {
        self.granted.clear();
        if self.leased {
            self.broken.push("a lease outlived its process".to_owned());
        }
    }

    pub(super) fn kill(&mut self) {
        self.seen.insert("killed");
        self.crash.cancel();
    }

    pub(super) fn session(&self) -> Option<String> {
        self.record.as_ref().map(|record| record.header.id.clone())
    }

    pub(super) fn entries(&self) -> &[JournalEntry] {
        self.record
            .as_ref()
            .map_or(&[], |record| record.entries.as_slice())
    }

    /// Returns the number of a new call.
    pub(super) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn effects(&self, number: u32) -> u32 {
        self.effects.get(&number).copied().unwrap_or_default()
    }

    fn act(&mut self, number: u32, tool: &'static str) {
        self.seen.insert("effect");
        *self.effects.entry(number).or_default() += 1;
        if self.effects(number) > 1 {
            self.broken.push(format!("call {number} acted twice"));
        }
        if tool == "ask" && !self.granted.remove(&number) {
            self.broken
                .push(format!("call {number} acted without a grant"));
        }
        if tool == "deny" {
            self.broken
                .push(format!("call {number} acted though denied"));
        }
        let id = self.id_of(number);
        let is_intent = |entry: &JournalEntry| matches!(&entry.event, JournalEvent::ToolStarted { call_id, .. } if Some(call_id) == id.as_ref());
        if !self.entries().iter().any(is_intent) {
            let broken = format!("call {number} acted before its intent was durable");
            self.broken.push(broken);
        }
    }

    /// Returns the id under which the journal knows a call.
    fn id_of(&self, number: u32) -> Option<String> {
        let arguments = arguments(number);
        self.entries()
            .iter()
            .rev()
            .find_map(|entry| match &entry.event {
                JournalEvent::ModelReplied { message, .. } => message
                    .tool_calls()
                    .find(|call| call.arguments == arguments)
                    .map(|call| call.id.clone()),
                _ => None,
            })
    }

    /// Hears what a caller of the agent is told, which must be on record by then.
    pub(super) fn hear(&mut self, event: &AgentEvent) {
        if let EventKind::ToolFinished { id, status, .. } = &event.kind {
            let is_result = |entry: &JournalEntry| matches!(&entry.event, JournalEvent::ToolFinished { result, .. } if result.call_id == *id);
            if !self.entries().iter().any(is_result) {
                self.broken
                    .push(format!("{id} was told and is not on record"));
            }
            match status.as_str() {
                "rejected" => self.seen.insert("denied"),
                "timed_out" => self.seen.insert("timed out"),
                _ => false,
            };
        }
        if let EventKind::TurnFinished { outcome, .. } = &event.kind {
            let outcome = outcome.to_string();
            if outcome == "aborted" {
                self.seen.insert("aborted");
            }
            if outcome.is_empty() {
                self.broken.push("a turn ended without a name".to_owned());
            }
        }
    }

    /// Judges a request as a strict provider does, and whether what it says happened did.
    pub(super) fn judge_request(&mut self, request: &CompletionRequest) {
        if let Err(fault) = prompt_compiler::validate(request) {
            self.broken.push(format!("an invalid request: {fault}"));
        }
        let calls: BTreeMap<&str, u32> = request
            .messages
            .iter()
            .flat_map(|message| message.tool_calls())
            .filter_map(|call| Some((call.id.as_str(), number_of(&call.arguments)?)))
            .collect();
        for result in request
            .messages
            .iter()
            .flat_map(|message| message.results())
        {
            let Some(number) = calls.get(result.call_id.as_str()) else {
                continue;
            };
            let effects = self.effects(*number);
            let claims_none = result.status == CallStatus::Rejected
                || ["Nothing was done", "nothing happened", "not started"]
                    .iter()
                    .any(|words| result.content.contains(words));
            let lies = match result.status {
                CallStatus::Success => effects != 1,
                _ => claims_none && effects > 0,
            };
            if result.status == CallStatus::Unknown {
                self.seen.insert("unknown");
            }
            if lies {
                let (status, content) = (result.status, &result.content);
                self.broken.push(format!(
                    "call {number} with {effects} effects is {status:?}: {content}"
                ));
            }
        }
    }

    /// Judges the journal when everything is over.
    pub(super) fn judge_journal(&self) -> Result<(), String> {
        let entries = self.entries();
        let numbered = (1..).zip(entries).all(|(seq, entry)| entry.seq == seq);
        let last = entries.last().map(|entry| &entry.event);
        match last {
            _ if !numbered => Err("the numbers of events have a gap".to_owned()),
            Some(JournalEvent::TurnFinished { .. }) => Ok(()),
            other => Err(format!("the last turn has no end: {other:?}")),
        }
    }
}

/// Returns the arguments of a call.
pub(super) fn arguments(number: u32) -> String {
    format!("{{\"number\":{number}}}")
}

fn number_of(arguments: &str) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_str(arguments).ok()?;
    u32::try_from(value.get("number")?.as_u64()?).ok()
}

/// A person: takes a while, and says yes, no, or nothing.
#[derive(Debug)]
pub(super) struct SimulatedApprover(pub(super) Shared);

#[async_trait::async_trait]
impl Approver for SimulatedApprover {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        let (delay, answer) = {
            let mut world = self.0.lock().unwrap();
            (world.milliseconds(30_000), world.roll(4))
        };
        sleep(delay).await;
        let digits = request.action.chars().filter(char::is_ascii_digit);
        let number: u32 = digits.collect::<String>().parse().unwrap();
        let mut world = self.0.lock().unwrap();
        let asked = world.asked.entry(number).or_default();
        *asked += 1;
        if *asked > 1 {
            world.seen.insert("asked again");
        }
        match answer {
            0 => Approval::Deny {
                reason: "no".into(),
            },
            1 if !world.calm => Approval::Defer,
            _ => {
                world.granted.insert(number);
                Approval::Allow
            }
        }
    }
}

/// Builds a gateway with the tools of the simulation.
pub(super) fn gateway(world: &Shared, approver: SimulatedApprover) -> Gateway {
    let rules = [
        "allow tool(note)",
        "allow tool(slow)",
        "allow tool(fail)",
        "ask tool(ask)",
        "deny tool(deny)",
    ];
    let rules = rules.map(|rule| (Source::User, rule.parse().unwrap()));
    let (policy, _) = Policy::merge(Mode::Interactive, rules);
    let mut builder = Gateway::builder()
        .policy(policy)
        .approver(Arc::new(approver));
    // The longest that each of them takes, in milliseconds.
    for (name, longest) in [
        ("note", 2_000),
        ("slow", 900_000),
        ("ask", 2_000),
        ("deny", 10),
        ("fail", 50),
    ] {
        let world = Arc::clone(world);
        builder = builder.tool(tool_gateway::function(name, "Acts.", move |act: Act| {
            let world = Arc::clone(&world);
            async move { perform(&world, act.number, name, longest).await }
        }));
    }
    builder.build().unwrap()
}

async fn perform(
    world: &Shared,
    number: u32,
    name: &'static str,
    longest: usize,
) -> Result<ToolOutput, ToolError> {
    let (before, after) = {
        let mut world = world.lock().unwrap();
        (world.milliseconds(longest), world.milliseconds(longest))
    };
    sleep(before).await;
    if name == "fail" {
        return Err(ToolError::failed("nothing came of it"));
    }
    world.lock().unwrap().act(number, name);
    sleep(after).await;
    Ok(ToolOutput::text(format!("did {number}")))
}
