//! The place that reads environment, home, working directory and terminal.

#![expect(
    clippy::disallowed_methods,
    reason = "this module is where the program reads them, once"
)]

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};
use skill_core::Machine;

use crate::error::CliError;
use crate::render::terminal::on_one_line;

/// The variables that programs get.
const FOR_PROGRAMS: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "NVM_DIR",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

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
        let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        Machine::new(std::env::consts::OS)
            .with_search_path(self.search_path())
            .with_env(set.filter_map(|(name, _)| name.into_string().ok()))
    }

    /// Returns the variables that a program which a model starts may know, where they are set.
    ///
    /// They say where things are and how text is written; no key and no token is among them.
    pub(crate) fn for_programs(&self) -> BTreeMap<String, String> {
        let mut known: BTreeMap<String, String> = FOR_PROGRAMS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.variable(name)?)))
            .collect();
        known.insert("TERM".to_owned(), "dumb".to_owned());
        known.insert("PAGER".to_owned(), "cat".to_owned());
        known.insert("GIT_PAGER".to_owned(), "cat".to_owned());
        known.insert("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned());
        // What a repository's own settings would start without being asked.
        for (number, (key, value)) in [("core.fsmonitor", "false"), ("protocol.ext.allow", "never")]
            .into_iter()
            .enumerate()
        {
            known.insert(format!("GIT_CONFIG_KEY_{number}"), key.to_owned());
            known.insert(format!("GIT_CONFIG_VALUE_{number}"), value.to_owned());
            known.insert("GIT_CONFIG_COUNT".to_owned(), (number + 1).to_string());
        }
        known
    }

    /// Returns the folders that programs are looked for in.
    pub(crate) fn search_path(&self) -> Vec<PathBuf> {
        // What programs themselves take where nothing is set.
        let path =
            std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        // A relative folder would look for programs in whatever the workspace holds.
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.collect()
    }

    /// Returns the folder for files that nobody keeps.
    pub(crate) fn temporary(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// Returns the journal's file.
    pub(crate) fn journal(&self) -> PathBuf {
        self.data_dir.join("journal.db")
    }

    /// Shows a path the way the user knows it: relative to here, or from `~`, on one line.
    pub(crate) fn shown(&self, path: &Path) -> String {
        on_one_line(&self.near(path))
    }

    fn near(&self, path: &Path) -> String {
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
