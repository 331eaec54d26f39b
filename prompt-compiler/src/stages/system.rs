//! The system prompt: the preset's text for what is on offer, then the assistant's own.

use super::Section;
use crate::input::CompileInput;

pub(crate) fn section(input: &CompileInput<'_>) -> Section {
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
    Section::whole(
        "system",
        if text.is_empty() {
            Vec::new()
        } else {
            vec![text]
        },
    )
}
