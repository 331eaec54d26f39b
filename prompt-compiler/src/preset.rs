//! Presets: how skills are listed, placed and kept, as data. One YAML file each, in the binary.

use serde::Deserialize;
use thiserror::Error;

/// How the index of skills is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexMode {
    /// Every listed skill, one line each.
    Full,
    /// No lines; the model asks `list_skills`.
    ToolOnly,
    /// [`IndexMode::Full`] below `auto_limit` visible skills, else [`IndexMode::ToolOnly`].
    Auto,
}

/// Where the text of an opened skill is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// In the result of the call that opened it.
    ToolResult,
    /// In a system block.
    System,
}

/// How long an opened skill stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Residency {
    /// For one request.
    Once,
    /// Until the turn ends.
    Turn,
    /// Until the session ends.
    Session,
}

/// The system text of a preset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemTexts {
    /// Used when tools are offered.
    pub with_tools: String,
    /// Used when none are.
    pub without_tools: String,
}

/// The text around the lines of an index.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexTexts {
    /// The first line.
    pub header: String,
    /// The sentence that tells the model to open what fits; left out where it cannot.
    pub routing: String,
    /// A line; `{id}`, `{name}` and `{description}` are filled in.
    pub line: String,
    /// A line of a skill whose description is not shown.
    pub line_without_description: String,
    /// Put behind the line of an always-on skill.
    pub always_mark: String,
}

/// The text that stands for an index that is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOnlyTexts {
    /// The first line.
    pub header: String,
    /// The sentence that tells the model how to search.
    pub routing: String,
}

/// The heading of a block of bodies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockTexts {
    /// The first line.
    pub header: String,
}

/// Every text that has to do with skills.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillTexts {
    /// The index.
    pub index: IndexTexts,
    /// What stands in its place in [`IndexMode::ToolOnly`].
    pub tool_only: ToolOnlyTexts,
    /// The block of always-on bodies.
    pub always: BlockTexts,
    /// The block of open bodies whose tool result is gone.
    pub fallback: BlockTexts,
    /// The result that carries an opened body; `{envelope}` is filled in.
    pub opened: String,
    /// The result of an opening whose body is placed elsewhere or gone; `{id}` is filled in.
    pub stub: String,
    /// The result of opening what the same request already carries; `{id}` is filled in.
    pub receipt: String,
}

/// A point in the space of ways to show skills.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name users choose it by.
    pub name: String,
    /// How the index is shown.
    pub index: IndexMode,
    /// The number of visible skills from which [`IndexMode::Auto`] shows no lines.
    pub auto_limit: usize,
    /// Where opened text goes.
    pub placement: Placement,
    /// How long it stays.
    pub residency: Residency,
    /// How many skills may be open at once; `None` is no limit.
    pub max_loaded: Option<usize>,
    /// The name of the tool that opens a skill.
    pub open_tool: String,
    /// System text.
    pub system: SystemTexts,
    /// Skill text.
    pub skills: SkillTexts,
}

const BUILT_IN: &[(&str, &str)] = &[("default", include_str!("presets/default.yaml"))];

/// A preset that cannot be had.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct PresetError {
    /// What is wrong.
    pub kind: PresetErrorKind,
}

/// What is wrong with a preset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PresetErrorKind {
    /// No preset has this name.
    #[error("no preset named `{name}` (there are: {})", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The text is not a preset.
    #[error("preset is not valid: {0}")]
    Invalid(String),
}

impl Preset {
    /// Returns the built-in preset called `name`.
    ///
    /// # Errors
    ///
    /// [`PresetErrorKind::Unknown`] with the names there are.
    pub fn built_in(name: &str) -> Result<Self, PresetError> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::from_yaml(text),
            None => Err(PresetError {
                kind: PresetErrorKind::Unknown {
                    name: name.to_owned(),
                    known: Self::names(),
                },
            }),
        }
    }

    /// Reads a preset from YAML.
    ///
    /// # Errors
    ///
    /// [`PresetErrorKind::Invalid`] with the place and the reason.
    pub fn from_yaml(text: &str) -> Result<Self, PresetError> {
        serde_yaml::from_str(text).map_err(|error| PresetError {
            kind: PresetErrorKind::Invalid(error.to_string()),
        })
    }

    /// Returns the names of the built-in presets.
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    /// Returns how `visible` skills are indexed: never [`IndexMode::Auto`].
    pub fn index_mode(&self, visible: usize) -> IndexMode {
        match self.index {
            IndexMode::Auto if visible < self.auto_limit => IndexMode::Full,
            IndexMode::Auto => IndexMode::ToolOnly,
            mode => mode,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_preset_reads_and_carries_its_own_name() {
        for name in Preset::names() {
            assert_eq!(Preset::built_in(name).unwrap().name, name);
        }
    }

    #[test]
    fn an_unknown_preset_names_those_there_are() {
        let error = Preset::built_in("fancy").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no preset named `fancy` (there are: default)"
        );
    }

    #[test]
    fn auto_switches_at_fifty_visible_skills() {
        let preset = Preset::built_in("default").unwrap();
        assert_eq!(preset.index_mode(49), IndexMode::Full);
        assert_eq!(preset.index_mode(50), IndexMode::ToolOnly);
    }
}
