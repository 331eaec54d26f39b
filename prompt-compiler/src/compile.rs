//! The compilation: stages in order, measured, cut to the budget, accounted for.

use skill_core::{CompletionRequest, ContentBlock, Message, ToolDefinition};

use crate::groups::paired;
use crate::input::CompileInput;
use crate::output::{BlockMark, CompiledPrompt, ContextLimit, Report, SectionReport};
use crate::stages::{self, Section, history::Conversation};
use crate::tokens::{ByteBound, TokenCounter};
use crate::window;

/// Tokens a message costs beyond its text.
const PER_MESSAGE: u64 = 4;
/// Tokens a tool definition costs beyond its text.
const PER_TOOL: u64 = 8;

/// Compiles one request.
///
/// A pure function: the same input gives the same bytes on every machine. `counter` is asked only
/// when a bound is not good enough ([`crate::Budget::allow_bound`]).
///
/// # Errors
///
/// [`ContextLimit`] when what can't be left out does not fit: system prompt, always-on skills,
/// index, open skills, the last user message and its newest tool group.
pub fn compile(
    input: &CompileInput<'_>,
    counter: &dyn TokenCounter,
) -> Result<CompiledPrompt, ContextLimit> {
    let messages = paired(input.messages);
    let conversation = Conversation::split(&messages);
    if input.budget.allow_bound {
        let meter = Meter::new(&ByteBound);
        let draft = Draft::new(input, &conversation, Kept::all(), &meter);
        if draft.total(&meter) <= input.budget.request_limit() / 2 {
            return Ok(draft.finish(input, &conversation, &meter));
        }
    }
    fit(input, &conversation, &Meter::new(counter))
}

/// Leaves out old rounds, then old tool groups of this turn, until the rest fits.
fn fit(
    input: &CompileInput<'_>,
    conversation: &Conversation<'_>,
    meter: &Meter<'_>,
) -> Result<CompiledPrompt, ContextLimit> {
    let mut kept = Kept {
        rounds_from: window_start(input, conversation, meter),
        groups_from: 0,
    };
    loop {
        let draft = Draft::new(input, conversation, kept, meter);
        if draft.total(meter) <= input.budget.request_limit() {
            return Ok(draft.finish(input, conversation, meter));
        }
        if kept.rounds_from < conversation.rounds.len() {
            kept.rounds_from += 1;
        } else if kept.groups_from + 1 < conversation.groups.len() {
            kept.groups_from += 1;
        } else {
            return Err(draft.limit(input, meter));
        }
    }
}

/// Returns where the history window begins, from what is stable alone.
fn window_start(
    input: &CompileInput<'_>,
    conversation: &Conversation<'_>,
    meter: &Meter<'_>,
) -> usize {
    let draft = Draft::new(input, conversation, Kept::all(), meter);
    let room = input
        .budget
        .request_limit()
        .saturating_sub(draft.stable(meter));
    let mut sizes = Vec::with_capacity(conversation.rounds.len());
    let mut messages = draft.history.iter();
    for round in &conversation.rounds {
        sizes.push(
            messages
                .by_ref()
                .take(round.len())
                .map(|message| meter.message(message))
                .sum(),
        );
    }
    window::start(&sizes, room / 10 * 6, room / 10 * 8)
}

/// What of the conversation is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    rounds_from: usize,
    groups_from: usize,
}

impl Kept {
    fn all() -> Self {
        Self {
            rounds_from: 0,
            groups_from: 0,
        }
    }
}

/// A request before it is put together.
struct Draft<'a> {
    tools: &'a [ToolDefinition],
    system: Vec<Section>,
    open_skills: Section,
    history: Vec<Message>,
    turn_context: Section,
    user: Option<Message>,
    groups: Vec<Message>,
    kept: Kept,
}

impl<'a> Draft<'a> {
    fn new(
        input: &CompileInput<'a>,
        conversation: &Conversation<'_>,
        kept: Kept,
        meter: &Meter<'_>,
    ) -> Self {
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
        Self {
            tools: input.tools,
            system: vec![
                stages::system::section(input),
                context("context", input.session_context, input, meter),
                stages::skills::always(input),
                stages::skills::index(input),
            ],
            open_skills: stages::skill_results::fallback(input, &placed),
            history,
            turn_context: context("turn_context", input.turn_context, input, meter),
            user: conversation.user.cloned(),
            groups,
            kept,
        }
    }

    /// Tokens of what stays the same for the session.
    fn stable(&self, meter: &Meter<'_>) -> u64 {
        meter.tools(self.tools)
            + self
                .system
                .iter()
                .map(|section| meter.texts(&section.shown))
                .sum::<u64>()
    }

    fn total(&self, meter: &Meter<'_>) -> u64 {
        self.stable(meter)
            + meter.texts(&self.open_skills.shown)
            + meter.messages(&self.history)
            + meter.texts(&self.turn_context.shown)
            + self.user.as_ref().map_or(0, |user| meter.message(user))
            + meter.messages(&self.groups)
    }

    fn sections(&self, conversation: &Conversation<'_>, meter: &Meter<'_>) -> Vec<SectionReport> {
        let tools = meter.tools(self.tools);
        let mut sections = vec![SectionReport::whole("tools", tools)];
        sections.extend(self.system.iter().map(|section| meter.section(section)));
        sections.push(meter.section(&self.open_skills));
        sections.push(self.cut_section(
            "history",
            &self.history,
            &conversation.rounds,
            self.kept.rounds_from,
            meter,
        ));
        sections.push(meter.section(&self.turn_context));
        let user = self.user.as_ref().map_or(0, |user| meter.message(user));
        sections.push(SectionReport::whole("user", user));
        sections.push(self.cut_section(
            "tool_groups",
            &self.groups,
            &conversation.groups,
            self.kept.groups_from,
            meter,
        ));
        sections
    }

    fn cut_section(
        &self,
        name: &str,
        shown: &[Message],
        pieces: &[&[Message]],
        from: usize,
        meter: &Meter<'_>,
    ) -> SectionReport {
        let given = meter.messages(shown);
        let left_out: u64 = pieces
            .iter()
            .take(from)
            .map(|piece| meter.messages(piece))
            .sum();
        let what = if name == "history" {
            "rounds"
        } else {
            "tool groups of this turn"
        };
        SectionReport {
            name: name.to_owned(),
            asked: given + left_out,
            given,
            cut: if from == 0 {
                Vec::new()
            } else {
                vec![format!("oldest {what} left out to fit the window: {from}")]
            },
        }
    }

    fn finish(
        self,
        input: &CompileInput<'_>,
        conversation: &Conversation<'_>,
        meter: &Meter<'_>,
    ) -> CompiledPrompt {
        let sections = self.sections(conversation, meter);
        let (total, stable) = (self.total(meter), self.stable(meter));
        let request = self.request(input);
        let marks = marks(&request, meter);
        let report = Report {
            window: input.budget.window,
            reserve_output: input.budget.reserve_output,
            total,
            exact: meter.counter.is_exact(),
            stable_prefix: input
                .previous
                .map_or(stable, |previous| shared(previous, &marks)),
            sections,
        };
        CompiledPrompt {
            request,
            report,
            marks,
        }
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
            messages,
            tools: self.tools.to_vec(),
            max_output_tokens: (reserve > 0).then_some(reserve),
        }
    }

    fn limit(&self, input: &CompileInput<'_>, meter: &Meter<'_>) -> ContextLimit {
        let mut parts: Vec<(u64, String)> = vec![
            (meter.tools(self.tools), "tool definitions".to_owned()),
            (
                meter.texts(&self.open_skills.shown),
                "open skills".to_owned(),
            ),
            (
                meter.texts(&self.turn_context.shown),
                "context of the turn".to_owned(),
            ),
            (
                self.user.as_ref().map_or(0, |user| meter.message(user)),
                "the task".to_owned(),
            ),
            (
                meter.messages(&self.groups),
                "the newest tool results".to_owned(),
            ),
        ];
        parts.extend(self.system.iter().map(|section| {
            (
                meter.texts(&section.shown),
                format!("the {} section", section.name),
            )
        }));
        parts.sort_by(|one, other| other.cmp(one));
        let largest = parts
            .into_iter()
            .take_while(|(size, _)| *size > 0)
            .take(3)
            .map(|(size, name)| format!("{name} with {size}"))
            .collect();
        ContextLimit {
            total: self.total(meter),
            limit: input.budget.request_limit(),
            window: input.budget.window,
            reserve_output: input.budget.reserve_output,
            largest,
        }
    }
}

fn context(
    name: &'static str,
    fragments: &[crate::input::ContextFragment],
    input: &CompileInput<'_>,
    meter: &Meter<'_>,
) -> Section {
    let quarter = input.budget.request_limit() / 4;
    let cap = input.budget.caps.get(name).copied().unwrap_or(quarter);
    stages::context::section(name, fragments, cap, meter)
}

/// Measures text with a counter.
pub(crate) struct Meter<'a> {
    counter: &'a dyn TokenCounter,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(counter: &'a dyn TokenCounter) -> Self {
        Self { counter }
    }

    pub(crate) fn text(&self, text: &str) -> u64 {
        self.counter.count(text)
    }

    fn texts(&self, texts: &[String]) -> u64 {
        texts.iter().map(|text| self.text(text)).sum()
    }

    fn section(&self, section: &Section) -> SectionReport {
        let given = self.texts(&section.shown);
        SectionReport {
            name: section.name.to_owned(),
            asked: if section.cut.is_empty() {
                given
            } else {
                self.texts(&section.full)
            },
            given,
            cut: section.cut.clone(),
        }
    }

    pub(crate) fn message(&self, message: &Message) -> u64 {
        PER_MESSAGE
            + message
                .content
                .iter()
                .map(|block| self.block(block))
                .sum::<u64>()
    }

    fn messages(&self, messages: &[Message]) -> u64 {
        messages.iter().map(|message| self.message(message)).sum()
    }

    fn block(&self, block: &ContentBlock) -> u64 {
        match block {
            ContentBlock::Text { text } | ContentBlock::Reasoning { text } => self.text(text),
            ContentBlock::ToolCall(call) => {
                PER_MESSAGE + self.text(&call.name) + self.text(&call.arguments)
            }
            ContentBlock::ToolResult(result) => PER_MESSAGE + self.text(&result.content),
            other => self.text(&serde_json::to_string(other).unwrap_or_default()),
        }
    }

    fn tools(&self, tools: &[ToolDefinition]) -> u64 {
        tools
            .iter()
            .map(|tool| {
                PER_TOOL
                    + self.text(&tool.name)
                    + self.text(&tool.description)
                    + self.text(&tool.parameters.to_string())
            })
            .sum()
    }
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

impl BlockMark {
    /// Returns the 64-bit FNV-1a hash: stable across machines and versions, unlike the standard one.
    pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// Returns the marks of a request in the order in which providers read it.
fn marks(request: &CompletionRequest, meter: &Meter<'_>) -> Vec<BlockMark> {
    let tools = serde_json::to_vec(&request.tools).unwrap_or_default();
    let mut marks = vec![BlockMark {
        fingerprint: BlockMark::fingerprint(&tools),
        tokens: meter.tools(&request.tools),
    }];
    marks.extend(request.system.iter().map(|text| BlockMark {
        fingerprint: BlockMark::fingerprint(text.as_bytes()),
        tokens: meter.text(text),
    }));
    marks.extend(request.messages.iter().map(|message| BlockMark {
        fingerprint: BlockMark::fingerprint(&serde_json::to_vec(message).unwrap_or_default()),
        tokens: meter.message(message),
    }));
    marks
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

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
