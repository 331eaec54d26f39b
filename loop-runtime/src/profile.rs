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
    /// Whether skills are shown: the index, and what is always on.
    pub shows_skills: bool,
    /// Whether the session is kept.
    pub keeps_journal: bool,
    /// Whether the agent's router is asked before the model.
    pub routes: bool,
    /// The system text, where it is not the preset's.
    pub system: Option<&'static str>,
}

impl Profile {
    /// Tools, and up to 50 steps.
    pub const AGENT: Self = Self {
        name: "agent",
        enable_tools: true,
        max_steps: 50,
        shows_skills: true,
        keeps_journal: true,
        routes: false,
        system: None,
    };

    /// No tools, one step: the fast path.
    pub const QUICK_ASK: Self = Self {
        name: "quick-ask",
        enable_tools: false,
        max_steps: 1,
        ..Self::AGENT
    };

    /// Text that continues at a cursor: the fast path, without skills and without a journal.
    ///
    /// [`crate::completion`] makes its input.
    pub const COMPLETE: Self = Self {
        name: "complete",
        shows_skills: false,
        keeps_journal: false,
        system: Some(crate::complete::SYSTEM),
        ..Self::QUICK_ASK
    };

    /// [`Profile::AGENT`], but the agent's [`crate::Router`] is asked first.
    pub const ROUTED: Self = Self {
        name: "routed",
        routes: true,
        ..Self::AGENT
    };

    /// Tells whether a turn of this profile runs on the caller's task.
    pub fn is_fast_path(&self) -> bool {
        crate::turn::is_fast_path(self.enable_tools, self.max_steps)
    }
}
