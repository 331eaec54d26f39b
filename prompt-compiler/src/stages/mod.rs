//! The stages of every preset, one a file, in the order in which they run.

pub(crate) mod context;
pub(crate) mod history;
pub(crate) mod post_tool;
pub(crate) mod skill_results;
pub(crate) mod skills;
pub(crate) mod system;
