//! Rules from several sources as one list, in which no source can loosen what it may not.

use std::fmt;

use crate::policy::rule::{Effect, Rule};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The machine's administrator.
    Managed,
    /// The user's configuration.
    User,
    /// The project's configuration.
    Project,
    /// The assistant's configuration.
    Assistant,
    /// An active skill.
    Skill,
    /// The command line, for one run.
    Flag,
}

impl Source {
    /// Returns the name used in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Assistant => "assistant",
            Self::Skill => "skill",
            Self::Flag => "flag",
        }
    }

    /// Tells whether rules of this source may allow anything.
    ///
    /// Files that come with a repository or a skill can only tighten.
    pub fn may_allow(self) -> bool {
        !matches!(self, Self::Project | Self::Skill)
    }
}

/// A rule and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedRule {
    /// Where it comes from.
    pub source: Source,
    /// The rule.
    pub rule: Rule,
}

impl fmt::Display for SourcedRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rule `{}` ({})", self.rule, self.source.as_str())
    }
}

/// Splits rules into those that count and those that try to allow where they may not.
pub(super) fn merge(
    rules: impl IntoIterator<Item = (Source, Rule)>,
) -> (Vec<SourcedRule>, Vec<SourcedRule>) {
    rules
        .into_iter()
        .map(|(source, rule)| SourcedRule { source, rule })
        .partition(|sourced| sourced.source.may_allow() || sourced.rule.effect() != Effect::Allow)
}
