//! The compilation: stages in order, then what fits, then the request and its ledger.

use crate::assemble::assemble;
use crate::budget::plan;
use crate::cache::CompileCache;
use crate::draft::Draft;
use crate::family::Overhead;
use crate::input::CompileInput;
use crate::meter::Meter;
use crate::output::{CompileError, CompiledPrompt};
use crate::pipeline::Pipeline;
use crate::tokens::TokenCounter;

/// Compiles one request with the stages of every preset.
///
/// A pure function: the same input gives the same bytes on every machine. `counter` is asked only
/// when a bound is not good enough ([`crate::Budget::allow_bound`]).
///
/// # Errors
///
/// [`CompileError::Limit`] when what can't be left out does not fit: system prompt, always-on
/// skills, index, open skills, mentions by name, the last user message and its newest tool group.
pub fn compile(
    input: &CompileInput<'_>,
    counter: &dyn TokenCounter,
) -> Result<CompiledPrompt, CompileError> {
    Pipeline::standard().compile(input, counter, &mut CompileCache::default())
}

impl Pipeline {
    /// Compiles one request with these stages, using and renewing what `cache` holds.
    ///
    /// A cache changes what compiling costs, and nothing else: the bytes are those of [`compile`].
    ///
    /// # Errors
    ///
    /// As [`compile`].
    pub fn compile(
        &self,
        input: &CompileInput<'_>,
        counter: &dyn TokenCounter,
        cache: &mut CompileCache,
    ) -> Result<CompiledPrompt, CompileError> {
        let window = input.budget.window;
        cache.counted_with(format!("{} up to {window}", counter.basis()));
        cache.texts.begin();
        let overhead = Overhead::of(input.model);
        if input.budget.allow_bound {
            let CompileCache { turns, index, .. } = &mut *cache;
            let mut texts = Default::default();
            let meter = Meter::bound(overhead, &mut texts);
            let draft = self.gather(input, &meter, turns, index);
            if let Some(prompt) = small(input, draft) {
                return Ok(prompt);
            }
        }
        // A single text above the window fits no request, however far above it is.
        let CompileCache {
            texts,
            turns,
            index,
            ..
        } = &mut *cache;
        let meter = Meter::counting(counter, window, overhead, texts);
        let draft = self.gather(input, &meter, turns, index);
        let layout = draft.turns.layout().ok_or(CompileError::NothingToAnswer)?;
        let plan = plan(input, &draft, &layout)?;
        Ok(assemble(input, draft, plan))
    }

    /// Runs the stages in their order.
    fn gather<'d>(
        &'d self,
        input: &CompileInput<'_>,
        meter: &'d Meter<'d>,
        turns: &'d mut crate::conversation::Turns,
        index: &'d mut Option<crate::cache::CachedIndex>,
    ) -> Draft<'d> {
        let mut draft = Draft {
            meter,
            stages: self.stages(),
            turns,
            index,
            sections: Vec::new(),
            fragments: Vec::new(),
            open: Vec::new(),
            open_cut: Vec::new(),
        };
        for stage in self.stages() {
            stage.gather(input, &mut draft);
        }
        draft.turns.count(meter);
        draft
    }
}

/// Returns the request if a bound shows that it is below half the window and nothing had to go.
fn small(input: &CompileInput<'_>, draft: Draft<'_>) -> Option<CompiledPrompt> {
    if draft.turns.bound() > input.budget.request_limit() / 2 {
        return None;
    }
    let layout = draft.turns.layout()?;
    let plan = plan(input, &draft, &layout).ok()?;
    if plan.is_cut(&draft) {
        return None;
    }
    let prompt = assemble(input, draft, plan);
    (prompt.report.total <= input.budget.request_limit() / 2).then_some(prompt)
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
