//! What holds where no rule speaks, and the paths that no broad rule opens.

use crate::access::{Access, PathTarget};
use crate::policy::glob::{fold, segments};
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
const WRITING: Row = asked("writing in the workspace");
const DELETING: Row = asked("deleting in the workspace");
const RUNNING: Row = asked("running and calling out");
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
        Access::Write(_) => WRITING,
        Access::Delete(_) => DELETING,
        Access::Run(_) | Access::Http { .. } | Access::Mcp { .. } | Access::Skill(_) => RUNNING,
        Access::Tool(_) => UNDECLARED,
    }
}

/// Names that are protected wherever they stand in a path, existing or not.
const PROTECTED_NAMES: [&str; 21] = [
    ".git",
    ".tekne",
    ".mcp.json",
    ".gitconfig",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    "config.fish",
];

/// Folders of skills that are protected wherever they stand in a path.
const SKILL_ROOTS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The paths that a policy protects from writing: what steers agents and shells.
#[derive(Clone, Debug, Default)]
pub(super) struct Protected {
    /// Folded paths from the root, added by the program: its skill roots and its configuration.
    roots: Vec<Vec<String>>,
}

impl Protected {
    pub(super) fn add(&mut self, path: &str) {
        if let PathTarget::Inside(path) = PathTarget::lexical(path) {
            let folded: Vec<String> = segments(&path).map(fold).collect();
            if !folded.is_empty() {
                self.roots.push(folded);
            }
        }
    }

    /// Tells whether `path` is protected or lies below what is.
    fn holds(&self, path: &str) -> bool {
        let names: Vec<String> = segments(path).map(fold).collect();
        let named = names
            .iter()
            .any(|name| PROTECTED_NAMES.contains(&name.as_str()));
        let skills = names
            .windows(2)
            .any(|pair| SKILL_ROOTS.contains(&pair.join("/").as_str()));
        named || skills || self.roots.iter().any(|root| names.starts_with(root))
    }

    /// Tells whether something protected lies, or may lie, below the folder `path`.
    fn below(&self, path: &str) -> bool {
        let names: Vec<String> = segments(path).map(fold).collect();
        let agents = names
            .last()
            .is_some_and(|name| matches!(name.as_str(), ".agents" | ".claude"));
        names.is_empty() || agents || self.roots.iter().any(|root| root.starts_with(&names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(access: &Access) -> bool {
        let mut protected = Protected::default();
        protected.add("./Skills/");
        protected.add("lib/skills");
        row(access, &protected).guarded
    }

    #[test]
    fn what_steers_agents_and_shells_is_protected_in_every_spelling() {
        for path in [
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            ".git /x",
            ".g\u{200d}it/x",
            ".git::$INDEX_ALLOCATION/x",
            ".tekne/config.yaml",
            ".Tekne/skills/x/SKILL.md",
            ".mcp.json",
            ".MCP.JSON",
            "home/.bashrc",
            ".zshenv",
            ".agents/skills/x/SKILL.md",
            ".Claude/Skills/x",
            "skills/x/SKILL.md",
            "SKILLS/x",
            "lib/skills/y",
            ".git",
        ] {
            assert!(protected(&Access::write(path)), "{path}");
            assert!(protected(&Access::delete(path)), "{path}");
            assert!(!protected(&Access::read(path)), "{path}");
        }
        for path in [
            ".gitignore",
            "src/skills.rs",
            "x/skills/y",
            ".github/workflows/ci.yml",
            "git/config",
        ] {
            assert!(!protected(&Access::write(path)), "{path}");
        }
    }

    #[test]
    fn deleting_a_folder_that_holds_something_protected_is_guarded() {
        for path in [".", ".claude", ".agents", "lib", "a/.claude"] {
            assert!(protected(&Access::delete(path)), "{path}");
        }
        assert!(!protected(&Access::delete("src")));
    }
}
