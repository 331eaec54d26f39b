//! Ollama on this machine, by its OpenAI-compatible address.

use super::{COMPATIBLE, Dialect};

/// <https://docs.ollama.com/api/openai-compatibility>
pub(super) const OLLAMA: Dialect = Dialect {
    name: "ollama",
    base_url: "http://127.0.0.1:11434/v1",
    ..COMPATIBLE
};
