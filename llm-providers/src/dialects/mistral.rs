//! Mistral.

use super::{COMPATIBLE, CallIds, Dialect, StreamUsage};

/// <https://docs.mistral.ai/api>; unknown fields are refused, and so are call ids of another form.
pub(super) const MISTRAL: Dialect = Dialect {
    name: "mistral",
    base_url: "https://api.mistral.ai/v1",
    key_env: Some("MISTRAL_API_KEY"),
    default_model: Some("mistral-medium-latest"),
    stream_usage: StreamUsage::Unasked,
    call_ids: CallIds::Alphanumeric(9),
    ..COMPATIBLE
};
