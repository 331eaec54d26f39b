//! What may run: rules over capabilities, merged so that the strictest wins.

mod glob;
mod merge;
mod program;
mod protected;
mod rule;
mod table;

use std::fmt;

pub use merge::{Source, SourcedRule};
pub use rule::{Effect, Rule, RuleError};
pub use table::Mode;

use crate::access::Access;
use protected::Protected;

/// What may run.
///
/// A total function over capabilities: of all rules that speak of one, from whatever source and in
/// whatever order, the strictest counts (`deny` > `ask` > `allow`); where none speaks, a fixed
/// table does. A call needs all its capabilities, so the strictest of those counts again.
///
/// ```
/// use tool_gateway::{Access, Effect, Mode, Policy, Source};
///
/// let (policy, ignored) = Policy::merge(Mode::Interactive, [
///     (Source::User, "allow write(notes/**)".parse()?),
///     (Source::Project, "deny write(notes/old/**)".parse()?),
///     (Source::Project, "allow run(**)".parse()?),
/// ]);
/// assert_eq!(policy.judge("write_file", &[Access::write("notes/a.md")]).effect, Effect::Allow);
/// assert_eq!(policy.judge("write_file", &[Access::write("notes/old/a.md")]).effect, Effect::Deny);
/// assert_eq!(policy.judge("write_file", &[Access::write("other.md")]).effect, Effect::Ask);
/// assert_eq!(ignored[0].to_string(), "rule `allow run(**)` (project)");
/// # Ok::<(), tool_gateway::RuleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    mode: Mode,
    rules: Vec<SourcedRule>,
    protected: Protected,
}

/// What the policy says of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The verdict: the strictest of the judgements, and `deny` where there is none.
    pub effect: Effect,
    /// One judgement for each capability of the call.
    pub judgements: Vec<Judgement>,
}

/// What the policy says of one capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The capability.
    pub access: Access,
    /// The verdict.
    pub effect: Effect,
    /// What decided.
    pub decided_by: DecidedBy,
}

/// What decided about a capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// A rule.
    Rule(SourcedRule),
    /// The default for this kind of capability; no rule speaks, or none that may.
    Default(&'static str),
}

impl Policy {
    /// Returns the policy of the default table alone.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            rules: Vec::new(),
            protected: Protected::default(),
        }
    }

    /// Merges rules from their sources; also returns those that tried to allow where their source
    /// may only tighten, which do not count.
    pub fn merge(
        mode: Mode,
        rules: impl IntoIterator<Item = (Source, Rule)>,
    ) -> (Self, Vec<SourcedRule>) {
        let (rules, ignored) = merge::merge(rules);
        (
            Self {
                rules,
                ..Self::new(mode)
            },
            ignored,
        )
    }

    /// Protects more paths below the root from writing, such as the skill roots of this run.
    #[must_use]
    pub fn protect<'a>(mut self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        paths.into_iter().for_each(|path| self.protected.add(path));
        self
    }

    /// Takes in where the workspace lies, and protects more paths from writing: configuration,
    /// data and skill roots of this run, absolute or relative to the root.
    ///
    /// A path is protected by every name below the root that leads to it, links followed; one
    /// that holds the workspace protects all of it. So does a workspace in a folder that is
    /// protected by its name, such as `.git`.
    #[cfg(feature = "files")]
    #[must_use]
    pub fn protect_in<P: AsRef<std::path::Path>>(
        mut self,
        workspace: &crate::workspace::Workspace,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        self.protected.locate(workspace);
        for path in paths {
            self.protected.add_place(workspace, path.as_ref());
        }
        self
    }

    /// Returns whether somebody can be asked.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Judges a call of `tool` that needs `access`.
    ///
    /// Rules about a tool's name can only tighten what its capabilities allow; where it declares
    /// none, its name is the capability.
    pub fn judge(&self, tool: &str, access: &[Access]) -> Decision {
        let named = Access::Tool(tool.to_owned());
        let mut judgements: Vec<Judgement> =
            access.iter().map(|access| self.judge_one(access)).collect();
        for access in access {
            judgements.extend(self.behind(access));
        }
        if access.is_empty() {
            judgements.push(self.judge_one(&named));
        } else if let Some(rule) = self
            .strictest(&named)
            .filter(|rule| rule.rule.effect() != Effect::Allow)
        {
            judgements.push(self.by_rule(named, rule));
        }
        let effect = judgements
            .iter()
            .map(|one| one.effect)
            .max()
            .unwrap_or(Effect::Deny);
        Decision { effect, judgements }
    }

    /// Returns the verdict about one capability.
    pub fn effect_of(&self, access: &Access) -> Effect {
        let behind = self.behind(access).into_iter().map(|one| one.effect);
        behind.fold(self.judge_one(access).effect, Effect::max)
    }

    /// Judges the programs that a program runs in its turn: a rule that forbids one of them
    /// forbids the whole, and one that is not allowed is no more allowed behind another.
    fn behind(&self, access: &Access) -> Vec<Judgement> {
        let Access::Run(argv) = access else {
            return Vec::new();
        };
        let inner = program::inner(argv).into_iter();
        inner
            .map(|argv| self.judge_one(&Access::Run(argv)))
            .collect()
    }

    /// Judges what is part of something else: only what forbids counts.
    fn judge_within(&self, access: &Access, whole: &Access) -> Judgement {
        let strict = std::iter::once(access.clone())
            .chain(match access {
                Access::Run(argv) => program::inner(argv).into_iter().map(Access::Run).collect(),
                _ => Vec::new(),
            })
            .filter_map(|access| Some(self.strictest(&access)?.clone()))
            .filter(|rule| rule.rule.effect() != Effect::Allow)
            .max_by_key(|rule| rule.rule.effect());
        match strict {
            Some(rule) => self.by_rule(whole.clone(), &rule),
            None => Judgement {
                access: whole.clone(),
                effect: Effect::Allow,
                decided_by: DecidedBy::Default(table::WITHIN.what),
            },
        }
    }

    /// Judges what only a rule that names exactly this allows.
    fn judge_exactly(&self, access: &Access, whole: &Access) -> Judgement {
        let judged = self.judge_one(access);
        let by_pattern = match &judged.decided_by {
            DecidedBy::Rule(_) => !self.rules.iter().any(|sourced| {
                sourced.rule.effect() == Effect::Allow
                    && sourced.rule.is_literal()
                    && sourced.rule.matches(access)
            }),
            DecidedBy::Default(_) => false,
        };
        if judged.effect == Effect::Allow && by_pattern {
            let row = table::row(access, &self.protected);
            return Judgement {
                access: whole.clone(),
                effect: row.effect(self.mode),
                decided_by: DecidedBy::Default("what only a rule that names exactly this allows"),
            };
        }
        Judgement {
            access: whole.clone(),
            ..judged
        }
    }

    fn judge_one(&self, access: &Access) -> Judgement {
        match access {
            Access::Within(part) => return self.judge_within(part, access),
            Access::Exactly(one) => return self.judge_exactly(one, access),
            _ => {}
        }
        let row = self.row(access);
        let by_default = || Judgement {
            access: access.clone(),
            effect: row.effect(self.mode),
            decided_by: DecidedBy::Default(row.what),
        };
        match self.strictest(access) {
            Some(rule) if rule.rule.effect() == Effect::Deny => self.by_rule(access.clone(), rule),
            // Nothing but a person opens these: headless, the default is a no.
            Some(_) if row.guarded && self.mode == Mode::Headless => by_default(),
            Some(rule)
                if row.guarded
                    && rule.rule.effect() == Effect::Allow
                    && !self.named_exactly(access) =>
            {
                by_default()
            }
            Some(rule) if rule.rule.effect() == Effect::Allow && !self.spells_out(access) => {
                by_default()
            }
            Some(rule) => self.by_rule(access.clone(), rule),
            None => by_default(),
        }
    }

    fn row(&self, access: &Access) -> table::Row {
        match access {
            Access::Run(argv) if program::words_needed(argv) > 1 => table::RUNNING_ANYTHING,
            access => table::row(access, &self.protected),
        }
    }

    /// Tells whether a rule allows a program by enough of its arguments that no other program can
    /// be meant.
    fn spells_out(&self, access: &Access) -> bool {
        let Access::Run(argv) = access else {
            return true;
        };
        let needed = program::words_needed(argv);
        self.rules.iter().any(|sourced| {
            sourced.rule.effect() == Effect::Allow
                && sourced.rule.matches(access)
                && (needed <= 1 || sourced.rule.words() >= needed)
        })
    }

    /// Applies a rule; headless, to ask is to deny.
    fn by_rule(&self, access: Access, sourced: &SourcedRule) -> Judgement {
        let effect = match sourced.rule.effect() {
            Effect::Ask if self.mode == Mode::Headless => Effect::Deny,
            effect => effect,
        };
        Judgement {
            access,
            effect,
            decided_by: DecidedBy::Rule(sourced.clone()),
        }
    }

    /// Returns the strictest rule that speaks of `access`; the first among equals.
    fn strictest(&self, access: &Access) -> Option<&SourcedRule> {
        let speaking = self
            .rules
            .iter()
            .filter(|sourced| sourced.rule.matches(access));
        // `max_by_key` keeps the last among equals, so it looks from the end.
        speaking.rev().max_by_key(|sourced| sourced.rule.effect())
    }

    /// Tells whether a rule allows exactly this path and no other.
    fn named_exactly(&self, access: &Access) -> bool {
        self.rules.iter().any(|sourced| {
            sourced.rule.effect() == Effect::Allow
                && sourced.rule.names_one_path()
                && sourced.rule.matches(access)
        })
    }
}

impl Decision {
    /// Returns the judgement that decided: the first of the strictest.
    pub fn deciding(&self) -> Option<&Judgement> {
        self.judgements.iter().find(|one| one.effect == self.effect)
    }

    /// Tells whether the answer is no only because nobody can be asked.
    pub fn wants_asking(&self) -> bool {
        self.effect == Effect::Deny
            && self
                .judgements
                .iter()
                .filter(|one| one.effect == Effect::Deny)
                .all(|one| match &one.decided_by {
                    DecidedBy::Rule(sourced) => sourced.rule.effect() == Effect::Ask,
                    DecidedBy::Default(_) => true,
                })
    }

    /// Says what was decided and by which rule, for an operator.
    pub fn explain(&self) -> String {
        match self.deciding() {
            Some(judgement) => judgement.to_string(),
            None => "no verdict: denied".to_owned(),
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}: {}",
            self.effect.as_str(),
            self.access,
            self.decided_by
        )?;
        match &self.decided_by {
            DecidedBy::Rule(sourced) if sourced.rule.effect() != self.effect => {
                formatter.write_str(", and nobody can be asked")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(sourced) => sourced.fmt(formatter),
            Self::Default(what) => write!(formatter, "default for {what}"),
        }
    }
}

#[cfg(test)]
mod tests;
