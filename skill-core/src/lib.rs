//! Skills as files, and the words that every crate of an agent speaks.

mod catalog;
mod digest;
mod discovery;
mod message;
mod model;
mod skill;
mod source;
pub mod state;
mod time;
mod tool;
mod view;

#[cfg(feature = "model")]
pub use model::{CompletionStream, Provider};
pub use {
    catalog::{CandidateReport, SkillCatalog, Snapshot, Verdict},
    discovery::{Places, Root, ScanLimits, project_root, standard_roots},
    message::{ContentBlock, Message, Role},
    model::{
        CompletionEvent, CompletionRequest, ModelId, ProviderError, ProviderErrorKind, StopReason,
        Usage,
    },
    skill::{
        Diagnostic, Invocation, LoadMode, Origin, ParsedSkill, Scope, Severity, Skill, SkillFormat,
        SkillId, parse_skill,
    },
    source::{
        BuiltinSource, Candidate, DirectorySource, MemorySource, OpenedSkill, Resource,
        SkillSource, SourceScan,
    },
    time::{Clock, IdSource},
    tool::{CallStatus, StateDelta, ToolCall, ToolDefinition, ToolResult},
    view::{OpenError, OpenErrorKind, Principal, SkillPreference, SkillView, ViewedSkill},
};
