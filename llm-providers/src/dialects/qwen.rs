//! Qwen, at Alibaba's Model Studio.

use super::{COMPATIBLE, Dialect};

/// <https://help.aliyun.com/zh/model-studio/>; the address is that of mainland China.
pub(super) const QWEN: Dialect = Dialect {
    name: "qwen",
    base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    key_env: Some("DASHSCOPE_API_KEY"),
    default_model: Some("qwen-plus"),
    ..COMPATIBLE
};
