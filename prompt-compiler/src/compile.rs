//! The compilation: stages in order, measured, cut to the budget, accounted for.

use crate::draft::{Draft, Kept};
use crate::groups::paired;
use crate::input::CompileInput;
use crate::meter::Meter;
use crate::output::{CompiledPrompt, ContextLimit};
use crate::stages::history::Conversation;
use crate::tokens::{ByteBound, TokenCounter};
use crate::window;

/// Compiles one request.
///
/// A pure function: the same input gives the same bytes on every machine. `counter` is asked only
/// when a bound is not good enough ([`crate::Budget::allow_bound`]).
///
/// # Errors
///
/// [`ContextLimit`] when what can't be left out does not fit: system prompt, always-on skills,
/// index, open skills, the last user message and its newest tool group.
pub fn compile(
    input: &CompileInput<'_>,
    counter: &dyn TokenCounter,
) -> Result<CompiledPrompt, ContextLimit> {
    let messages = paired(input.messages);
    let conversation = Conversation::split(&messages);
    if input.budget.allow_bound {
        let meter = Meter::new(&ByteBound);
        let draft = Draft::new(input, &conversation, Kept::default(), &meter);
        if draft.total() <= input.budget.request_limit() / 2 {
            return Ok(draft.finish(input, &conversation, &meter));
        }
    }
    // A single text above the window fits no request, however far above it is.
    fit(
        input,
        &conversation,
        &Meter::up_to(counter, input.budget.window),
    )
}

/// Leaves out old rounds, then old tool groups of this turn, until the rest fits.
fn fit(
    input: &CompileInput<'_>,
    conversation: &Conversation<'_>,
    meter: &Meter<'_>,
) -> Result<CompiledPrompt, ContextLimit> {
    let mut draft = Draft::new(input, conversation, Kept::default(), meter);
    let mut kept = Kept {
        rounds_from: window_start(input, conversation, &draft),
        groups_from: 0,
    };
    if kept.rounds_from > 0 {
        draft = Draft::new(input, conversation, kept, meter);
    }
    loop {
        if draft.total() <= input.budget.request_limit() {
            return Ok(draft.finish(input, conversation, meter));
        }
        if kept.rounds_from < conversation.rounds.len() {
            kept.rounds_from += 1;
        } else if kept.groups_from + 1 < conversation.groups.len() {
            kept.groups_from += 1;
        } else {
            return Err(draft.limit(input));
        }
        draft = Draft::new(input, conversation, kept, meter);
    }
}

/// Returns where the history window begins, from what is stable alone.
fn window_start(input: &CompileInput<'_>, conversation: &Conversation<'_>, whole: &Draft) -> usize {
    let room = input.budget.request_limit().saturating_sub(whole.stable());
    let mut sizes = whole.history_sizes().iter();
    let rounds: Vec<u64> = conversation
        .rounds
        .iter()
        .map(|round| sizes.by_ref().take(round.len()).sum())
        .collect();
    window::start(&rounds, room / 10 * 6, room / 10 * 8)
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
