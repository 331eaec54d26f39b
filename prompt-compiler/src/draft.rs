//! A request before it is put together: the output of every stage, and what it costs.

use std::sync::Arc;

use skill_core::{CompletionRequest, ContentBlock, Message};

use crate::input::{CompileInput, ContextFragment};
use crate::meter::{Meter, tools_text};
use crate::output::{BlockMark, CompiledPrompt, ContextLimit, Report, SectionReport};
use crate::stages::{self, Section, history::Conversation};

/// What of a conversation is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// The number of oldest rounds left out.
    pub(crate) rounds_from: usize,
    /// The number of oldest tool groups of this turn left out.
    pub(crate) groups_from: usize,
}

/// The output of every stage.
pub(crate) struct Draft {
    tools_text: String,
    system: Vec<Section>,
    open_skills: Section,
    pub(crate) history: Vec<Message>,
    turn_context: Section,
    user: Option<Message>,
    groups: Vec<Message>,
    kept: Kept,
    sizes: Sizes,
}

/// What each part costs, measured once.
struct Sizes {
    tools: u64,
    system: Vec<Vec<u64>>,
    open_skills: Vec<u64>,
    history: Vec<u64>,
    turn_context: Vec<u64>,
    user: u64,
    groups: Vec<u64>,
}

impl Draft {
    /// Runs the stages, in the order in which their text stands in a request.
    pub(crate) fn new(
        input: &CompileInput<'_>,
        conversation: &Conversation<'_>,
        kept: Kept,
        meter: &Meter<'_>,
    ) -> Self {
        let tools_text = tools_text(input.tools);
        let system = vec![
            stages::system::section(input),
            context("context", input.session_context, input, meter),
            stages::skills::always(input),
            stages::skills::index(input),
        ];
        let (history, groups, placed) = conversation_parts(input, conversation, kept);
        let open_skills = stages::skill_results::fallback(input, &placed);
        let turn_context = context("turn_context", input.turn_context, input, meter);
        let user = conversation.user.cloned();
        let sizes = Sizes {
            tools: meter.tools(input.tools, &tools_text),
            system: system
                .iter()
                .map(|section| meter.texts(&section.shown))
                .collect(),
            open_skills: meter.texts(&open_skills.shown),
            history: meter.messages(&history),
            turn_context: meter.texts(&turn_context.shown),
            user: user.as_ref().map_or(0, |user| meter.message(user)),
            groups: meter.messages(&groups),
        };
        Self {
            tools_text,
            system,
            open_skills,
            history,
            turn_context,
            user,
            groups,
            kept,
            sizes,
        }
    }

    /// Returns the tokens of what stays the same for the session.
    pub(crate) fn stable(&self) -> u64 {
        self.sizes.tools + self.sizes.system.iter().flatten().sum::<u64>()
    }

    /// Returns the tokens of the request.
    pub(crate) fn total(&self) -> u64 {
        self.stable()
            + self.sizes.open_skills.iter().sum::<u64>()
            + self.sizes.history.iter().sum::<u64>()
            + self.sizes.turn_context.iter().sum::<u64>()
            + self.sizes.user
            + self.sizes.groups.iter().sum::<u64>()
    }

    /// Returns the tokens of each message of the history kept.
    pub(crate) fn history_sizes(&self) -> &[u64] {
        &self.sizes.history
    }

    /// Puts request and ledger together.
    pub(crate) fn finish(
        self,
        input: &CompileInput<'_>,
        conversation: &Conversation<'_>,
        meter: &Meter<'_>,
    ) -> CompiledPrompt {
        let marks = self.marks();
        let report = Report {
            window: input.budget.window,
            reserve_output: input.budget.reserve_output,
            total: self.total(),
            exact: meter.is_exact(),
            stable_prefix: match input.previous {
                Some(previous) => shared(previous, &marks),
                None => self.stable(),
            },
            sections: self.sections(conversation, meter),
        };
        CompiledPrompt {
            request: self.request(input),
            report,
            marks,
        }
    }

    /// Says which parts are too large, when what can't be left out does not fit.
    pub(crate) fn limit(&self, input: &CompileInput<'_>) -> ContextLimit {
        let mut parts: Vec<(u64, String)> = vec![
            (self.sizes.tools, "tool definitions".to_owned()),
            (
                self.sizes.open_skills.iter().sum(),
                "open skills".to_owned(),
            ),
            (
                self.sizes.turn_context.iter().sum(),
                "context of the turn".to_owned(),
            ),
            (self.sizes.user, "the task".to_owned()),
            (
                self.sizes.groups.iter().sum(),
                "the newest calls and their results".to_owned(),
            ),
        ];
        parts.extend(
            self.system
                .iter()
                .zip(&self.sizes.system)
                .map(|(section, sizes)| {
                    (sizes.iter().sum(), format!("the {} section", section.name))
                }),
        );
        parts.sort_by(|one, other| other.cmp(one));
        let largest = parts
            .into_iter()
            .take_while(|(size, _)| *size > 0)
            .take(3)
            .map(|(size, name)| format!("{name} with {size}"))
            .collect();
        ContextLimit {
            total: self.total(),
            limit: input.budget.request_limit(),
            window: input.budget.window,
            reserve_output: input.budget.reserve_output,
            largest,
        }
    }

    fn sections(&self, conversation: &Conversation<'_>, meter: &Meter<'_>) -> Vec<SectionReport> {
        let sizes = &self.sizes;
        let mut sections = vec![SectionReport::whole("tools", sizes.tools)];
        sections.extend(
            self.system
                .iter()
                .zip(&sizes.system)
                .map(|(part, given)| section(part, given, meter)),
        );
        sections.push(section(&self.open_skills, &sizes.open_skills, meter));
        let (rounds, groups) = (self.kept.rounds_from, self.kept.groups_from);
        let left_out = conversation.rounds.get(..rounds).unwrap_or_default();
        sections.push(cut_section(
            "history",
            "rounds",
            &sizes.history,
            left_out,
            meter,
        ));
        sections.push(section(&self.turn_context, &sizes.turn_context, meter));
        sections.push(SectionReport::whole("user", sizes.user));
        let left_out = conversation.groups.get(..groups).unwrap_or_default();
        let what = "tool groups of this turn";
        sections.push(cut_section(
            "tool_groups",
            what,
            &sizes.groups,
            left_out,
            meter,
        ));
        sections
    }

    /// Returns the marks of the request's blocks, in the order in which providers read it.
    fn marks(&self) -> Vec<BlockMark> {
        let mut marks = vec![BlockMark::new(self.tools_text.as_bytes(), self.sizes.tools)];
        let system = self.system.iter().zip(&self.sizes.system);
        for (section, sizes) in system.chain(std::iter::once((
            &self.open_skills,
            &self.sizes.open_skills,
        ))) {
            let blocks = section.shown.iter().zip(sizes);
            marks.extend(blocks.map(|(text, size)| BlockMark::new(text.as_bytes(), *size)));
        }
        let messages = self.history.iter().zip(&self.sizes.history);
        marks.extend(messages.map(|(message, size)| message_mark(message, *size)));
        if let Some(user) = &self.user {
            let context: u64 = self.sizes.turn_context.iter().sum();
            let whole = (&self.turn_context.shown, user);
            let text = serde_json::to_vec(&whole).unwrap_or_default();
            marks.push(BlockMark::new(&text, context + self.sizes.user));
        }
        let groups = self.groups.iter().zip(&self.sizes.groups);
        marks.extend(groups.map(|(message, size)| message_mark(message, *size)));
        marks
    }

    fn request(self, input: &CompileInput<'_>) -> CompletionRequest {
        let mut system: Vec<String> = self
            .system
            .into_iter()
            .flat_map(|section| section.shown)
            .collect();
        system.extend(self.open_skills.shown);
        let mut messages = self.history;
        if let Some(mut user) = self.user {
            let context = self.turn_context.shown.into_iter().map(ContentBlock::text);
            user.content.splice(0..0, context);
            messages.push(user);
        }
        messages.extend(self.groups);
        let reserve = u32::try_from(input.budget.reserve_output).unwrap_or(u32::MAX);
        CompletionRequest {
            model: input.model.clone(),
            system,
            messages: messages.into_iter().map(Arc::new).collect(),
            tools: input.tools.clone(),
            max_output_tokens: (reserve > 0).then_some(reserve),
        }
    }
}

/// Returns history and tool groups with bodies placed, and which skills were placed.
fn conversation_parts<'a>(
    input: &CompileInput<'a>,
    conversation: &Conversation<'_>,
    kept: Kept,
) -> (
    Vec<Message>,
    Vec<Message>,
    std::collections::BTreeSet<&'a str>,
) {
    let rounds = conversation
        .rounds
        .get(kept.rounds_from..)
        .unwrap_or_default();
    let groups = conversation
        .groups
        .get(kept.groups_from..)
        .unwrap_or_default();
    let mut history = rounds.concat();
    let split = history.len();
    history.extend(groups.concat());
    let placed = stages::skill_results::place(input, &mut history);
    let groups = history.split_off(split);
    (history, groups, placed)
}

fn context(
    name: &'static str,
    fragments: &[ContextFragment],
    input: &CompileInput<'_>,
    meter: &Meter<'_>,
) -> Section {
    let quarter = input.budget.request_limit() / 4;
    let cap = input.budget.caps.get(name).copied().unwrap_or(quarter);
    stages::context::section(name, fragments, cap, meter)
}

fn section(section: &Section, given: &[u64], meter: &Meter<'_>) -> SectionReport {
    let given = given.iter().sum();
    let whole = || meter.texts(&section.full).iter().sum();
    SectionReport {
        name: section.name.to_owned(),
        asked: if section.cut.is_empty() {
            given
        } else {
            whole()
        },
        given,
        cut: section.cut.clone(),
    }
}

fn cut_section(
    name: &str,
    what: &str,
    given: &[u64],
    left_out: &[&[Message]],
    meter: &Meter<'_>,
) -> SectionReport {
    let given = given.iter().sum();
    let missing: u64 = left_out
        .iter()
        .flat_map(|piece| meter.messages(piece))
        .sum();
    let note = |count| format!("oldest {what} left out to fit the window: {count}");
    SectionReport {
        name: name.to_owned(),
        asked: given + missing,
        given,
        cut: (!left_out.is_empty())
            .then(|| note(left_out.len()))
            .into_iter()
            .collect(),
    }
}

fn message_mark(message: &Message, size: u64) -> BlockMark {
    BlockMark::new(&serde_json::to_vec(message).unwrap_or_default(), size)
}

/// Returns the tokens of the leading blocks that both requests have.
fn shared(previous: &[BlockMark], current: &[BlockMark]) -> u64 {
    previous
        .iter()
        .zip(current)
        .take_while(|(before, now)| before.fingerprint == now.fingerprint)
        .map(|(_, now)| now.tokens)
        .sum()
}

impl SectionReport {
    fn whole(name: &str, size: u64) -> Self {
        Self {
            name: name.to_owned(),
            asked: size,
            given: size,
            cut: Vec::new(),
        }
    }
}
