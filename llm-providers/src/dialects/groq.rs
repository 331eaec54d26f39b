//! Groq.

use super::{COMPATIBLE, Dialect, OutputLimit};

/// <https://console.groq.com/docs/openai>
pub(super) const GROQ: Dialect = Dialect {
    name: "groq",
    base_url: "https://api.groq.com/openai/v1",
    key_env: Some("GROQ_API_KEY"),
    default_model: Some("openai/gpt-oss-120b"),
    output_limit: OutputLimit::MaxCompletionTokens,
    ..COMPATIBLE
};
