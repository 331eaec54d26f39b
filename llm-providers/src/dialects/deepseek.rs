//! DeepSeek.

use super::{COMPATIBLE, Dialect, ReasoningReplay};

/// <https://api-docs.deepseek.com>; thinking is on by default, and a turn that called tools is
/// refused when its reasoning does not come back.
pub(super) const DEEPSEEK: Dialect = Dialect {
    name: "deepseek",
    base_url: "https://api.deepseek.com",
    key_env: Some("DEEPSEEK_API_KEY"),
    default_model: Some("deepseek-flash"),
    reasoning: ReasoningReplay::WithCalls,
    ..COMPATIBLE
};
