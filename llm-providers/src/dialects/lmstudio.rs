//! LM Studio on this machine.

use super::{COMPATIBLE, Dialect};

/// <https://lmstudio.ai/docs/developer/openai-compat>
pub(super) const LMSTUDIO: Dialect = Dialect {
    name: "lmstudio",
    base_url: "http://127.0.0.1:1234/v1",
    ..COMPATIBLE
};
