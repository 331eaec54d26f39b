//! What ends a turn before the model does: limits that are checked before they are spent, and
//! loops that lead nowhere. All of it is pure; the driver asks and obeys.

mod ledger;
mod trail;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skill_core::Usage;

use crate::turn::TurnOutcome;

pub use ledger::{Ledger, Reservation};
pub use trail::Trail;

/// What one turn may cost, its sub-agents included; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnLimits {
    /// Calls of tools.
    pub tool_calls: Option<u32>,
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    /// US dollars; it holds where [`TurnLimits::prices`] are known, and stops every request where
    /// they are not.
    pub usd: Option<f64>,
    /// Time from the beginning of the turn.
    pub wall: Option<Duration>,
    /// What the model's tokens cost.
    pub prices: Option<Prices>,
}

impl TurnLimits {
    /// Tells whether what a request costs has to be known exactly before it is sent.
    pub fn needs_exact_counts(&self) -> bool {
        self.tokens.is_some() || self.usd.is_some()
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// For tokens read.
    pub input: f64,
    /// For tokens read that the provider had in its cache.
    pub cached: f64,
    /// For tokens written.
    pub output: f64,
}

impl Prices {
    /// Returns what `usage` costs, in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let fresh = usage.input - cached;
        let parts = [
            (fresh, self.input),
            (cached, self.cached),
            (usage.output, self.output),
        ];
        parts
            .iter()
            .map(|(tokens, price)| dollars(*tokens, *price))
            .sum()
    }
}

/// Returns the cost of `tokens` at `price` dollars a million.
fn dollars(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price / 1_000_000.0
}

/// A guard's word that the turn ends here, before anything more is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How the turn ends.
    pub outcome: TurnOutcome,
    /// Which limit or loop it was, in words.
    pub message: String,
}

impl Stop {
    fn budget(message: impl Into<String>) -> Self {
        Self {
            outcome: TurnOutcome::Budget,
            message: message.into(),
        }
    }
}
