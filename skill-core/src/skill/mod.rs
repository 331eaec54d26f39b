//! Skills as records: identity, fields, findings, and the parser that makes them from bytes.

mod diagnostic;
mod id;
mod record;

pub(crate) use id::fold;
pub use {
    diagnostic::{Diagnostic, Severity},
    id::SkillId,
    record::{Invocation, LoadMode, Scope, Skill, SkillFormat},
};
