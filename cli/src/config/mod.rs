//! The configuration: what a user may write, where it comes from, and who said what.
//!
//! [`load()`] reads the layers, refuses what is wrong with its line and column, merges the rest and
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
pub(crate) use load::{Loaded, Override, Places, load};
pub(crate) use origin::Origin;
pub(crate) use schema::{
    AssistantConfig, BaseUrl, Config, Dollars, LoadChoice, ModelChoice, ModelConfig, Placement,
    PreferredScope, ProfileName, Residency, RootScope, SkillPattern, SkillTrust, WallTime,
    json_schema,
};
