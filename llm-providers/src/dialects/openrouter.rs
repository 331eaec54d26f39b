//! OpenRouter.

use super::{COMPATIBLE, Dialect};

/// <https://openrouter.ai/docs/api-reference>
pub(super) const OPENROUTER: Dialect = Dialect {
    name: "openrouter",
    base_url: "https://openrouter.ai/api/v1",
    key_env: Some("OPENROUTER_API_KEY"),
    default_model: Some("openrouter/auto"),
    ..COMPATIBLE
};
