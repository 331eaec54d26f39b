//! Where a value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ConfigError, printable};

/// A file of the configuration, by whose word it is; later ones win where values meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Written by whoever runs the machine.
    Managed,
    /// The user's own.
    User,
    /// Part of the project, so not trusted.
    Project,
    /// Named on the command line.
    File,
}

impl Layer {
    /// Returns the name that users see.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::File => "file",
        }
    }
}

/// Where one value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere: it is built in.
    BuiltIn,
    /// In a file, at a line and a column counted from 1.
    File {
        layer: Layer,
        path: Arc<Path>,
        line: u32,
        column: u32,
    },
    /// On the command line, by the flag named.
    Flag(&'static str),
    /// In the environment, by the variable named.
    Environment(&'static str),
}

impl Origin {
    /// Returns the layer's name: a file's, or `built-in`, `flag`, `environment`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::File { layer, .. } => layer.as_str(),
            Self::Flag(_) => "flag",
            Self::Environment(_) => "environment",
        }
    }

    /// Returns an error about the value that was written here.
    pub(crate) fn error(&self, message: impl Into<String>, hint: Option<String>) -> ConfigError {
        let message = printable(&message.into());
        let hint = hint.map(|hint| printable(&hint));
        match self {
            Self::File {
                path, line, column, ..
            } => ConfigError {
                path: Some(PathBuf::from(path.as_ref())),
                line: Some(*line),
                column: Some(*column),
                message,
                hint,
            },
            Self::BuiltIn => ConfigError::without_place(message, hint),
            Self::Flag(name) | Self::Environment(name) => {
                ConfigError::without_place(format!("{name}: {message}"), hint)
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built-in"),
            Self::File { path, line, .. } => write!(formatter, "{}:{line}", path.display()),
            Self::Flag(name) | Self::Environment(name) => formatter.write_str(name),
        }
    }
}

/// The origin of every value, by its key: `limits.max_steps`, `tools.policy[0]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins(BTreeMap<String, Origin>);

impl Origins {
    pub(super) fn insert(&mut self, key: String, origin: Origin) {
        self.0.insert(key, origin);
    }

    /// Returns where the value under a key came from, if there is one.
    pub(crate) fn get(&self, key: &str) -> Option<&Origin> {
        self.0.get(key)
    }

    /// Returns every key that has a value, in the order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.0.iter().map(|(key, origin)| (key.as_str(), origin))
    }

    /// Returns an error about the value under a key, or the first value below it, for checks that
    /// only a later stage can make.
    pub(crate) fn error(
        &self,
        key: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> ConfigError {
        let below = |(name, _): &(&str, &Origin)| {
            name.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let first_below = || self.iter().find(below).map(|(_, origin)| origin);
        let origin = self.get(key).or_else(first_below);
        origin.unwrap_or(&Origin::BuiltIn).error(message, hint)
    }
}

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Returns the steps to a value as a user would write the key.
pub(super) fn spelled(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                if key.is_empty() || key.contains(['.', '[', '"']) {
                    text.push_str(&format!("{key:?}"));
                } else {
                    text.push_str(key);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_spelled_as_a_user_would() {
        let key = |text: &str| Step::Key(text.to_owned());
        let steps = [
            key("providers"),
            key("a.b"),
            key("models"),
            Step::Index(2),
            key("id"),
        ];
        assert_eq!(spelled(&steps), "providers.\"a.b\".models[2].id");
    }
}
