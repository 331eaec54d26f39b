//! What holds where no rule speaks.

use crate::access::{Access, PathTarget};
use crate::policy::protected::Protected;
use crate::policy::rule::Effect;

/// Whether somebody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A person sits before the program.
    Interactive,
    /// Nobody does; what would be asked is denied.
    Headless,
}

/// A row of the default table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) interactive: Effect,
    pub(super) headless: Effect,
    /// Only a rule that names exactly this path allows it, and only where somebody is there.
    pub(super) guarded: bool,
}

impl Row {
    pub(super) fn effect(&self, mode: Mode) -> Effect {
        match mode {
            Mode::Interactive => self.interactive,
            Mode::Headless => self.headless,
        }
    }
}

const fn open(what: &'static str) -> Row {
    Row {
        what,
        interactive: Effect::Allow,
        headless: Effect::Allow,
        guarded: false,
    }
}

const fn asked(what: &'static str) -> Row {
    Row {
        what,
        interactive: Effect::Ask,
        headless: Effect::Deny,
        guarded: false,
    }
}

const fn guarded(what: &'static str) -> Row {
    Row {
        what,
        interactive: Effect::Ask,
        headless: Effect::Deny,
        guarded: true,
    }
}

const READING: Row = open("reading in the workspace");
const SKILLS: Row = open("opening skills");
const RESULTS: Row = open("reading results again");
const DELEGATING: Row = open("starting a sub-agent");
const WRITING: Row = asked("writing in the workspace");
const DELETING: Row = asked("deleting in the workspace");
const RUNNING: Row = asked("running and calling out");
pub(super) const RUNNING_ANYTHING: Row =
    asked("running a program that runs others, which only a rule with its arguments allows");
const CONFIRMED: Row = asked("what asks each time");
pub(super) const WITHIN: Row = open("part of what is allowed already");
const UNDECLARED: Row = asked("calling a tool that declares no capability");
const OUTSIDE: Row = guarded("going outside the workspace");
const PROTECTED: Row = guarded("changing a protected path");

/// Returns the row of the default table that `access` falls under.
pub(super) fn row(access: &Access, protected: &Protected) -> Row {
    match access {
        Access::Read(PathTarget::Outside(_))
        | Access::Write(PathTarget::Outside(_))
        | Access::Delete(PathTarget::Outside(_)) => OUTSIDE,
        Access::Write(PathTarget::Inside(path)) if protected.holds(path) => PROTECTED,
        Access::Delete(PathTarget::Inside(path))
            if protected.holds(path) || protected.below(path) =>
        {
            PROTECTED
        }
        Access::Read(_) => READING,
        Access::OpenSkill => SKILLS,
        Access::Output => RESULTS,
        Access::Delegate => DELEGATING,
        Access::Write(_) => WRITING,
        Access::Delete(_) => DELETING,
        Access::Run(_) | Access::Http { .. } | Access::Mcp { .. } | Access::Skill(_) => RUNNING,
        Access::Tool(_) => UNDECLARED,
        Access::Confirm(_) => CONFIRMED,
        Access::Within(_) => WITHIN,
        Access::Exactly(access) => row(access, protected),
    }
}
