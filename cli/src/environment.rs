//! The place that reads environment, home, working directory and terminal.

#![expect(
    clippy::disallowed_methods,
    reason = "this module is where the program reads them, once"
)]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};
use skill_core::Machine;

use crate::error::CliError;

/// What the program knows of where it runs.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// The user's home folder.
    pub(crate) home: PathBuf,
    /// The folder that everything is relative to: `-C`, else the working directory.
    pub(crate) cwd: PathBuf,
    /// Folder of the user's configuration: `$XDG_CONFIG_HOME/tekne`.
    pub(crate) config_dir: PathBuf,
    /// Folder of the user's data: `$XDG_DATA_HOME/tekne`.
    pub(crate) data_dir: PathBuf,
    /// Whether standard input is a terminal.
    pub(crate) stdin_terminal: bool,
    /// Whether standard output is a terminal.
    pub(crate) stdout_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) stderr_terminal: bool,
}

impl Environment {
    /// Reads everything; `-C` changes the folder that paths are relative to.
    pub(crate) fn read(change_dir: Option<&Path>) -> Result<Self, CliError> {
        let directories = Xdg::new().map_err(|_| {
            CliError::usage("no home folder: HOME is not set")
                .with_hint("set HOME to the folder of the user")
        })?;
        if !directories.home_dir().is_absolute() {
            return Err(CliError::usage("HOME is not an absolute path")
                .with_hint("set HOME to the folder of the user, from `/` on"));
        }
        Ok(Self {
            home: directories.home_dir().to_owned(),
            cwd: working_directory(change_dir)?,
            config_dir: directories.config_dir().join("tekne"),
            data_dir: directories.data_dir().join("tekne"),
            stdin_terminal: std::io::stdin().is_terminal(),
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
        })
    }

    /// Tells whether somebody is there to be asked.
    pub(crate) fn is_interactive(&self, json: bool) -> bool {
        self.stdin_terminal && self.stderr_terminal && !json
    }

    /// Reads a variable; a value that is empty or no text counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// Returns what skills can require of this machine.
    pub(crate) fn machine(&self) -> Machine {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // A relative folder would look for programs in whatever the workspace holds.
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        Machine::new(std::env::consts::OS)
            .with_search_path(folders)
            .with_env(set.filter_map(|(name, _)| name.into_string().ok()))
    }

    /// Returns the journal's file.
    pub(crate) fn journal(&self) -> PathBuf {
        self.data_dir.join("journal.db")
    }

    /// Shows a path the way the user knows it: relative to here, or from `~`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.cwd) {
            let rest = rest.display().to_string();
            return if rest.is_empty() {
                ".".to_owned()
            } else {
                rest
            };
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

fn working_directory(change_dir: Option<&Path>) -> Result<PathBuf, CliError> {
    let here = std::env::current_dir().map_err(|error| {
        CliError::usage("the working directory is gone or not readable").with_source(error)
    })?;
    let Some(folder) = change_dir else {
        return Ok(here);
    };
    let folder = here.join(folder);
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(folder) => Err(
            CliError::usage(format!("{} is a file, not a folder", folder.display()))
                .with_code("workspace_not_a_folder")
                .with_hint("give -C the folder that holds the file"),
        ),
        Err(error) => Err(CliError::usage(format!("no folder {}", folder.display()))
            .with_code("workspace_missing")
            .with_hint("check the path after -C")
            .with_source(error)),
    }
}
