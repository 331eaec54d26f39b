#![doc = include_str!("../README.md")]

mod access;
mod approval;
mod arguments;
mod builder;
mod builtin;
mod call;
mod context;
mod digest;
mod dispatch;
mod ending;
#[cfg(all(unix, feature = "skills"))]
mod entry;
mod escape;
mod gateway;
#[cfg(all(unix, feature = "http"))]
mod http;
mod nearest;
mod output;
mod policy;
#[cfg(all(unix, feature = "commands"))]
mod process;
mod registry;
mod running;
mod spill;
mod tool;
mod trace;
#[cfg(feature = "files")]
mod workspace;

#[cfg(all(unix, feature = "skills"))]
pub use entry::{
    HttpAnswer, HttpClient, HttpRequest, NativeSkill, SecretSource, SkillFailure, SkillHost,
    SkillJob, SkillModel, SkillResult, SkillTrust, run_skill,
};
#[cfg(all(unix, feature = "http"))]
pub use http::{WebClient, WebClientError};
pub use {
    access::{Access, PathTarget},
    approval::{AnswerError, Approval, ApprovalDesk, ApprovalRequest, Approver, HeadlessApprover},
    builder::{GatewayBuilder, Limits},
    builtin::{
        LIST_SKILLS, OpenSpelling, RUN_SKILL, list_skill_docs, list_skills, open_skill,
        open_skill_as, read_output, select_skill_docs, skill_tools,
    },
    call::{CallEvent, CallLog, CallRecord, LogError, NoLog},
    context::ToolContext,
    digest::arguments_digest,
    escape::{escape_block, escape_line, is_invisible},
    gateway::Gateway,
    output::MAX_OUTPUT_BYTES,
    policy::{
        DecidedBy, Decision, Effect, Judgement, Mode, Policy, Rule, RuleError, Source, SourcedRule,
    },
    registry::RegistryError,
    spill::Spill,
    tool::{
        DynTool, ErrorKind, Preview, SkillOpened, Tool, ToolError, ToolOutput, erase, function,
    },
    trace::{CallTrace, TraceSink},
};
#[cfg(all(unix, feature = "commands"))]
pub use {
    builtin::run_command,
    process::{Launch, Sandbox, SandboxNeed},
};
#[cfg(feature = "files")]
pub use {
    builtin::{Trash, builtins, create_skill, delete, file_tools},
    spill::FolderSpill,
    workspace::{FileStamp, Workspace, WorkspaceError, WorkspaceErrorKind},
};
