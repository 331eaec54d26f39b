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
    /// The sentence that tells the model to open what fits; left out where it cannot, or if empty.
    #[serde(default)]
    pub routing: String,
    /// A line; `{id}`, `{name}`, `{padded_name}` and `{description}` are filled in.
    pub line: String,
    /// A line of a skill whose description is not shown.
    pub line_without_description: String,
    /// Put behind the line of an always-on skill.
    #[serde(default)]
    pub always_mark: String,
    /// Whether always-on skills have a line.
    pub list_always: bool,
    /// How many columns a padded name takes at least.
    #[serde(default)]
    pub name_columns: usize,
    /// How many skills are described at most; the others keep their names.
    #[serde(default)]
    pub describe_at_most: Option<usize>,
    /// Stands below the lines when only some are described; `{shown}` and `{total}` are filled in.
    #[serde(default)]
    pub described: String,
    /// Stands for the lines that do not fit; `{count}` is filled in.
    pub more: String,
    /// The same where no tool is on offer.
    pub more_without_tools: String,
    /// The last line; left out if empty.
    #[serde(default)]
    pub footer: String,
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

/// How several bodies make one block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockTexts {
    /// Stands before the first.
    #[serde(default)]
    pub header: String,
    /// One skill; `{envelope}`, `{id}`, `{name}`, `{version}`, `{digest}`, `{body}` and `{docs}` are
    /// filled in. What is an attribute is escaped; a body is not, but its last line break is left
    /// to the template.
    pub item: String,
    /// Stands between two skills.
    #[serde(default)]
    pub separator: String,
    /// Stands behind the last.
    #[serde(default)]
    pub footer: String,
}

/// How the documents of a skill are written where a template says `{docs}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocTexts {
    /// The first line; `{paths}` is filled in.
    pub header: String,
    /// Stands for the paths when there are none.
    pub none: String,
    /// One document; `{path}` and `{content}` are filled in.
    pub item: String,
    /// Stands between two documents.
    pub separator: String,
}

/// Which result carries the text of a skill that was opened more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// The first, so that the prefix before it stays; later ones hold a receipt.
    #[default]
    First,
    /// The last; earlier ones hold a stub.
    Last,
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
    /// The block of open bodies: all with [`Placement::System`], else those whose result is gone.
    pub open: BlockTexts,
    /// The result that carries an opened body, with the placeholders of [`BlockTexts::item`].
    pub opened: String,
    /// The result of an opening whose body is placed elsewhere or gone; `{id}` and `{name}` are
    /// filled in.
    pub stub: String,
    /// The result of opening what the same request already carries.
    pub receipt: String,
    /// The documents of a skill.
    pub docs: DocTexts,
}

/// What the tools of the skill system are called, and what they answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolNames {
    /// Opens a skill.
    pub open: String,
    /// How it is called, where that is not by `id` or `name`.
    #[serde(default)]
    pub spelling: Option<ToolSpelling>,
    /// Lists the documents of a skill; no tool does without a name here.
    #[serde(default)]
    pub list_docs: Option<String>,
    /// Selects documents of an open skill; no tool does without a name here.
    #[serde(default)]
    pub select_docs: Option<String>,
}

/// How a tool that opens skills is called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpelling {
    /// The one argument that names a skill.
    pub argument: String,
    /// The answer for what cannot be found; `{name}` is filled in.
    pub not_found: String,
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
    /// Which result carries it.
    #[serde(default)]
    pub carrier: Carrier,
    /// How long it stays.
    pub residency: Residency,
    /// How many skills may be open at once; `None` is no limit.
    pub max_loaded: Option<usize>,
    /// Skills that it switches on as always-on, unless somebody decided otherwise.
    #[serde(default)]
    pub always_on: Vec<String>,
    /// What the tools are called.
    pub tools: ToolNames,
    /// System text.
    pub system: SystemTexts,
    /// Skill text.
    pub skills: SkillTexts,
}

const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("presets/default.yaml")),
    ("yolo", include_str!("presets/yolo.yaml")),
    ("trpc", include_str!("presets/trpc.yaml")),
    ("halfpi", include_str!("presets/halfpi.yaml")),
];

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
            "no preset named `fancy` (there are: default, yolo, trpc, halfpi)"
        );
    }

    #[test]
    fn auto_switches_at_fifty_visible_skills() {
        let preset = Preset::built_in("default").unwrap();
        assert_eq!(preset.index_mode(49), IndexMode::Full);
        assert_eq!(preset.index_mode(50), IndexMode::ToolOnly);
    }
}
