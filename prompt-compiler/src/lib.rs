#![doc = include_str!("../README.md")]

mod compile;
mod draft;
mod groups;
mod input;
mod listing;
mod meter;
mod output;
mod preset;
mod render;
mod stages;
mod tokens;
mod validate;
mod window;

#[cfg(feature = "tiktoken")]
pub use tokens::VocabularyCounter;
pub use {
    compile::compile,
    input::{
        Budget, CompileInput, ContextFragment, FragmentKind, ListingTier, Opening, SkillEntry,
        SkillInput, SkillText,
    },
    output::{BlockMark, CompiledPrompt, ContextLimit, Report, SectionReport},
    preset::{
        BlockTexts, IndexMode, IndexTexts, Placement, Preset, PresetError, PresetErrorKind,
        Residency, SkillTexts, SystemTexts, ToolOnlyTexts,
    },
    tokens::{ByteBound, Encoding, TokenCounter, encoding_for},
    validate::{RequestFault, validate},
};
