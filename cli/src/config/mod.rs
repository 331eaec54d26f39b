//! The configuration: what a user may write, where it comes from, and who said what.
//!
//! [`load`] reads the layers, refuses what is wrong with its line and column, merges the rest and
//! keeps for every value the place it came from. It reads files and nothing else: paths and
//! overrides are passed in.

mod check;
mod document;
mod error;
mod load;
mod merge;
mod nearest;
mod node;
mod origin;
mod project;
mod read;
mod schema;

pub(crate) use error::{ConfigError, Notice};
pub(crate) use load::{LayerFile, Loaded, Override, Places, load};
pub(crate) use origin::{Layer, Origin, Origins};
pub(crate) use schema::{
    AssistantConfig, BaseUrl, BudgetConfig, Config, ContextConfig, Dollars, EnvironmentName,
    Hidden, LimitsConfig, LoadChoice, McpServerConfig, ModelChoice, ModelConfig, Placement,
    PolicyRule, PreferredScope, ProfileName, ProtocolName, ProviderConfig, Residency, RootConfig,
    RootScope, RouterConfig, RuleEffect, SkillPreferenceConfig, SkillTrust, SkillsConfig,
    ToolsConfig, TrustConfig, WallTime, json_schema,
};
