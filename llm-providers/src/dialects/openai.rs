//! OpenAI.

use super::{COMPATIBLE, Dialect, OutputLimit};

/// <https://platform.openai.com/docs/api-reference/chat>
pub(super) const OPENAI: Dialect = Dialect {
    name: "openai",
    base_url: "https://api.openai.com/v1",
    key_env: Some("OPENAI_API_KEY"),
    default_model: Some("gpt-5-mini"),
    output_limit: OutputLimit::MaxCompletionTokens,
    ..COMPATIBLE
};
