//! Puts a request and its ledger together from what is shown.

use std::sync::Arc;

use skill_core::{CompletionRequest, ContentBlock, Message};

use crate::budget::Plan;
use crate::conversation::Unit;
use crate::draft::{Draft, Section, Slot};
use crate::fragments::Shown;
use crate::input::{CompileInput, FragmentKind, Opening, SkillText};
use crate::output::{
    BlockMark, Breakpoint, CompiledPrompt, Cost, Fingerprint, Report, SectionReport,
};
use crate::render;
use crate::stages::skill_results::Placing;

/// A message of the request with its size.
struct Placed {
    message: Arc<Message>,
    fingerprint: u64,
    tokens: u64,
}

/// Puts everything together.
pub(crate) fn assemble(input: &CompileInput<'_>, draft: Draft<'_>, plan: Plan) -> CompiledPrompt {
    let open = with_docs(&draft.open, &plan.docs);
    let units = |range: std::ops::Range<usize>| draft.turns.units.get(range).unwrap_or_default();
    let (history, groups) = (units(plan.history.clone()), units(plan.groups.clone()));
    let kept: Vec<&Opening> = history
        .iter()
        .chain(groups)
        .flat_map(|unit| openings(input, unit))
        .collect();
    let placing = Placing::new(input, &open, &kept);
    let mut position = 0;
    let mut place = |unit: &Unit| placed(input, &draft, &open, &placing, unit, &mut position);
    let history: Vec<Placed> = history.iter().map(&mut place).collect();
    let groups: Vec<Placed> = groups.iter().map(&mut place).collect();

    let mut ledger = Ledger::default();
    ledger.line(SectionReport::whole("protocol", draft.meter.base()));
    ledger.line(SectionReport::whole("tools", plan.tools));
    ledger.mark("tools", Fingerprint::of(&plan.tools_text), plan.tools);
    let mut system = Vec::with_capacity(draft.sections.len() + 1);
    for (section, size) in draft.sections.iter().zip(&plan.sections) {
        if section.slot == Slot::System {
            ledger.section(section, *size);
            ledger.mark(section.name, Fingerprint::of(&section.text), *size);
            system.push(section.text.clone());
        }
    }
    let stable: u64 = ledger.marks.iter().map(|mark| mark.tokens).sum();
    let stable_blocks = system.len();
    system.extend(open_block(
        input,
        &draft,
        &open,
        &placing,
        &plan,
        &mut ledger,
    ));

    ledger.conversation("history", "rounds", &history, plan.rounds_out);
    let mut messages: Vec<Arc<Message>> = history.into_iter().map(|one| one.message).collect();
    let before_user = messages.len();
    messages.extend(user_message(&draft, &plan, &mut ledger));
    let what = "tool groups of this turn";
    ledger.conversation("tool_groups", what, &groups, plan.groups_out);
    messages.extend(groups.into_iter().map(|one| one.message));

    let report = report(input, &draft, &ledger, stable);
    let reserve = u32::try_from(input.budget.reserve_output).unwrap_or(u32::MAX);
    CompiledPrompt {
        breakpoints: breakpoints(stable_blocks, before_user, messages.len()),
        request: CompletionRequest {
            model: input.model.clone(),
            system,
            messages,
            tools: input.tools.clone(),
            max_output_tokens: (reserve > 0).then_some(reserve),
        },
        report,
        marks: ledger.marks,
    }
}

/// Returns open skills with the documents that are shown.
fn with_docs(open: &[SkillText], docs: &[usize]) -> Vec<SkillText> {
    let shown = |(skill, count): (&SkillText, &usize)| {
        let mut skill = skill.clone();
        skill.docs.truncate(*count);
        skill
    };
    open.iter().zip(docs).map(shown).collect()
}

/// Returns the openings whose results are in a message, in their order.
fn openings<'i>(input: &'i CompileInput<'_>, unit: &Unit) -> Vec<&'i Opening> {
    let openings = &input.skills.openings;
    if openings.is_empty() {
        return Vec::new();
    }
    let results = unit.message.results();
    results
        .filter_map(|result| openings.get(&result.call_id))
        .collect()
}

/// Fills in the bodies that stand in a message.
fn placed(
    input: &CompileInput<'_>,
    draft: &Draft<'_>,
    open: &[SkillText],
    placing: &Placing,
    unit: &Unit,
    position: &mut usize,
) -> Placed {
    if openings(input, unit).is_empty() {
        return Placed {
            message: Arc::clone(&unit.message),
            fingerprint: unit.fingerprint,
            tokens: unit.size(draft.meter),
        };
    }
    let mut message = (*unit.message).clone();
    for block in &mut message.content {
        let ContentBlock::ToolResult(result) = block else {
            continue;
        };
        if let Some(opening) = input.skills.openings.get(&result.call_id) {
            placing.fill(input, open, opening, *position, result);
            *position += 1;
        }
    }
    Placed {
        fingerprint: Fingerprint::of_message(&message),
        tokens: draft.meter.remembered(&message),
        message: Arc::new(message),
    }
}

/// Returns the block of open skills that no result carries.
fn open_block(
    input: &CompileInput<'_>,
    draft: &Draft<'_>,
    open: &[SkillText],
    placing: &Placing,
    plan: &Plan,
    ledger: &mut Ledger,
) -> Option<String> {
    let texts = &input.preset.skills;
    let missing: Vec<&SkillText> = open
        .iter()
        .filter(|skill| !placing.carries(&skill.id))
        .collect();
    let block = render::block(&texts.open, texts, &missing);
    let size = block.as_ref().map_or(0, |text| draft.meter.block(text));
    let mut line = SectionReport::whole("open_skills", size);
    line.cut.clone_from(&draft.open_cut);
    for (skill, shown) in draft.open.iter().zip(&plan.docs) {
        let left_out = skill.docs.iter().skip(*shown);
        let tokens: u64 = left_out.clone().map(|doc| draft.meter.text(&doc.1)).sum();
        line.asked += tokens;
        if left_out.len() > 0 {
            let (count, id) = (left_out.len(), &skill.id);
            line.cut.push(format!(
                "{id}: {count} documents left out to fit the window"
            ));
        }
    }
    ledger.line(line);
    if let Some(text) = &block {
        ledger.mark("open_skills", Fingerprint::of(text), size);
    }
    block
}

/// Returns the message of the user with what stands in front of it.
fn user_message(draft: &Draft<'_>, plan: &Plan, ledger: &mut Ledger) -> Option<Arc<Message>> {
    let unit = draft.turns.units.get(plan.user)?;
    let (mut texts, mut size) = (Vec::new(), 0);
    for (section, tokens) in draft.sections.iter().zip(&plan.sections) {
        if section.slot == Slot::Turn {
            ledger.section(section, *tokens);
            texts.push(section.text.as_str());
            size += tokens;
        }
    }
    for fragment in &plan.fragments {
        ledger.fragment(fragment);
        if !fragment.text.is_empty() {
            texts.push(&fragment.text);
        }
        size += fragment.given;
    }
    let own = unit.size(draft.meter);
    ledger.line(SectionReport::whole("user", own));
    let fingerprint = texts
        .iter()
        .fold(Fingerprint::new(), |state, text| state.text(text));
    let message = if texts.is_empty() {
        ledger.mark("user", unit.fingerprint, own);
        Arc::clone(&unit.message)
    } else {
        let fingerprint = fingerprint.message(&unit.message).value();
        ledger.mark("user", fingerprint, size + own);
        let mut message = (*unit.message).clone();
        let texts = texts.into_iter().map(ContentBlock::text);
        message.content.splice(0..0, texts);
        Arc::new(message)
    };
    Some(message)
}

fn report(input: &CompileInput<'_>, draft: &Draft<'_>, ledger: &Ledger, stable: u64) -> Report {
    let total: u64 = ledger.lines.iter().map(|line| line.given).sum();
    let previous = input.previous;
    let cached = previous.map_or(0, |before| BlockMark::shared(before, &ledger.marks));
    Report {
        window: input.budget.window,
        reserve_output: input.budget.reserve_output,
        total,
        exact: draft.meter.is_exact(),
        basis: draft.meter.basis(),
        stable_prefix: if previous.is_some() { cached } else { stable },
        parted: previous.and_then(|before| BlockMark::parting(before, &ledger.marks)),
        cost: input.budget.prices.map(|prices| {
            let at = |tokens: u64, price: u64| tokens.saturating_mul(price) / 1_000_000;
            Cost {
                input: at(cached, prices.cached) + at(total.saturating_sub(cached), prices.input),
                input_uncached: at(total, prices.input),
                output_most: at(input.budget.reserve_output, prices.output),
            }
        }),
        sections: ledger.lines.clone(),
    }
}

/// Returns the places to cut a cache at: behind what the session shares, behind the past, and at
/// the end, which the next request begins with.
fn breakpoints(system: usize, before_user: usize, messages: usize) -> Vec<Breakpoint> {
    let system = system.checked_sub(1).map(Breakpoint::System);
    let past = before_user.checked_sub(1).map(Breakpoint::Message);
    let end = messages.checked_sub(1).map(Breakpoint::Message);
    system.into_iter().chain(past).chain(end).collect()
}

/// The lines of the report and the marks, as the request grows.
#[derive(Default)]
struct Ledger {
    lines: Vec<SectionReport>,
    marks: Vec<BlockMark>,
}

impl Ledger {
    fn mark(&mut self, section: &'static str, fingerprint: u64, tokens: u64) {
        self.marks.push(BlockMark {
            section,
            fingerprint,
            tokens,
        });
    }

    /// Adds a line; one of the same name takes it in.
    fn line(&mut self, line: SectionReport) {
        match self.lines.iter_mut().find(|known| known.name == line.name) {
            Some(known) => {
                known.asked += line.asked;
                known.given += line.given;
                known.cut.extend(line.cut);
                known.sources.extend(line.sources);
            }
            None => self.lines.push(line),
        }
    }

    fn section(&mut self, section: &Section, given: u64) {
        let in_proportion = section
            .share
            .map(|(asked, shown)| given.saturating_mul(asked as u64) / (shown.max(1) as u64));
        self.line(SectionReport {
            name: section.name.to_owned(),
            asked: section.asked.or(in_proportion).unwrap_or(given).max(given),
            given,
            cut: section.cut.clone(),
            sources: one(&section.source),
        });
    }

    fn fragment(&mut self, fragment: &Shown) {
        let name = match fragment.kind {
            FragmentKind::Mention => "mentions",
            FragmentKind::CurrentFile => "current_file",
            FragmentKind::Recalled | FragmentKind::Instructions => "recalled",
        };
        self.line(SectionReport {
            name: name.to_owned(),
            asked: fragment.asked,
            given: fragment.given,
            cut: fragment.cut.iter().cloned().collect(),
            sources: one(&fragment.source),
        });
    }

    fn conversation(
        &mut self,
        name: &'static str,
        what: &str,
        shown: &[Placed],
        (count, tokens): (usize, u64),
    ) {
        let given = shown.iter().map(|one| one.tokens).sum();
        let note = format!("oldest {what} left out to fit the window: {count}");
        self.line(SectionReport {
            name: name.to_owned(),
            asked: given + tokens,
            given,
            cut: (count > 0).then_some(note).into_iter().collect(),
            sources: Vec::new(),
        });
        for one in shown {
            self.mark(name, one.fingerprint, one.tokens);
        }
    }
}

fn one(source: &str) -> Vec<String> {
    (!source.is_empty())
        .then(|| source.to_owned())
        .into_iter()
        .collect()
}
