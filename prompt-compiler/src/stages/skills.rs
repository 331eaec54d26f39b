//! The always-on block and the index: stable text, the same for every request of a session.

use skill_core::LoadMode;

use super::Section;
use crate::input::{CompileInput, SkillEntry};
use crate::listing::listing;
use crate::preset::IndexMode;
use crate::render::envelope;

/// Characters an index may take at least, whatever the window.
const LISTING_FLOOR: u64 = 8_000;

/// Returns the block of always-on bodies.
pub(crate) fn always(input: &CompileInput<'_>) -> Section {
    if input.skills.always.is_empty() {
        return Section {
            name: "always",
            ..Section::default()
        };
    }
    let mut text = input.preset.skills.always.header.clone();
    for skill in &input.skills.always {
        text.push('\n');
        text.push_str(&envelope(skill));
    }
    Section::whole("always", vec![text])
}

/// Returns the index, or what stands in its place; nothing if no skill is visible.
pub(crate) fn index(input: &CompileInput<'_>) -> Section {
    let skills = &input.skills.visible;
    if skills.is_empty() {
        return Section {
            name: "index",
            ..Section::default()
        };
    }
    match input.preset.index_mode(skills.len()) {
        IndexMode::ToolOnly => tool_only(input),
        IndexMode::Full | IndexMode::Auto => full(input),
    }
}

fn tool_only(input: &CompileInput<'_>) -> Section {
    if input.tools.is_empty() {
        return Section {
            name: "index",
            ..Section::default()
        };
    }
    let texts = &input.preset.skills.tool_only;
    Section::whole(
        "index",
        vec![format!("{}\n{}", texts.header, texts.routing)],
    )
}

fn full(input: &CompileInput<'_>) -> Section {
    let texts = &input.preset.skills.index;
    let entries = ordered(&input.skills.visible);
    let budget = LISTING_FLOOR.max(input.budget.window / 50 * 4);
    let listing = listing(
        texts,
        &entries,
        usize::try_from(budget).unwrap_or(usize::MAX),
    );
    // Whoever cannot open a skill is not told to.
    let head = if input.tools.is_empty() {
        texts.header.clone()
    } else {
        format!("{}\n{}", texts.header, texts.routing)
    };
    let block = |lines: &[String]| format!("{head}\n{}", lines.join("\n"));
    Section {
        name: "index",
        full: vec![block(&listing.full)],
        shown: vec![block(&listing.lines)],
        cut: listing.cut,
    }
}

/// Returns listed skills, always-on first, then by id: never by query, time or map order.
fn ordered(skills: &[SkillEntry]) -> Vec<&SkillEntry> {
    let mut entries: Vec<&SkillEntry> = skills.iter().filter(|skill| skill.listed).collect();
    entries.sort_by(|one, other| {
        let rank = |skill: &SkillEntry| skill.load != LoadMode::Always;
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.id.cmp(&other.id))
    });
    entries
}
