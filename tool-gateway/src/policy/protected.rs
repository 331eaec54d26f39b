//! The paths that no broad rule opens for writing: what steers agents, shells and sessions.

#[cfg(feature = "files")]
mod place;

use crate::access::PathTarget;
use crate::policy::glob::{fold, segments};

/// Names that are protected wherever they stand in a path, existing or not.
const NAMES: &[&str] = &[
    // Agents: policy, trust, servers, skills.
    ".tekne",
    ".mcp.json",
    ".claude.json",
    // What git runs and where it gets it from.
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".git-credentials",
    // Keys, and what decides who may use them.
    ".ssh",
    ".gnupg",
    ".netrc",
    // Start files of shells.
    ".profile",
    ".shrc",
    ".shinit",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".ashrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".envrc",
    ".direnvrc",
    "config.fish",
    // Start files of sessions.
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xserverrc",
    ".xsession",
    ".xsessionrc",
];

/// Starts of such names: `.bashrc.local`, `.zshrc.d`, `.gitconfig-work` are read like the others.
const STARTS: &[&str] = &[
    ".bash",
    ".zsh",
    ".zlog",
    ".zprofile",
    ".profile",
    ".gitconfig",
    ".xsession",
];

/// Folders of agents, protected but for the working copies that some of them keep there.
const AGENT_FOLDERS: &[&str] = &[".agents", ".claude", ".codex", ".cursor", ".gemini"];

/// Where an agent keeps working copies, below its folder.
const WORKING_COPIES: &str = "worktrees";

/// Names that are protected where they follow each other in a path.
const SEQUENCES: &[&[&str]] = &[
    &[".config", "tekne"],
    &[".local", "share", "tekne"],
    &[".config", "agents"],
    &[".config", "claude"],
    &[".config", "git"],
    &[".config", "fish"],
    &[".config", "bash"],
    &[".config", "zsh"],
    &[".config", "nushell"],
    &[".config", "powershell"],
    &[".config", "direnv"],
    &[".config", "autostart"],
    &[".config", "plasma-workspace"],
    &[".config", "environment.d"],
    &[".config", "systemd"],
    &[".local", "share", "systemd"],
];

/// The paths that a policy protects from writing.
#[derive(Clone, Debug, Default)]
pub(super) struct Protected {
    /// Folded paths from the root, added by the program; one without names is the root itself.
    roots: Vec<Vec<String>>,
    /// The folded names of the workspace's own path, since the workspace may lie in what is
    /// protected, or the protected path may begin above it.
    above: Vec<String>,
}

impl Protected {
    /// Protects what lies at a path below the root.
    pub(super) fn add(&mut self, path: &str) {
        if let PathTarget::Inside(path) = PathTarget::lexical(path) {
            let root = folded(&path);
            if !self.roots.contains(&root) {
                self.roots.push(root);
            }
        }
    }

    /// Tells whether `path` is protected or lies below what is.
    pub(super) fn holds(&self, path: &str) -> bool {
        let names = folded(path);
        self.roots.iter().any(|root| names.starts_with(root)) || steers(&self.whole(&names))
    }

    /// Tells whether something protected lies, or may lie, below the folder `path`.
    pub(super) fn below(&self, path: &str) -> bool {
        let names = folded(path);
        let whole = self.whole(&names);
        let begins = SEQUENCES
            .iter()
            .any(|sequence| (1..sequence.len()).any(|end| ends_with(&whole, sequence, end)));
        names.is_empty() || begins || self.roots.iter().any(|root| root.starts_with(&names))
    }

    /// Returns the names from the root of the file system, as far as that is known.
    fn whole<'a>(&'a self, names: &'a [String]) -> Vec<&'a str> {
        self.above.iter().chain(names).map(String::as_str).collect()
    }
}

fn folded(path: &str) -> Vec<String> {
    segments(path).map(fold).collect()
}

/// Tells whether names that follow each other name what steers agents, shells or sessions.
fn steers(names: &[&str]) -> bool {
    let named = names
        .iter()
        .any(|name| NAMES.contains(name) || STARTS.iter().any(|start| name.starts_with(start)));
    let agents = names.iter().enumerate().any(|(at, name)| {
        AGENT_FOLDERS.contains(name) && names.get(at + 1) != Some(&WORKING_COPIES)
    });
    let sequences = || {
        SEQUENCES
            .iter()
            .any(|sequence| names.windows(sequence.len()).any(|some| some == *sequence))
    };
    named || agents || sequences()
}

/// Tells whether `names` ends with the first `end` names of `sequence`.
fn ends_with(names: &[&str], sequence: &[&str], end: usize) -> bool {
    sequence
        .get(..end)
        .is_some_and(|start| names.ends_with(start))
}

#[cfg(test)]
mod tests;
