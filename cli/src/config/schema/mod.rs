//! Every setting that a user may write, and its type; the JSON Schema follows from it.
//!
//! A field's comment is what an editor shows, so it speaks to users.

mod assistant;
mod caps;
mod provider;
mod values;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use assistant::{AssistantConfig, LoadChoice, Placement, ProfileName, Residency};
pub(crate) use caps::SectionCaps;
pub(crate) use provider::{McpServerConfig, ModelConfig, ProviderConfig};
pub(crate) use values::{BaseUrl, Dollars, ModelChoice, PolicyRule, SkillPattern, WallTime};

/// Settings of tekne.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The model: `PROVIDER/MODEL`, or `offline` for the built-in stand-in that is no language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// Model providers by the name that stands before the slash of a model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) providers: BTreeMap<String, ProviderConfig>,
    /// Assistants by the name that `--assistant` takes; `default` is the one used without it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) assistants: BTreeMap<String, AssistantConfig>,
    /// Which skills there are and which of them a model sees.
    pub(crate) skills: SkillsConfig,
    /// Which tools may run, and when.
    pub(crate) tools: ToolsConfig,
    /// Servers of the Model Context Protocol by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) mcp_servers: BTreeMap<String, McpServerConfig>,
    /// What ends a turn before the model does.
    pub(crate) limits: LimitsConfig,
    /// How much a request may hold.
    pub(crate) context: ContextConfig,
    /// How executable skills are chosen.
    pub(crate) router: RouterConfig,
    /// What of a project is believed.
    pub(crate) trust: TrustConfig,
}

/// Which skills there are and which of them a model sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SkillsConfig {
    /// Folders to look for skills in, besides the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<RootConfig>,
    /// Ids of skills that nobody sees, whatever an assistant says; case does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) disabled: Vec<SkillPattern>,
    /// Patterns of ids; when there are any, only skills that match one are seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) include: Vec<SkillPattern>,
    /// Patterns of ids that are not seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exclude: Vec<SkillPattern>,
    /// Patterns of ids that are listed without their description.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) name_only: Vec<SkillPattern>,
    /// Whose skill takes a name that both hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prefer: Option<PreferredScope>,
}

/// A folder to look for skills in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RootConfig {
    /// The folder; relative to the folder of this file, or to the project; `~/` is the home.
    pub(crate) path: String,
    /// Whether every plain Markdown file in it is a skill.
    #[serde(default)]
    pub(crate) lite: bool,
    /// Whose skills these are, which decides what happens when two have one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<RootScope>,
}

/// Whose skills a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RootScope {
    Project,
    User,
    Config,
    Managed,
}

/// Whose skill takes a name that both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PreferredScope {
    Project,
    User,
}

/// Which tools may run, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolsConfig {
    /// The only tools that may run, by name; without this key all built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allow: Option<Vec<String>>,
    /// Rules `EFFECT CAPABILITY(PATTERN)`; deny goes before ask, ask before allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) policy: Vec<PolicyRule>,
}

/// What ends a turn before the model does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitsConfig {
    /// Model calls in one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_steps: Option<NonZeroU32>,
    /// Tool calls in one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<u32>,
    /// Tokens that one turn may cost, read and written together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// US dollars that one turn may cost, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<Dollars>,
    /// How long one turn may take, such as `90s` or `10m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<WallTime>,
}

/// How much a request may hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextConfig {
    /// Tokens that the model can take in one request, answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<NonZeroU64>,
    /// Tokens of the window that are kept for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reserve_output: Option<u64>,
    /// The model that sums up a conversation which runs over the window; without one, excerpts do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summariser: Option<ModelChoice>,
    /// Whether passages of the workspace's Markdown that fit the task come with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) recall: bool,
    /// The most tokens that a section of the prompt may have, by its name.
    #[serde(skip_serializing_if = "SectionCaps::is_empty")]
    pub(crate) caps: SectionCaps,
}

/// How executable skills are chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RouterConfig {
    /// The model that ranks candidates and fills parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// How many candidates it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top_k: Option<NonZeroU32>,
    /// The score below which a skill is no candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<f64>,
}

/// What of a project is believed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TrustConfig {
    /// Whether skill text of a project is shown at once, or only after you have seen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skills: Option<SkillTrust>,
}

/// Whether skill text of a project is shown before the user has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SkillTrust {
    /// It is shown; it grants nothing.
    Open,
    /// It is shown once it is trusted, and again after every change.
    Pinned,
}

/// Returns the JSON Schema of the configuration, for editors.
pub(crate) fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Config);
    schema.insert("title".to_owned(), "tekne configuration".into());
    schema.to_value()
}
