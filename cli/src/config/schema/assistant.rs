//! Assistants: a profile, a preset, and what narrows tools and skills.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{Dollars, ModelChoice};

/// An assistant: how it works, what it may use and what it sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AssistantConfig {
    /// How a turn runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<ProfileName>,
    /// How skills are shown and opened, such as `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<String>,
    /// The model, instead of the one above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// The only tools it may use, by name; without this key all that `tools.allow` leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<String>>,
    /// Groups it belongs to; a skill with groups is seen by assistants that share one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<String>,
    /// Roles it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roles: Vec<String>,
    /// What it does with single skills, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) skills: BTreeMap<String, SkillPreferenceConfig>,
    /// How long an opened skill stays in the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) residency: Option<Residency>,
    /// Where the text of an opened skill stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) placement: Option<Placement>,
    /// How many skills may be open at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_loaded: Option<NonZeroU32>,
    /// What one of its turns may cost.
    pub(crate) budget: BudgetConfig,
}

/// How a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProfileName {
    /// Model and tools in turn until the model is done.
    Agent,
    /// One answer without tools.
    QuickAsk,
    /// Text that continues at the cursor.
    Complete,
    /// An executable skill is chosen first.
    Routed,
}

/// How long an opened skill stays in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Residency {
    /// For one request.
    Once,
    /// Until the turn ends.
    Turn,
    /// Until the session ends.
    Session,
}

/// Where the text of an opened skill stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Placement {
    /// In the system prompt.
    System,
    /// In the result of the tool that opened it.
    ToolResult,
}

/// What an assistant does with one skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SkillPreferenceConfig {
    /// Whether it sees the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enabled: Option<bool>,
    /// Whether the skill is always in the prompt or opened when needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<LoadChoice>,
}

/// When a skill's text is in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LoadChoice {
    Always,
    Lazy,
}

/// What one turn may cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BudgetConfig {
    /// Tokens, read and written together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// US dollars, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<Dollars>,
}
