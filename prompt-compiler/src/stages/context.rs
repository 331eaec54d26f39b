//! Context that is the same for the session; what a turn brings is handed on to the budget.

use crate::draft::{Draft, Section, Slot};
use crate::fragments::{ordered, shortened, whole};
use crate::input::CompileInput;
use crate::pipeline::Stage;

#[derive(Debug)]
pub(crate) struct Context;

/// The name of the section, and of its cap.
const SECTION: &str = "context";

impl Stage for Context {
    fn name(&self) -> &'static str {
        SECTION
    }

    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let cap = input.budget.cap(SECTION, 4);
        let mut left = cap;
        for fragment in ordered(input.session_context) {
            let text = whole(fragment);
            let asked = draft.meter.block(&text);
            let room = left.min(fragment.cap.unwrap_or(u64::MAX));
            let mut section = Section::new(SECTION, Slot::System, text);
            section.source.clone_from(&fragment.provenance);
            if asked > room {
                section.text = shortened(fragment, room, draft.meter);
                let given = draft.meter.block(&section.text);
                section.cut.push(format!(
                    "{}: {given} of {asked} tokens shown, the cap is {cap}",
                    fragment.name
                ));
                section.asked = Some(asked);
                section.cap = Some(room);
            }
            left = left.saturating_sub(asked);
            draft.add(section);
        }
        draft.fragments.extend(input.turn_context.iter().cloned());
    }
}
