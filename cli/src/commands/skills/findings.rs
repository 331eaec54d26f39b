//! What is found when an assistant looks at the skills, beyond what is found in each file.

use std::path::Path;
use std::sync::Arc;

use prompt_compiler::{ListedSkill, SkillEntry, listed_skills};
use skill_core::{Diagnostic, Principal, Skill, SkillView, ViewedSkill};

use crate::app::Context;
use crate::config::Config;
use crate::setup::{self, Assistant};

/// The skills as the requests of an assistant show them.
#[derive(Debug)]
pub(super) struct Index {
    /// In the order of the index; `None` where requests have none.
    listed: Option<Vec<ListedSkill>>,
}

impl Index {
    /// Returns how `assistant` would be shown `view`; no model is asked for it.
    pub(super) fn new(
        context: &Context,
        config: &Config,
        assistant: &Assistant,
        view: &SkillView,
    ) -> Self {
        let entries: Vec<SkillEntry> = view.skills().iter().map(SkillEntry::from).collect();
        let budget = setup::budget(context, config, assistant);
        let tools = assistant.profile.enable_tools;
        Self {
            listed: listed_skills(&assistant.preset, &entries, &budget, tools),
        }
    }

    /// Tells whether requests have an index at all.
    pub(super) fn is_there(&self) -> bool {
        self.listed.is_some()
    }

    /// Returns how many skills it is about.
    pub(super) fn len(&self) -> usize {
        self.listed.as_ref().map_or(0, Vec::len)
    }

    /// Returns how it shows a skill, and as which one, counted from 1.
    pub(super) fn get(&self, viewed: &ViewedSkill) -> Option<(usize, &ListedSkill)> {
        let mut listed = (1..).zip(self.listed.iter().flatten());
        listed.find(|(_, one)| one.id == viewed.skill.id.as_str())
    }

    /// Returns a finding for each skill that it has no room to show whole.
    fn cuts(&self, view: &SkillView) -> Vec<Diagnostic> {
        let of = |listed: &ListedSkill| {
            let viewed = view.find(Some(&listed.id), None)?;
            Some(viewed.cut(listed.cut?))
        };
        let listed = self.listed.iter().flatten();
        // Most catalogues fit, and looking up costs what the catalogue costs.
        listed
            .filter(|one| one.cut.is_some())
            .filter_map(of)
            .collect()
    }
}

/// Returns why skills are shortened (SK080), listed by name only (SK081), not at all (SK082), or
/// left out because the machine lacks something (SK100).
pub(super) fn of_view(view: &SkillView, principal: &Principal, index: &Index) -> Vec<Diagnostic> {
    let mut findings = index.cuts(view);
    findings.extend(view.findings());
    let snapshot = view.snapshot();
    findings.extend(snapshot.skills().flat_map(|skill| unmet(principal, skill)));
    findings
}

/// Returns what `skill` requires and the machine lacks.
pub(super) fn unmet(principal: &Principal, skill: &Skill) -> Vec<Diagnostic> {
    let machine = principal.machine.as_deref();
    machine.map_or_else(Vec::new, |machine| machine.unmet(skill))
}

/// Returns the references to files that are not there (SK115) of the skill with the entry file
/// `path`, whoever may see it.
pub(super) fn missing(view: &SkillView, path: &Path) -> Vec<Diagnostic> {
    let snapshot = view.snapshot();
    let own = |skill: &&Arc<Skill>| skill.path == path;
    let found = snapshot.skills().find(own);
    found.map_or_else(Vec::new, |skill| snapshot.missing_references(skill))
}

/// Returns the same of every skill.
pub(super) fn all_missing(view: &SkillView) -> Vec<Diagnostic> {
    let snapshot = view.snapshot();
    let skills = snapshot.skills();
    skills
        .flat_map(|skill| snapshot.missing_references(skill))
        .collect()
}
