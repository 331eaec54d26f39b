//! What fits: who gives way to whom, decided from sizes alone.
//!
//! First what can never be left out is set apart. Then mentions, documents of open skills, the
//! conversation, the current file and recalled passages are served, in that order, each up to its
//! cap: so passages give way first, then the current file, older rounds, and documents. What
//! somebody is given never shrinks when the window grows.

use std::ops::Range;

use crate::conversation::{Layout, Turns};
use crate::draft::{Draft, Section, Slot};
use crate::fragments::{self, Shown};
use crate::input::{CompileInput, ContextFragment, FragmentKind, SkillText};
use crate::meter::{Meter, tools_text};
use crate::output::ContextLimit;
use crate::render;
use crate::window;

/// What is shown.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The tokens of each section of the draft.
    pub(crate) sections: Vec<u64>,
    pub(crate) tools_text: String,
    pub(crate) tools: u64,
    /// Fragments of this turn's context, in the order of the request.
    pub(crate) fragments: Vec<Shown>,
    /// The number of documents of each open skill that are shown.
    pub(crate) docs: Vec<usize>,
    /// Units of earlier rounds, and of this turn behind the user's message.
    pub(crate) history: Range<usize>,
    pub(crate) user: usize,
    pub(crate) groups: Range<usize>,
    /// The number of rounds and of groups that are left out, and their tokens.
    pub(crate) rounds_out: (usize, u64),
    pub(crate) groups_out: (usize, u64),
}

impl Plan {
    /// Tells whether the window or a cap had a say.
    pub(crate) fn is_cut(&self, draft: &Draft<'_>) -> bool {
        self.rounds_out.0 + self.groups_out.0 > 0
            || self.fragments.iter().any(|fragment| fragment.cut.is_some())
            || draft.sections.iter().any(|section| section.cap.is_some())
            || self
                .docs
                .iter()
                .zip(&draft.open)
                .any(|(shown, skill)| *shown < skill.docs.len())
    }
}

/// Tokens of what can't be left out.
#[derive(Debug)]
struct Fixed {
    base: u64,
    tools: u64,
    sections: Vec<u64>,
    /// The same, with each section at the cap that it may take in a larger window.
    reserved: u64,
    open: u64,
    user: u64,
    newest: u64,
    /// Mentions by their names.
    mentions: u64,
}

impl Fixed {
    fn total(&self) -> u64 {
        let sections: u64 = self.sections.iter().sum();
        self.base + self.tools + sections + self.open + self.user + self.newest + self.mentions
    }
}

/// Decides what is shown.
pub(crate) fn plan(
    input: &CompileInput<'_>,
    draft: &Draft<'_>,
    layout: &Layout,
) -> Result<Plan, ContextLimit> {
    let meter = draft.meter;
    let limit = input.budget.request_limit();
    let tools_text = tools_text(input.tools);
    let mentions = fragments::of(&draft.fragments, FragmentKind::Mention);
    let fixed = fixed(input, draft, layout, &tools_text, &mentions);
    if fixed.total() > limit {
        return Err(too_large(input, draft, &fixed));
    }
    let mut left = limit
        .saturating_sub(fixed.base + fixed.tools + fixed.reserved + fixed.open)
        .max(fixed.user + fixed.newest + fixed.mentions);
    let alone = fixed.user + fixed.newest;
    let room = input
        .budget
        .cap("mentions", 4)
        .min(left - alone)
        .max(fixed.mentions);
    let mut shown = fragments::mentions(&mentions, room, meter);
    let given: u64 = shown.iter().map(|fragment| fragment.given).sum();
    left = left.saturating_sub(fragments::asked(&mentions, meter).min(room).max(given));
    let (docs, taken) = docs(input, draft, left.saturating_sub(alone));
    left = left.saturating_sub(taken);

    let pieces = pieces(draft.turns, layout, meter);
    let conversation = pieces.iter().map(|piece| piece.1).sum::<u64>() + alone;
    let high = input.budget.cap_of("history", left / 10 * 8, left);
    let first = window::start(&sizes_of(&pieces), high.saturating_sub(alone));
    let others = left.saturating_sub(conversation.min(high.max(alone)));
    shown.extend(turn_context(input, draft, layout, step_down(others)));
    shown.sort_by_key(|fragment| order(fragment.kind));

    let rounds = layout.rounds();
    let out = |range: Range<usize>| {
        let gone = pieces.get(range).unwrap_or_default();
        (gone.len(), gone.iter().map(|piece| piece.1).sum())
    };
    Ok(Plan {
        history: begin(&layout.pieces, first.min(rounds), layout.user)..layout.user,
        groups: begin(&layout.pieces, first.max(rounds), layout.end)..layout.end,
        rounds_out: out(0..first.min(rounds)),
        groups_out: out(rounds..first.max(rounds)),
        user: layout.user,
        sections: fixed.sections,
        tools_text,
        tools: fixed.tools,
        fragments: shown,
        docs,
    })
}

fn fixed(
    input: &CompileInput<'_>,
    draft: &Draft<'_>,
    layout: &Layout,
    tools_text: &str,
    mentions: &[&ContextFragment],
) -> Fixed {
    let meter = draft.meter;
    let sections: Vec<u64> = draft
        .sections
        .iter()
        .map(|section| size(section, meter))
        .collect();
    let reserved = draft
        .sections
        .iter()
        .zip(&sections)
        .map(|(section, size)| section.cap.map_or(*size, |cap| cap.max(*size)))
        .sum();
    let unit = |at: usize| draft.turns.units.get(at).map_or(0, |unit| unit.size(meter));
    let newest = newest(layout).map_or(0, |piece| piece.map(unit).sum());
    Fixed {
        base: meter.base(),
        tools: meter.tools(input.tools, tools_text),
        sections,
        reserved,
        open: open(input, draft),
        user: unit(layout.user),
        newest,
        mentions: fragments::least(mentions, meter),
    }
}

fn size(section: &Section, meter: &Meter<'_>) -> u64 {
    match section.slot {
        Slot::System => meter.block(&section.text),
        Slot::Turn => meter.text(&section.text),
    }
}

/// Returns the newest group of calls and results of the current turn.
fn newest(layout: &Layout) -> Option<Range<usize>> {
    layout
        .pieces
        .last()
        .filter(|piece| piece.start > layout.user)
        .cloned()
}

/// Returns the tokens of open skills without their documents, wherever they stand, and of what
/// other openings say instead.
fn open(input: &CompileInput<'_>, draft: &Draft<'_>) -> u64 {
    if draft.open.is_empty() {
        return 0;
    }
    let texts = &input.preset.skills;
    let meter = draft.meter;
    let frame = format!("{}{}", texts.open.header, texts.open.footer);
    let skill = |open: &SkillText| {
        let mut bare = open.clone();
        bare.docs.clear();
        let listed: Vec<&str> = open.docs.iter().map(|(path, _)| path.as_str()).collect();
        let block = render::skill(&texts.open.item, texts, &bare);
        let result = render::skill(&texts.opened, texts, &bare);
        meter.block(&block).max(meter.block(&result)) + meter.text(&listed.join(", "))
    };
    let receipt = meter.text(&texts.receipt) + meter.text(&texts.open.separator);
    let openings = input.skills.openings.values();
    let receipts: u64 = openings
        .map(|opening| receipt + meter.text(&opening.skill))
        .sum();
    meter.block(&frame) + draft.open.iter().map(skill).sum::<u64>() + receipts
}

/// Returns how many documents of each open skill are shown, and their tokens: those of the skill
/// used last first, and after the first that does not fit, none.
fn docs(input: &CompileInput<'_>, draft: &Draft<'_>, room: u64) -> (Vec<usize>, u64) {
    let texts = &input.preset.skills;
    let mut left = Some(room);
    let mut docs = vec![0; draft.open.len()];
    let mut asked: u64 = 0;
    for (shown, skill) in docs.iter_mut().zip(&draft.open).rev() {
        for (path, content) in &skill.docs {
            let size = draft.meter.text(content)
                + draft.meter.text(&format!("{path}{}", texts.docs.item))
                + DOC_FRAME;
            asked += size;
            left = left.and_then(|left| left.checked_sub(size));
            *shown += usize::from(left.is_some());
        }
    }
    (docs, asked.min(room))
}

/// More than the tags around a document cost.
const DOC_FRAME: u64 = 96;

/// Returns what may be left out of the conversation, oldest first, with its tokens.
fn pieces(turns: &Turns, layout: &Layout, meter: &Meter<'_>) -> Vec<(Range<usize>, u64)> {
    let last = newest(layout);
    layout
        .pieces
        .iter()
        .filter(|piece| Some(*piece) != last.as_ref())
        .map(|piece| {
            let units = turns.units.get(piece.clone()).unwrap_or_default();
            (
                piece.clone(),
                units.iter().map(|unit| unit.size(meter)).sum(),
            )
        })
        .collect()
}

fn sizes_of(pieces: &[(Range<usize>, u64)]) -> Vec<u64> {
    pieces.iter().map(|piece| piece.1).collect()
}

fn begin(pieces: &[Range<usize>], first: usize, end: usize) -> usize {
    pieces.get(first).map_or(end, |piece| piece.start.min(end))
}

fn turn_context(
    input: &CompileInput<'_>,
    draft: &Draft<'_>,
    layout: &Layout,
    room: u64,
) -> Vec<Shown> {
    let meter = draft.meter;
    let files = fragments::of(&draft.fragments, FragmentKind::CurrentFile);
    let cap = input.budget.cap("current_file", 4).min(room);
    let query = draft.turns.units.get(layout.user);
    let query = query
        .map(|unit| unit.message.joined_text())
        .unwrap_or_default();
    let mut shown = fragments::current_file(&files, cap, &query, meter);
    let room = room.saturating_sub(fragments::asked(&files, meter).min(cap));
    let mut passages = fragments::of(&draft.fragments, FragmentKind::Recalled);
    // Instructions that come with a turn are no more than passages that somebody found.
    passages.extend(fragments::of(&draft.fragments, FragmentKind::Instructions));
    let cap = input.budget.cap("recalled", 4).min(room);
    shown.extend(fragments::recalled(&passages, cap, meter));
    shown
}

fn order(kind: FragmentKind) -> usize {
    match kind {
        FragmentKind::Instructions => 0,
        FragmentKind::CurrentFile => 1,
        FragmentKind::Mention => 2,
        FragmentKind::Recalled => 3,
    }
}

/// Rounds down to a power of two or one and a half of it, so that what stands beside the user's
/// message changes a few times in a long turn and not at each step.
fn step_down(room: u64) -> u64 {
    let Some(exponent) = room.checked_ilog2() else {
        return 0;
    };
    let power = 1_u64 << exponent;
    let half = power / 2;
    if room - power >= half {
        power + half
    } else {
        power
    }
}

/// Says which parts are too large.
fn too_large(input: &CompileInput<'_>, draft: &Draft<'_>, fixed: &Fixed) -> ContextLimit {
    let mut parts: Vec<(u64, String)> = vec![
        (fixed.tools, "tool definitions".to_owned()),
        (fixed.open, open_names(draft)),
        (fixed.mentions, "mentions".to_owned()),
        (fixed.user, "the task".to_owned()),
        (
            fixed.newest,
            "the newest calls and their results".to_owned(),
        ),
    ];
    let sections = draft.sections.iter().zip(&fixed.sections);
    parts.extend(sections.map(|(section, size)| (*size, format!("the {} section", section.name))));
    parts.sort_by(|one, other| other.cmp(one));
    let largest = parts
        .into_iter()
        .take_while(|(size, _)| *size > 0)
        .take(3)
        .map(|(size, name)| format!("{name} with {size}"))
        .collect();
    ContextLimit {
        total: fixed.total(),
        limit: input.budget.request_limit(),
        window: input.budget.window,
        reserve_output: input.budget.reserve_output,
        largest,
    }
}

fn open_names(draft: &Draft<'_>) -> String {
    let names: Vec<&str> = draft.open.iter().map(|skill| skill.id.as_str()).collect();
    format!("open skills ({})", names.join(", "))
}
