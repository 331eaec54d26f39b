//! What a prompt is compiled from: plain values, gathered by somebody else.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skill_core::{LoadMode, Message, ModelId, Scope, ToolDefinition, ViewedSkill};

use crate::preset::Preset;

/// Everything that decides one request.
#[derive(Clone, Debug)]
pub struct CompileInput<'a> {
    /// The model the request goes to.
    pub model: &'a ModelId,
    /// How skills are shown.
    pub preset: &'a Preset,
    /// System text of the assistant, put behind the preset's own; empty for none.
    pub instructions: &'a str,
    /// Context that stays the same for the session.
    pub session_context: &'a [ContextFragment],
    /// The skills this principal sees.
    pub skills: &'a SkillInput,
    /// The conversation so far, oldest first, up to and with the current turn.
    pub messages: &'a [Arc<Message>],
    /// Context of this turn, placed in front of the current user message.
    pub turn_context: &'a [ContextFragment],
    /// The tools on offer.
    pub tools: &'a Arc<[ToolDefinition]>,
    /// How much fits.
    pub budget: &'a Budget,
    /// Marks of the previous request of this session, to tell how much of it stays.
    pub previous: Option<&'a [crate::output::BlockMark]>,
}

/// What a piece of context is; decides where it stands and in which order it gives way.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum FragmentKind {
    /// What somebody named: a file, a folder, some lines. It never vanishes.
    #[default]
    Mention,
    /// Instructions of a project; the same for the whole session.
    Instructions,
    /// The file that is open where the user works.
    CurrentFile,
    /// A passage that was found for the task, best first. It gives way before everything else.
    Recalled,
}

/// A piece of context with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFragment {
    /// Where it is from, as the model reads it: `file notes/week.md`.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: FragmentKind,
    /// The text.
    pub text: String,
    /// The parts of the text that matter for this task, where somebody chose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<String>,
    /// What the text says in short, where somebody wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The most tokens it may take; `None` leaves that to the cap of its section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u64>,
    /// Among fragments of a kind, those of higher priority come first; equal ones keep their order.
    #[serde(default)]
    pub priority: i32,
    /// Who put it there and from where, for the ledger; never part of the prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provenance: String,
}

impl ContextFragment {
    /// Returns a fragment with a name, a kind and a text, and nothing else.
    pub fn new(kind: FragmentKind, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            text: text.into(),
            ..Self::default()
        }
    }
}

/// Skills, as far as they show in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillInput {
    /// One entry a visible skill.
    pub visible: Vec<SkillEntry>,
    /// Text of always-on skills.
    pub always: Vec<SkillText>,
    /// Text of open skills, the least recently used first.
    pub loaded: Vec<SkillText>,
    /// Which call opened which skill: call id → opening.
    pub openings: BTreeMap<String, Opening>,
}

/// A line of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillEntry {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// What it is for; empty for none.
    pub description: String,
    /// Whether its text is always there.
    pub load: LoadMode,
    /// Whether it has a line; one that has none is still counted as visible.
    pub listed: bool,
    /// Whose description stays when there is no room for every one.
    pub tier: ListingTier,
}

impl From<&ViewedSkill> for SkillEntry {
    fn from(viewed: &ViewedSkill) -> Self {
        Self {
            id: viewed.skill.id.to_string(),
            name: viewed.skill.name.clone(),
            description: viewed.summary(),
            load: viewed.load,
            listed: viewed.listed,
            tier: viewed.skill.scope.into(),
        }
    }
}

/// Whose descriptions an index keeps when there is no room for every one, first to last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingTier {
    /// Named by the user for this run; never shortened away before all others are.
    Pinned,
    /// The project's.
    #[default]
    Project,
    /// The user's.
    User,
    /// Of a further folder or of the machine.
    Shared,
    /// Compiled in.
    BuiltIn,
}

impl From<Scope> for ListingTier {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Flag => Self::Pinned,
            Scope::Project => Self::Project,
            Scope::User => Self::User,
            Scope::Config | Scope::Managed => Self::Shared,
            Scope::Builtin => Self::BuiltIn,
        }
    }
}

/// The text of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The version, where it has one.
    pub version: Option<String>,
    /// The digest of its content, lower-case hex.
    pub digest: String,
    /// The instructions, byte for byte.
    pub body: String,
    /// Selected documents: path and content, sorted by path.
    pub docs: Vec<(String, String)>,
}

/// A call that opened a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The skill's id.
    pub skill: String,
    /// The digest of the content that was opened.
    pub digest: String,
}

/// How much fits into a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The model's window, in tokens.
    pub window: u64,
    /// Tokens kept free for the answer.
    pub reserve_output: u64,
    /// Caps by section name, in tokens.
    pub caps: BTreeMap<String, u64>,
    /// Whether a bound may stand for a count while the request is below half the window.
    pub allow_bound: bool,
    /// What tokens cost, where that is known.
    pub prices: Option<Prices>,
}

/// What a million tokens cost, in millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// Tokens read.
    pub input: u64,
    /// Tokens read that the provider's cache has.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            window: 128_000,
            reserve_output: 4_096,
            caps: BTreeMap::new(),
            allow_bound: true,
            prices: None,
        }
    }
}

impl Budget {
    /// The sections that have a cap, by name: the keys of [`Budget::caps`] that say anything.
    pub const CAPPED: [&'static str; 5] =
        ["context", "current_file", "history", "mentions", "recalled"];

    /// Returns the tokens a request may take.
    pub fn request_limit(&self) -> u64 {
        self.window.saturating_sub(self.reserve_output)
    }

    /// Returns the cap of a section: the one that was set, else a share of what a request may take.
    pub(crate) fn cap(&self, section: &str, share: u64) -> u64 {
        self.cap_of(section, self.request_limit() / share, u64::MAX)
    }

    /// Returns the cap of a section: the one that was set, at most `most`, else `usual`.
    pub(crate) fn cap_of(&self, section: &str, usual: u64, most: u64) -> u64 {
        debug_assert!(
            Self::CAPPED.contains(&section),
            "`{section}` is capped, so it is listed"
        );
        self.caps.get(section).map_or(usual, |cap| (*cap).min(most))
    }
}
