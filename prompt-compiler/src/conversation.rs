//! The conversation as a provider takes it, made from the messages once and kept for the next time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use skill_core::{ContentBlock, Message, Role, ToolResult};

use crate::groups::{self, Form};
use crate::meter::Meter;
use crate::output::Fingerprint;
use crate::pipeline::Stage;

/// One message as a provider takes it.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) message: Arc<Message>,
    /// The messages it was made from.
    source: Range<usize>,
    /// An upper bound of its tokens.
    bound: u64,
    /// Its tokens, once they were counted.
    tokens: Option<u64>,
    pub(crate) fingerprint: u64,
}

impl Unit {
    /// Returns the tokens, as `meter` measures them.
    pub(crate) fn size(&self, meter: &Meter<'_>) -> u64 {
        match self.tokens {
            _ if meter.is_bound() => self.bound,
            Some(tokens) => tokens,
            None => meter.message(&self.message),
        }
    }
}

/// The conversation so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    raw: Vec<Arc<Message>>,
    form: Form,
    /// The stages that had a say in it.
    stages: Vec<&'static str>,
    pub(crate) units: Vec<Unit>,
    /// The ids of the calls in it.
    ids: BTreeSet<String>,
}

impl Turns {
    /// Takes in `messages`; what they have in common with those before is not looked at again.
    pub(crate) fn take(
        &mut self,
        messages: &[Arc<Message>],
        form: Form,
        stages: &[Arc<dyn Stage>],
    ) {
        let names = stages.iter().map(|stage| stage.name());
        if self.form != form || !names.clone().eq(self.stages.iter().copied()) {
            *self = Self {
                form,
                stages: names.collect(),
                ..Self::default()
            };
        }
        let same = self
            .raw
            .iter()
            .zip(messages)
            .take_while(|(known, now)| Arc::ptr_eq(known, now) || known == now)
            .count();
        if same == messages.len() && same == self.raw.len() {
            return;
        }
        let mut position = self.rewind(same);
        self.raw.truncate(same);
        self.raw.extend(messages.iter().skip(same).cloned());
        while position < messages.len() {
            position = self.push(messages, position, stages);
        }
    }

    /// Drops what depends on more than the first `same` messages; returns where to go on.
    ///
    /// What was made from the last messages goes in any case: what comes next may belong to it.
    fn rewind(&mut self, same: usize) -> usize {
        let mut keep = same;
        if let Some(last) = self.units.last()
            && last.source.end == self.raw.len()
        {
            keep = keep.min(last.source.start);
        }
        while let Some(last) = self.units.pop_if(|last| last.source.end > keep) {
            keep = keep.min(last.source.start);
            for call in last.message.tool_calls() {
                self.ids.remove(&call.id);
            }
        }
        self.units.last().map_or(0, |last| last.source.end)
    }

    /// Takes in the message at `position` and what belongs to it; returns what comes next.
    fn push(
        &mut self,
        messages: &[Arc<Message>],
        position: usize,
        stages: &[Arc<dyn Stage>],
    ) -> usize {
        let Some(message) = messages.get(position) else {
            return messages.len();
        };
        let end = position + 1;
        match message.role {
            // A provider takes no conversation that does not begin with the user.
            role if self.units.is_empty() && role != Role::User => end,
            Role::User => {
                let content = groups::shown(message);
                self.add(message, content, Role::User, position..end);
                end
            }
            Role::Assistant => {
                let results = groups::following_results(messages, end);
                let end = end + results.messages;
                let settle = |result: &mut ToolResult| {
                    stages.iter().for_each(|stage| stage.settle(result));
                };
                match self.form {
                    Form::Calls => {
                        let group = groups::group(message, &results.found, &mut self.ids, &settle);
                        self.add(message, group.said, Role::Assistant, position..end);
                        if let Some(tool) = messages.get(position + 1) {
                            self.add(tool, group.results, Role::Tool, position..end);
                        }
                    }
                    Form::Text => {
                        let mut ids = BTreeSet::new();
                        let group = groups::group(message, &results.found, &mut ids, &settle);
                        let content = groups::as_text(group);
                        self.add(message, content, Role::Assistant, position..end);
                    }
                }
                end
            }
            // A result with no call before it has nothing to belong to; system text has its own
            // place.
            Role::Tool | Role::System => end,
        }
    }

    /// Adds a message of `content`, or adds it to the one before if the role is the same.
    fn add(
        &mut self,
        original: &Arc<Message>,
        content: Vec<ContentBlock>,
        role: Role,
        source: Range<usize>,
    ) {
        if content.is_empty() {
            return;
        }
        match self.units.last_mut() {
            Some(last) if last.message.role == role => {
                Arc::make_mut(&mut last.message).content.extend(content);
                let source = last.source.start..source.end;
                *last = Unit::new(Arc::clone(&last.message), source);
            }
            _ => {
                let whole = original.role == role && original.content == content;
                let message = if whole {
                    Arc::clone(original)
                } else {
                    Arc::new(Message { role, content })
                };
                self.units.push(Unit::new(message, source));
            }
        }
    }

    /// Counts what was not counted yet.
    pub(crate) fn count(&mut self, meter: &Meter<'_>) {
        if meter.is_bound() {
            return;
        }
        for unit in &mut self.units {
            if unit.tokens.is_none() {
                unit.tokens = Some(meter.message(&unit.message));
            }
        }
    }

    /// Returns an upper bound of the tokens of the conversation.
    pub(crate) fn bound(&self) -> u64 {
        self.units.iter().map(|unit| unit.bound).sum()
    }

    pub(crate) fn forget_counts(&mut self) {
        for unit in &mut self.units {
            unit.tokens = None;
        }
    }

    /// Returns where the parts of the conversation are.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let role = |unit: &Unit| unit.message.role;
        let user = self
            .units
            .iter()
            .rposition(|unit| role(unit) == Role::User)?;
        // What the model said last is not answered: a request ends with the user or with results.
        let end = match self.units.last().map(role) {
            Some(Role::Assistant) => self.units.len() - 1,
            _ => self.units.len(),
        };
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for (position, unit) in self.units.iter().enumerate().take(end) {
            let begins = if position < user {
                role(unit) == Role::User
            } else {
                position > user && role(unit) == Role::Assistant
            };
            match pieces.last_mut() {
                _ if position == user => {}
                Some(last) if !begins && last.end == position => last.end = position + 1,
                _ => pieces.push(position..position + 1),
            }
        }
        Some(Layout { user, end, pieces })
    }
}

/// Where the parts of a conversation are, as positions of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The current user message.
    pub(crate) user: usize,
    /// Where the conversation ends.
    pub(crate) end: usize,
    /// What is left out as a whole or not at all, oldest first: rounds before the current user
    /// message, then groups of calls and results behind it.
    pub(crate) pieces: Vec<Range<usize>>,
}

impl Layout {
    /// Returns the number of rounds before the current user message.
    pub(crate) fn rounds(&self) -> usize {
        self.pieces
            .iter()
            .take_while(|piece| piece.start < self.user)
            .count()
    }
}

impl Unit {
    fn new(message: Arc<Message>, source: Range<usize>) -> Self {
        Self {
            bound: bound(&message),
            fingerprint: Fingerprint::of_message(&message),
            tokens: None,
            message,
            source,
        }
    }
}

/// Returns an upper bound of a message's tokens that needs no counter.
fn bound(message: &Message) -> u64 {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text { text } | ContentBlock::Reasoning { text } => text.len(),
        ContentBlock::ToolCall(call) => call.name.len() + call.arguments.len() + BOUND_OVERHEAD,
        ContentBlock::ToolResult(result) => result.content.len() + BOUND_OVERHEAD,
        other => serde_json::to_string(other).unwrap_or_default().len(),
    };
    (BOUND_OVERHEAD + message.content.iter().map(text).sum::<usize>()) as u64
}

/// More than any provider adds to a message or to a call.
const BOUND_OVERHEAD: usize = 8;
