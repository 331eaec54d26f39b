//! Skills as files, and the words that every crate of an agent speaks.

mod message;
mod model;
pub mod state;
mod time;
mod tool;

#[cfg(feature = "model")]
pub use model::{CompletionStream, Provider};
pub use {
    message::{ContentBlock, Message, Role},
    model::{
        CompletionEvent, CompletionRequest, ModelId, ProviderError, ProviderErrorKind, StopReason,
        Usage,
    },
    time::{Clock, IdSource},
    tool::{CallStatus, StateDelta, ToolCall, ToolDefinition, ToolResult},
};
