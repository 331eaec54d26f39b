//! The seam for routing: what is asked before the model in [`crate::Profile::ROUTED`].

use std::fmt;

use async_trait::async_trait;
use skill_core::SkillView;

/// A call that a router chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON text.
    pub arguments: String,
}

/// Chooses a call from a user's words before the model is asked.
///
/// Asked once a turn. What it returns goes the way of any call of the model: through every check
/// of the gateway, into the journal, and before the model, which answers the user. `None` leaves
/// the turn to the model alone; a router that fails returns `None`.
#[async_trait]
pub trait Router: Send + Sync + fmt::Debug {
    /// Returns the call for `query`; `digest` is what was said so far, in short.
    async fn route(&self, query: &str, digest: &str, view: &SkillView) -> Option<RoutedCall>;
}
