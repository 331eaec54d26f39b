//! What becomes of one call: every way it can end, each with one terminal state.

mod arguments;
mod endings;
mod intents;
mod offered;
mod results;
