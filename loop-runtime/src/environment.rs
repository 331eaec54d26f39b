//! What a turn rests on, pinned when it begins: skills, tools, profile, model.

use std::collections::BTreeSet;
use std::sync::Arc;

use prompt_compiler::{IndexMode, Preset};
use sha2::{Digest, Sha256};
use skill_core::{Principal, ScanLimits, SkillCatalog, SkillView, ToolDefinition, ViewedSkill};

use crate::agent::Agent;
use crate::guards::Stop;
use crate::turn::{ErrorKind, TurnOutcome};

/// What a turn rests on; a turn never mixes two of them.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// The skills this principal sees.
    pub(crate) view: SkillView,
    /// The tools on offer.
    pub(crate) tools: Arc<[ToolDefinition]>,
    /// How skills are shown.
    pub(crate) preset: Preset,
    /// The digest of all that decides what the model may do.
    pub(crate) digest: String,
}

impl Environment {
    /// Pins the environment as it is now.
    pub(crate) fn pin(agent: &Agent) -> Self {
        let view = if agent.profile.shows_skills {
            agent.catalog.view(&agent.principal)
        } else {
            no_skills()
        };
        let mut preset = agent.preset.clone();
        if let Some(system) = agent.profile.system {
            system.clone_into(&mut preset.system.with_tools);
            system.clone_into(&mut preset.system.without_tools);
        }
        let tools = offered_tools(agent, &view);
        Self {
            digest: digest(agent, &view, &tools),
            view,
            tools,
            preset,
        }
    }

    /// Compares with what is there now, before a request is sent and before a skill is opened.
    ///
    /// A change that this principal cannot see stops nothing, and what came in addition, say a skill
    /// that the turn wrote itself, waits for the next turn.
    pub(crate) fn admit(&self, agent: &Agent) -> Result<(), Stop> {
        let now = agent.catalog.snapshot();
        let same = !agent.profile.shows_skills
            || Arc::ptr_eq(&now, self.view.snapshot())
            || holds_all_of(&agent.catalog.view(&agent.principal), &self.view);
        if same {
            return Ok(());
        }
        Err(Stop {
            outcome: TurnOutcome::Error(ErrorKind::Environment),
            message: "skill set changed while the turn ran; the next turn sees the new one"
                .to_owned(),
        })
    }
}

/// Tells whether every skill of `pinned` is still there, as it was.
fn holds_all_of(now: &SkillView, pinned: &SkillView) -> bool {
    let seen = |view: &SkillView| -> BTreeSet<_> {
        let skills = view.skills().iter();
        skills
            .map(|viewed| {
                let skill = &viewed.skill;
                let digest = skill.content_digest.clone();
                (skill.id.clone(), digest, viewed.load, viewed.listed)
            })
            .collect()
    };
    now.digest() == pinned.digest() || seen(pinned).is_subset(&seen(now))
}

/// Tells whether a tool is left to an agent that is narrowed.
fn is_left(agent: &Agent, tool: &str) -> bool {
    let only = agent.only_tools.as_ref();
    only.is_none_or(|only| only.contains(tool))
}

fn no_skills() -> SkillView {
    SkillCatalog::new(Vec::new(), ScanLimits::default()).view(&Principal::default())
}

/// Returns the definitions on offer: none without tools, no skill tools without skills, and the
/// paging tool only where something is not listed.
fn offered_tools(agent: &Agent, view: &SkillView) -> Arc<[ToolDefinition]> {
    if !agent.profile.enable_tools {
        return [].into();
    }
    let preset = &agent.preset;
    // An index of many skills may have no room for all of them.
    let paged = preset.index_mode(view.len()) == IndexMode::ToolOnly
        || view.len() >= preset.auto_limit
        || view.skills().iter().any(|viewed| !viewed.listed);
    let names = &preset.tools;
    let of_skills = [
        Some(&names.open),
        names.list_docs.as_ref(),
        names.select_docs.as_ref(),
    ];
    let offered = |name: &str| match name {
        tool_gateway::LIST_SKILLS => !view.is_empty() && paged,
        tool_gateway::RUN_SKILL => view.skills().iter().any(is_executable),
        name if of_skills.into_iter().flatten().any(|known| known == name) => !view.is_empty(),
        _ => true,
    };
    agent
        .gateway
        .definitions()
        .iter()
        .filter(|tool| offered(&tool.name) && is_left(agent, &tool.name))
        .cloned()
        .collect()
}

/// Returns the digest of all that decides what the model may do: skills, profile, tools, model.
fn digest(agent: &Agent, view: &SkillView, tools: &[ToolDefinition]) -> String {
    let mut hasher = Sha256::new();
    for part in [
        "tekne environment 1",
        view.digest(),
        agent.profile.name,
        agent.model.as_str(),
        &serde_json::to_string(tools).unwrap_or_default(),
    ] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Tells whether there is something of a skill to run.
fn is_executable(viewed: &ViewedSkill) -> bool {
    let declaration = viewed.skill.declaration.as_ref();
    declaration.is_some_and(|declaration| declaration.entry.is_some())
}
