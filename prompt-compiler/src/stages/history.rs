//! The conversation: brought into the form that providers take; what fits of it is decided later.

use crate::draft::Draft;
use crate::groups::Form;
use crate::input::CompileInput;
use crate::pipeline::Stage;

#[derive(Debug)]
pub(crate) struct History;

impl Stage for History {
    fn name(&self) -> &'static str {
        "history"
    }

    fn gather(&self, input: &CompileInput<'_>, draft: &mut Draft<'_>) {
        let form = if input.tools.is_empty() {
            Form::Text
        } else {
            Form::Calls
        };
        draft.take_messages(input.messages, form);
    }
}
