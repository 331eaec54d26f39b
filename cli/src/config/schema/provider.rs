//! What is reached over a wire: model providers and servers of the Model Context Protocol.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{BaseUrl, Dollars, EnvironmentName, Hidden};

/// A model provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProviderConfig {
    /// What is spoken on the wire; a known provider has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<ProtocolName>,
    /// Where the provider is, such as `http://127.0.0.1:8080/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<BaseUrl>,
    /// The environment variable that holds the key; never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_env: Option<EnvironmentName>,
    /// What is known about single models, by the provider's name for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) models: BTreeMap<String, ModelConfig>,
}

/// What is spoken on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ProtocolName {
    /// Chat completions as OpenAI defined them, which most servers speak.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
}

impl ProtocolName {
    /// Returns the name as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
        }
    }
}

/// What is known about a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelConfig {
    /// Tokens that it can take in one request, answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<NonZeroU64>,
    /// The longest answer that it can give, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_output: Option<NonZeroU32>,
    /// What its tokens cost; without it no limit in dollars can hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<PriceConfig>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceConfig {
    /// For tokens read.
    pub(crate) input: Dollars,
    /// For tokens written.
    pub(crate) output: Dollars,
    /// For tokens read that the provider had in its cache; as `input` when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cached: Option<Dollars>,
}

/// A server of the Model Context Protocol: a command to start, or an address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpServerConfig {
    /// The program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// The arguments of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    /// The environment of the program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, Hidden>,
    /// The address of a running server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<BaseUrl>,
    /// Headers of every request to it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, Hidden>,
}
