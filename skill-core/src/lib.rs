//! Skills as files, and the words that every crate of an agent speaks.
//!
//! [`parse_skill`] turns the bytes of one file into a [`Skill`] and findings about it.
//! [`SkillCatalog`] scans folders, or any other [`SkillSource`], into an immutable [`Snapshot`].
//! [`SkillCatalog::view`] gives a [`Principal`] the [`SkillView`] it is entitled to, the only way to
//! list, find and open skills.
//!
//! ```
//! use skill_core::{Origin, Scope, parse_skill};
//!
//! let text = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# How\n";
//! let parsed = parse_skill(text.as_bytes(), &Origin::of("skills/pdf/SKILL.md", Scope::User));
//! assert_eq!(parsed.skill.id.as_str(), "pdf");
//! assert_eq!(parsed.body, "# How");
//! assert!(parsed.diagnostics.is_empty());
//! ```
//!
//! [`parse_context`] reads instructions that are no skills. `examples/list_skills.rs` lists a folder,
//! `examples/custom_source.rs` shows skills of another kind.
//!
//! The other words are [`Message`], [`ToolDefinition`] and what belongs to them, and the contract
//! with a model, [`CompletionRequest`] and `Provider`.

mod author;
mod catalog;
mod context;
mod digest;
mod discovery;
mod envelope;
mod glob;
mod invisible;
mod lock;
mod message;
mod model;
mod registry;
mod reload;
mod safety;
mod skill;
mod source;
pub mod state;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod tool;
mod trust;
mod validate;
mod view;

#[cfg(feature = "model")]
pub use model::{CompletionStream, Provider};
pub use {
    author::{DraftError, Mend, Mended, SkillDraft, mend, quoted_text},
    catalog::{CandidateReport, SkillCatalog, Snapshot, Verdict, directory_sources},
    context::{ContextFile, ContextKind, parse_context},
    discovery::{Places, Root, ScanLimits, project_root, standard_roots},
    envelope::envelope_mark,
    glob::glob_problem,
    invisible::is_invisible,
    lock::{LockError, LockedSkill, SkillsLock},
    message::{ContentBlock, Message, Role},
    model::{
        CompletionEvent, CompletionRequest, ModelId, ProviderError, ProviderErrorKind, StopReason,
        Usage,
    },
    registry::{
        AuditAction, AuditError, AuditOutcome, AuditRecord, AuditSink, Authority, Registered,
        Registry, RegistryError, RegistryErrorKind,
    },
    safety::references,
    skill::{
        AutoFill, Circuit, Declaration, Diagnostic, EntryPoint, Factory, Invocation, LoadMode,
        Origin, Parameter, ParsedSkill, Policies, RateLimit, Requirements, Retry, Scope, Severity,
        Skill, SkillFormat, SkillId, parse_skill, portability,
    },
    source::{
        BuiltinSource, Candidate, DirectorySource, Footprint, MemorySource, OpenedSkill, Resource,
        SkillSource, SourceScan,
    },
    time::{Clock, IdSource},
    tool::{CallStatus, StateDelta, ToolCall, ToolDefinition, ToolResult},
    trust::{
        Admission, Change, ChangeKind, PackageTree, ProjectGuard, ProjectTrust, SkillGuard,
        TreeError, TreeFile, TreeFileKind, TrustError, TrustItem, TrustKind, TrustStanding,
        TrustStore, Trusted, changes,
    },
    validate::{RequestFault, as_tool_name, is_arguments, is_tool_name, validate},
    view::{
        IndexCut, Machine, OpenError, OpenErrorKind, Principal, SkillPreference, SkillView,
        ViewedSkill,
    },
};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct ReadmeDoctests;
