//! The machine that skills would run on, as a value: its system, its programs, what is set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::skill::{Diagnostic, Skill};

/// What a skill's requirements are held against.
///
/// A program fills it in; nothing here reads the environment. Whether a program is there is looked
/// up once for each name, in the folders given, when a skill asks for it.
///
/// ```
/// use skill_core::Machine;
///
/// let machine = Machine::new("linux").with_env(["HOME"]);
/// assert!(!machine.has_program("jq")); // no folder to look in was given
/// ```
#[derive(Debug, Default)]
pub struct Machine {
    os: String,
    folders: Vec<PathBuf>,
    env: BTreeSet<String>,
    found: Mutex<BTreeMap<String, bool>>,
}

impl Machine {
    /// Returns a machine that runs `os`, named as [`std::env::consts::OS`] does.
    pub fn new(os: &str) -> Self {
        Self {
            os: system(os).to_owned(),
            ..Self::default()
        }
    }

    /// Sets the folders in which programs are looked for.
    #[must_use]
    pub fn with_search_path(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.folders = folders.into_iter().collect();
        self
    }

    /// Sets the names of the environment variables that are set.
    #[must_use]
    pub fn with_env<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.env = names.into_iter().map(Into::into).collect();
        self
    }

    /// Tells whether a program of this name is in one of the folders.
    pub fn has_program(&self, name: &str) -> bool {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(name) {
            return *known;
        }
        let plain = !name.is_empty() && !name.contains(['/', '\\', '\0']);
        let there = plain
            && self
                .folders
                .iter()
                .any(|folder| is_program(&folder.join(name)));
        found.insert(name.to_owned(), there);
        there
    }

    /// Tells whether everything `skill` requires is there.
    pub fn meets(&self, skill: &Skill) -> bool {
        skill.requires.is_none() || self.missing(skill).is_empty()
    }

    /// Returns a finding for each requirement of `skill` that is not met, `SK100`.
    pub fn unmet(&self, skill: &Skill) -> Vec<Diagnostic> {
        let found = self.missing(skill).into_iter();
        found
            .map(|reason| Diagnostic::about("SK100", &skill.path, reason))
            .collect()
    }

    fn missing(&self, skill: &Skill) -> Vec<String> {
        let Some(needs) = &skill.requires else {
            return Vec::new();
        };
        let mut reasons: Vec<String> = Vec::new();
        if !needs.os.is_empty() && !needs.os.iter().any(|os| system(os) == self.os) {
            let wanted = needs.os.join(", ");
            reasons.push(format!("it runs on {wanted}, and this is {}", self.os));
        }
        let absent = needs.programs.iter().filter(|name| !self.has_program(name));
        reasons.extend(absent.map(|name| format!("the program `{name}` is not found")));
        let any = &needs.any_program;
        if !any.is_empty() && !any.iter().any(|name| self.has_program(name)) {
            reasons.push(format!(
                "none of the programs `{}` is found",
                any.join("`, `")
            ));
        }
        let unset = needs.env.iter().filter(|name| !self.env.contains(*name));
        reasons.extend(unset.map(|name| format!("the variable `{name}` is not set")));
        reasons
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        (&self.os, &self.folders, &self.env) == (&other.os, &other.folders, &other.env)
    }
}

impl Eq for Machine {}

/// Returns the one name of a system that goes by several.
fn system(name: &str) -> &str {
    match name {
        "macos" | "mac" | "osx" | "darwin" | "macOS" => "darwin",
        "windows" | "win" | "win32" | "Windows" => "win32",
        "Linux" => "linux",
        other => other,
    }
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return cfg!(windows) && fs::metadata(path.with_extension("exe")).is_ok();
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}
