//! llama.cpp's server on this machine.

use super::{COMPATIBLE, Dialect};

/// <https://github.com/ggml-org/llama.cpp/tree/master/tools/server>
pub(super) const LLAMACPP: Dialect = Dialect {
    name: "llamacpp",
    base_url: "http://127.0.0.1:8080/v1",
    ..COMPATIBLE
};
