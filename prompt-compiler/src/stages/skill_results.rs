//! Bodies of open skills: history stores stubs, the text is put in when a request is made.

use std::collections::BTreeMap;

use skill_core::ToolResult;

use crate::draft::Draft;
use crate::input::{CompileInput, Opening, SkillText};
use crate::pipeline::Stage;
use crate::preset::{Carrier, Placement};
use crate::render::{self, fill, one_line};

#[derive(Debug)]
pub(crate) struct SkillResults;

impl Stage for SkillResults {
    fn name(&self) -> &'static str {
        "skill_results"
    }

    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let open = &input.skills.loaded;
        let most = input.preset.max_loaded.unwrap_or(usize::MAX);
        let excess = open.len().saturating_sub(most);
        for skill in open.iter().skip(excess) {
            let mut skill = skill.clone();
            skill.docs.sort();
            draft.open.push(skill);
        }
        if excess > 0 {
            let note = format!("{excess} open skills left out: {most} may be open at once");
            draft.open_cut.push(note);
        }
    }
}

/// Where the text of each open skill stands in a request, and what other openings say.
#[derive(Debug, Default)]
pub(crate) struct Placing {
    /// The result that carries a skill: id → position of the opening among all that are kept.
    carriers: BTreeMap<String, usize>,
}

impl Placing {
    /// Decides from the openings that are kept, in the order of the request.
    pub(crate) fn new(input: &CompileInput<'_>, open: &[SkillText], kept: &[&Opening]) -> Self {
        let mut placing = Self::default();
        if input.preset.placement == Placement::System {
            return placing;
        }
        for (position, opening) in kept.iter().enumerate() {
            if !open.iter().any(|skill| is_of(opening, skill)) {
                continue;
            }
            let carrier = placing
                .carriers
                .entry(opening.skill.clone())
                .or_insert(position);
            if input.preset.carrier == Carrier::Last {
                *carrier = position;
            }
        }
        placing
    }

    /// Tells whether a result carries the text of the skill `id`.
    pub(crate) fn carries(&self, id: &str) -> bool {
        self.carriers.contains_key(id)
    }

    /// Writes what the result of opening number `position` says.
    pub(crate) fn fill(
        &self,
        input: &CompileInput<'_>,
        open: &[SkillText],
        opening: &Opening,
        position: usize,
        result: &mut ToolResult,
    ) {
        let texts = &input.preset.skills;
        let skill = open.iter().find(|skill| is_of(opening, skill));
        let carrier = self.carriers.get(&opening.skill);
        let text = match (skill, carrier) {
            (Some(skill), Some(carrier)) if *carrier == position => {
                render::skill(&texts.opened, texts, skill)
            }
            (Some(_), Some(carrier)) if *carrier < position => {
                named(&texts.receipt, input, opening)
            }
            _ => named(&texts.stub, input, opening),
        };
        // What stands below the stub belongs to the call: what the skill was opened for.
        result.content = match result.content.split_once('\n') {
            Some((_, more)) if !more.is_empty() => format!("{text}\n{more}"),
            _ => text,
        };
    }
}

fn is_of(opening: &Opening, skill: &SkillText) -> bool {
    opening.skill == skill.id && opening.digest == skill.digest
}

/// Fills in a template that names a skill; one that cannot be seen any more is named by its id.
fn named(template: &str, input: &CompileInput<'_>, opening: &Opening) -> String {
    let name = input
        .skills
        .visible
        .iter()
        .find(|entry| entry.id == opening.skill)
        .map_or(&opening.skill, |entry| &entry.name);
    fill(
        template,
        &[("id", &one_line(&opening.skill)), ("name", &one_line(name))],
    )
}
