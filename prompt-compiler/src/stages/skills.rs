//! The always-on block and the index: stable text, the same for every request of a session.

use skill_core::LoadMode;

use crate::cache::CachedIndex;
use crate::draft::{Draft, Section, Slot};
use crate::input::{Budget, CompileInput, SkillEntry, SkillText};
use crate::listing::{ListedSkill, Listing, listed, listing};
use crate::pipeline::Stage;
use crate::preset::{IndexMode, Preset};
use crate::render;

/// Characters an index may take at least, whatever the window.
const LISTING_FLOOR: u64 = 8_000;

#[derive(Debug)]
pub(crate) struct Skills;

impl Stage for Skills {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let mut skills: Vec<&SkillText> = input.skills.always.iter().collect();
        skills.sort_by(|one, other| one.id.cmp(&other.id));
        let texts = &input.preset.skills;
        if let Some(block) = render::block(&texts.always, texts, &skills) {
            draft.add(Section::new("always", Slot::System, block));
        }
        let visible = input.skills.visible.len();
        match input.preset.index_mode(visible) {
            _ if visible == 0 => {}
            IndexMode::ToolOnly => tool_only(input, draft),
            IndexMode::Full | IndexMode::Auto => full(input, draft),
        }
    }
}

/// Says how to search; without tools nobody can, and nothing is said.
fn tool_only(input: &CompileInput<'_>, draft: &mut Draft<'_>) {
    if !input.tools.is_empty() {
        let texts = &input.preset.skills.tool_only;
        let text = format!("{}\n{}", texts.header, texts.routing);
        draft.add(Section::new("index", Slot::System, text));
    }
}

fn full(input: &CompileInput<'_>, draft: &mut Draft<'_>) {
    let listing = cached(input, draft);
    if listing.lines.is_empty() {
        return;
    }
    let texts = &input.preset.skills.index;
    let mut parts = vec![texts.header.as_str()];
    // Whoever cannot open a skill is not told to.
    if !input.tools.is_empty() && !texts.routing.is_empty() {
        parts.push(&texts.routing);
    }
    parts.extend(listing.lines.iter().map(String::as_str));
    if !texts.footer.is_empty() {
        parts.push(&texts.footer);
    }
    let section = Section::new("index", Slot::System, parts.join("\n"));
    draft.add(section.shortened(listing.asked, listing.given, listing.cut.clone()));
}

/// Returns how the index of a request shows each skill, in its order; `None` where a request with
/// this preset and so many skills has no index.
///
/// Skills that are left out of the index by their own or the preset's choice are not in it.
pub fn listed_skills(
    preset: &Preset,
    visible: &[SkillEntry],
    budget: &Budget,
    tools: bool,
) -> Option<Vec<ListedSkill>> {
    if visible.is_empty() || preset.index_mode(visible.len()) == IndexMode::ToolOnly {
        return None;
    }
    let texts = &preset.skills.index;
    let entries = ordered(visible, texts.list_always);
    Some(listed(texts, &entries, room(budget), tools))
}

/// Returns how many characters the index may take.
fn room(budget: &Budget) -> usize {
    let room = LISTING_FLOOR.max(budget.window / 50 * 4);
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// Returns the lines; those of the last request if they were made from the same.
fn cached(input: &CompileInput<'_>, draft: &mut Draft<'_>) -> Listing {
    let budget = room(input.budget);
    let (preset, tools) = (&input.preset.skills.index, !input.tools.is_empty());
    let known = draft.index.as_ref().filter(|known| {
        known.texts == *preset
            && known.budget == budget
            && known.tools == tools
            && known.visible == input.skills.visible
    });
    if let Some(known) = known {
        return known.listing.clone();
    }
    let entries = ordered(&input.skills.visible, preset.list_always);
    let listing = listing(preset, &entries, budget, tools);
    *draft.index = Some(CachedIndex {
        texts: preset.clone(),
        visible: input.skills.visible.clone(),
        budget,
        tools,
        listing: listing.clone(),
    });
    listing
}

/// Returns listed skills, always-on first, then by id: never by query, time or map order.
fn ordered(skills: &[SkillEntry], always: bool) -> Vec<&SkillEntry> {
    let shown = |skill: &&SkillEntry| skill.listed && (always || skill.load != LoadMode::Always);
    let mut entries: Vec<&SkillEntry> = skills.iter().filter(shown).collect();
    entries.sort_by(|one, other| {
        let rank = |skill: &SkillEntry| skill.load != LoadMode::Always;
        rank(one)
            .cmp(&rank(other))
            .then_with(|| (&one.id, &one.name).cmp(&(&other.id, &other.name)))
    });
    entries
}
