//! Profiles: the only difference between the scenes that share one kernel.

/// How a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name, as it stands in events.
    pub name: &'static str,
    /// Whether tools are on offer.
    pub enable_tools: bool,
    /// The most steps a turn may take.
    pub max_steps: u32,
}

impl Profile {
    /// Tools, and up to 50 steps.
    pub const AGENT: Self = Self {
        name: "agent",
        enable_tools: true,
        max_steps: 50,
    };

    /// No tools, one step: the fast path.
    pub const QUICK_ASK: Self = Self {
        name: "quick-ask",
        enable_tools: false,
        max_steps: 1,
    };

    /// Tells whether a turn of this profile runs on the caller's task.
    pub fn is_fast_path(&self) -> bool {
        crate::turn::is_fast_path(self.enable_tools, self.max_steps)
    }
}
