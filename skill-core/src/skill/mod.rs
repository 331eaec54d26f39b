//! Skills as records: identity, fields, findings, and the parser that makes them from bytes.

pub(crate) mod companion;
mod declaration;
mod decode;
mod diagnostic;
mod document;
mod fence;
mod fields;
pub(crate) mod findings;
mod id;
mod keys;
mod parse;
mod plain;
mod portable;
mod raw;
mod record;
mod repair;
pub(crate) mod requirements;
mod restricting;
mod yaml;

pub(crate) use {
    companion::Companion,
    fence::is_fence,
    id::fold,
    keys::begins_key,
    parse::{body_within, parse_record, parse_with},
    raw::RawFields,
    record::is_qualified,
};
pub use {
    declaration::{
        AutoFill, Circuit, Declaration, EntryPoint, Factory, Parameter, Policies, RateLimit, Retry,
    },
    diagnostic::{Diagnostic, Severity},
    id::SkillId,
    parse::{Origin, ParsedSkill, parse_skill},
    portable::portability,
    record::{Invocation, LoadMode, Scope, Skill, SkillFormat},
    requirements::Requirements,
};
