//! The system prompt: the preset's text for what is on offer, then the assistant's own.

use crate::draft::{Draft, Section, Slot};
use crate::input::CompileInput;
use crate::pipeline::Stage;

#[derive(Debug)]
pub(crate) struct System;

impl Stage for System {
    fn name(&self) -> &'static str {
        "system"
    }

    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let texts = &input.preset.system;
        let base = if input.tools.is_empty() {
            &texts.without_tools
        } else {
            &texts.with_tools
        };
        let mut text = base.clone();
        if !input.instructions.is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(input.instructions);
        }
        draft.add(Section::new("system", Slot::System, text));
    }
}
