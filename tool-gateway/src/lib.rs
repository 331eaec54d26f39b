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
mod escape;
mod gateway;
mod nearest;
mod output;
mod policy;
mod registry;
mod running;
mod tool;
#[cfg(feature = "files")]
mod workspace;

pub use {
    access::{Access, PathTarget},
    approval::{AnswerError, Approval, ApprovalDesk, ApprovalRequest, Approver, HeadlessApprover},
    builder::{GatewayBuilder, Limits},
    builtin::{LIST_SKILLS, skill_tools},
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
    tool::{
        DynTool, ErrorKind, Preview, SkillOpened, Tool, ToolError, ToolOutput, erase, function,
    },
};
#[cfg(feature = "files")]
pub use {
    builtin::{Trash, builtins, create_skill, delete},
    workspace::{Workspace, WorkspaceError, WorkspaceErrorKind},
};
