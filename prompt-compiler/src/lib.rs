#![doc = include_str!("../README.md")]

mod assemble;
mod budget;
mod cache;
mod compile;
mod conversation;
mod draft;
mod excerpts;
mod family;
mod fragments;
mod groups;
mod input;
mod listing;
mod meter;
mod output;
mod pipeline;
mod preset;
mod render;
mod stages;
mod tokens;
mod window;

pub use skill_core::{RequestFault, validate};
#[cfg(feature = "tiktoken")]
pub use tokens::VocabularyCounter;
pub use {
    cache::CompileCache,
    compile::compile,
    draft::{Draft, Section, Slot},
    family::{Calibration, Family, Overhead},
    input::{
        Budget, CompileInput, ContextFragment, FragmentKind, ListingTier, Opening, Prices,
        SkillEntry, SkillInput, SkillText,
    },
    listing::ListedSkill,
    output::{
        BlockMark, Breakpoint, CompileError, CompiledPrompt, ContextLimit, Cost, Parting, Report,
        SectionReport,
    },
    pipeline::{Pipeline, PipelineError, Stage},
    preset::{
        BlockTexts, Carrier, DocTexts, IndexMode, IndexTexts, Placement, Preset, PresetError,
        PresetErrorKind, Residency, SkillTexts, SystemTexts, ToolNames, ToolOnlyTexts,
        ToolSpelling,
    },
    stages::skills::listed_skills,
    tokens::{ByteBound, Encoding, TokenCounter, encoding_for},
};
