//! Bodies of open skills: history stores stubs, the text is put in when a request is made.

use std::collections::BTreeSet;

use skill_core::{ContentBlock, Message};

use super::Section;
use crate::input::{CompileInput, Opening, SkillText};
use crate::preset::Placement;
use crate::render::{envelope, fill, one_line};

/// Fills in the results of calls that opened skills and returns the skills placed that way.
///
/// The first result in the request that opened the very text that is open carries it, so that the
/// prefix before it never changes; later ones say that it stands above.
pub(crate) fn place<'a>(input: &CompileInput<'a>, messages: &mut [Message]) -> BTreeSet<&'a str> {
    let mut placed = BTreeSet::new();
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        let ContentBlock::ToolResult(result) = block else {
            continue;
        };
        let Some(opening) = input.skills.openings.get(&result.call_id) else {
            continue;
        };
        result.content = match open_skill(input, opening) {
            Some(skill) if input.preset.placement == Placement::ToolResult => {
                if placed.insert(skill.id.as_str()) {
                    fill(
                        &input.preset.skills.opened,
                        &[("envelope", &envelope(skill))],
                    )
                } else {
                    named(&input.preset.skills.receipt, &skill.id)
                }
            }
            Some(_) | None => named(&input.preset.skills.stub, &opening.skill),
        };
    }
    placed
}

/// Returns the block of open skills that no result of this request carries.
pub(crate) fn fallback(input: &CompileInput<'_>, placed: &BTreeSet<&str>) -> Section {
    let missing: Vec<&SkillText> = input
        .skills
        .loaded
        .iter()
        .filter(|skill| !placed.contains(skill.id.as_str()))
        .collect();
    if missing.is_empty() {
        return Section {
            name: "open_skills",
            ..Section::default()
        };
    }
    let mut text = input.preset.skills.fallback.header.clone();
    for skill in missing {
        text.push('\n');
        text.push_str(&envelope(skill));
    }
    Section::whole("open_skills", vec![text])
}

fn open_skill<'a>(input: &CompileInput<'a>, opening: &Opening) -> Option<&'a SkillText> {
    input
        .skills
        .loaded
        .iter()
        .find(|skill| skill.id == opening.skill && skill.digest == opening.digest)
}

fn named(template: &str, id: &str) -> String {
    fill(template, &[("id", &one_line(id))])
}
