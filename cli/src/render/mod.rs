//! How results look: text for people, JSON for programs.

pub(crate) mod chart;
pub(crate) mod diff;
pub(crate) mod run;
pub(crate) mod table;
pub(crate) mod terminal;
