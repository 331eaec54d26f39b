//! The assistant: who acts, as the configuration describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loop_runtime::{Profile, SubAssistant};
use prompt_compiler::{Placement, Preset, Residency};
use skill_core::{LoadMode, Machine, Principal, SkillPreference};

use crate::app::Context;
use crate::config::{self, AssistantConfig, Config, LoadChoice, ProfileName, SkillPattern};
use crate::error::CliError;

/// The name of the assistant that needs no configuration.
const DEFAULT: &str = "default";

/// An assistant with everything decided.
#[derive(Clone, Debug)]
pub(crate) struct Assistant {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) preset: Preset,
    pub(crate) instructions: String,
    pub(crate) config: AssistantConfig,
    /// What requirements of skills are held against.
    machine: Arc<Machine>,
}

impl Assistant {
    /// Finds the assistant that was asked for.
    pub(crate) fn new(context: &Context, config: &Config) -> Result<Self, CliError> {
        let name = context.options.assistant.as_deref().unwrap_or(DEFAULT);
        let own = match config.assistants.get(name) {
            Some(own) => own.clone(),
            None if name == DEFAULT => AssistantConfig::default(),
            None => return Err(unknown(name, config)),
        };
        let preset = context
            .options
            .preset
            .as_deref()
            .or(own.preset.as_deref())
            .unwrap_or(DEFAULT);
        let mut preset = Preset::built_in(preset)
            .map_err(|error| CliError::usage(error.to_string()).with_code("unknown_preset"))?;
        adapt(&mut preset, &own);
        Ok(Self {
            name: name.to_owned(),
            profile: match own.profile {
                Some(ProfileName::QuickAsk) => Profile::QUICK_ASK,
                _ => Profile::AGENT,
            },
            preset,
            instructions: own.system.clone().unwrap_or_default(),
            config: own,
            machine: Arc::new(context.environment.machine()),
        })
    }

    /// Returns who it is when skills are looked at.
    pub(crate) fn principal(&self, config: &Config) -> Principal {
        let own = principal(&self.name, &self.config, config);
        let mut preferences = self.preset_preferences();
        preferences.extend(own.preferences.clone());
        Principal {
            preferences,
            machine: Some(Arc::clone(&self.machine)),
            ..own
        }
    }

    /// Returns what the preset wishes for skills; the configuration stands above it.
    fn preset_preferences(&self) -> BTreeMap<String, SkillPreference> {
        let always = SkillPreference {
            enabled: Some(true),
            load: Some(LoadMode::Always),
        };
        let ids = self.preset.always_on.iter();
        ids.map(|id| (id.clone(), always)).collect()
    }

    /// Returns the tools it may use: what the configuration allows, and its own list allows.
    pub(crate) fn tools(&self, config: &Config) -> Option<Vec<String>> {
        tools(&self.config, config)
    }
}

/// Returns the assistants that a sub-agent of `parent` can be.
pub(super) fn others(config: &Config, parent: &Assistant) -> BTreeMap<String, SubAssistant> {
    let others = config.assistants.iter();
    let others = others.filter(|(other, _)| **other != parent.name);
    others
        .map(|(other, own)| {
            let other = other.clone();
            let assistant = SubAssistant {
                principal: Principal {
                    machine: Some(Arc::clone(&parent.machine)),
                    ..principal(&other, own, config)
                },
                instructions: own.system.clone().unwrap_or_default(),
                tools: tools(own, config).map(BTreeSet::from_iter),
            };
            (other, assistant)
        })
        .collect()
}

fn principal(name: &str, own: &AssistantConfig, config: &Config) -> Principal {
    let preferences = own.skills.iter().map(|(skill, preference)| {
        let load = preference.load.map(|load| match load {
            LoadChoice::Always => LoadMode::Always,
            LoadChoice::Lazy => LoadMode::Lazy,
        });
        (
            skill.clone(),
            SkillPreference {
                enabled: preference.enabled,
                load,
            },
        )
    });
    Principal {
        assistant: name.to_owned(),
        groups: own.groups.iter().cloned().collect(),
        roles: own.roles.iter().cloned().collect(),
        contexts: BTreeSet::new(),
        disabled: texts(&config.skills.disabled),
        preferences: preferences.collect(),
        include: texts(&config.skills.include),
        exclude: texts(&config.skills.exclude),
        name_only: texts(&config.skills.name_only),
        ..Principal::default()
    }
}

fn texts(patterns: &[SkillPattern]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn tools(own: &AssistantConfig, config: &Config) -> Option<Vec<String>> {
    match (&config.tools.allow, &own.tools) {
        (None, None) => None,
        (Some(allowed), None) | (None, Some(allowed)) => Some(allowed.clone()),
        (Some(allowed), Some(own)) => Some(
            own.iter()
                .filter(|tool| allowed.contains(tool))
                .cloned()
                .collect(),
        ),
    }
}

fn adapt(preset: &mut Preset, own: &AssistantConfig) {
    if let Some(residency) = own.residency {
        preset.residency = match residency {
            config::Residency::Once => Residency::Once,
            config::Residency::Turn => Residency::Turn,
            config::Residency::Session => Residency::Session,
        };
    }
    if let Some(placement) = own.placement {
        preset.placement = match placement {
            config::Placement::System => Placement::System,
            config::Placement::ToolResult => Placement::ToolResult,
        };
    }
    if let Some(most) = own.max_loaded {
        preset.max_loaded = usize::try_from(most.get()).ok();
    }
}

fn unknown(name: &str, config: &Config) -> CliError {
    let mut known: Vec<&str> = config.assistants.keys().map(String::as_str).collect();
    if !known.contains(&DEFAULT) {
        known.push(DEFAULT);
    }
    CliError::usage(format!("no assistant named `{name}`"))
        .with_code("unknown_assistant")
        .with_hint(format!("there are: {}", known.join(", ")))
}
