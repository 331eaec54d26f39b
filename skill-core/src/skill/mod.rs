//! Skills as records: identity, fields, findings, and the parser that makes them from bytes.

mod decode;
mod diagnostic;
mod document;
mod fence;
mod fields;
pub(crate) mod findings;
mod id;
mod keys;
mod parse;
mod record;
mod repair;
mod yaml;

pub use {
    diagnostic::{Diagnostic, Severity},
    id::SkillId,
    parse::{Origin, ParsedSkill, parse_skill},
    record::{Invocation, LoadMode, Scope, Skill, SkillFormat},
};
pub(crate) use {id::fold, parse::parse_record};
