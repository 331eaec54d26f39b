//! Who looks: the assistant, its groups, roles and contexts, and what was switched off.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::glob::{Globs, Over};
use crate::skill::{LoadMode, Skill, fold};
use crate::view::Machine;

/// What an assistant prefers for one skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkillPreference {
    /// Switches it on or off for this assistant; it can only tighten.
    pub enabled: Option<bool>,
    /// Loads it otherwise than the file says.
    pub load: Option<LoadMode>,
}

/// On whose behalf skills are looked at.
///
/// The default belongs to no group and has no role: it sees what is open to everyone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principal {
    /// The assistant's name.
    pub assistant: String,
    /// Its groups.
    pub groups: BTreeSet<String>,
    /// Its roles.
    pub roles: BTreeSet<String>,
    /// The tags of the context it works in.
    pub contexts: BTreeSet<String>,
    /// Ids or names switched off for everyone; compared trimmed and without regard to case.
    pub disabled: Vec<String>,
    /// The assistant's own settings, by id or name.
    pub preferences: BTreeMap<String, SkillPreference>,
    /// Globs over ids and names; where there are any, other skills are hidden.
    pub include: Vec<String>,
    /// Globs over ids and names of skills that are hidden.
    pub exclude: Vec<String>,
    /// Globs over ids and names of skills that are listed without their description.
    pub name_only: Vec<String>,
    /// The files worked on, relative to the project; skills for certain files are there for the
    /// model while one of these is of them.
    pub files: Vec<String>,
    /// What requirements are held against; `None` takes them for met.
    pub machine: Option<Arc<Machine>>,
    /// It may register skills and take them out of the registry.
    pub can_register: bool,
}

impl Principal {
    /// Returns this principal's visibility rule, its lists made ready for comparison.
    pub(crate) fn rule(&self) -> Rule {
        Rule {
            groups: folded(&self.groups),
            roles: folded(&self.roles),
            contexts: folded(&self.contexts),
            disabled: folded(&self.disabled),
            preferences: self
                .preferences
                .iter()
                .map(|(name, preference)| (fold(name), *preference))
                .collect(),
            include: globs(&self.include),
            exclude: globs(&self.exclude),
            name_only: globs(&self.name_only),
            files: self.files.clone(),
            machine: self.machine.clone(),
        }
    }
}

fn folded<'a>(names: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
    names
        .into_iter()
        .map(|name| fold(name))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns globs over folded names; `None` for a list that is too large to be one.
fn globs(texts: &[String]) -> Option<Globs> {
    let folded: Vec<String> = texts.iter().map(|text| fold(text)).collect();
    let texts = folded.iter().map(String::as_str);
    Globs::new(texts.filter(|text| !text.is_empty()), Over::Names)
}

/// The one visibility predicate.
pub(crate) struct Rule {
    groups: BTreeSet<String>,
    roles: BTreeSet<String>,
    contexts: BTreeSet<String>,
    disabled: BTreeSet<String>,
    preferences: BTreeMap<String, SkillPreference>,
    include: Option<Globs>,
    exclude: Option<Globs>,
    name_only: Option<Globs>,
    files: Vec<String>,
    machine: Option<Arc<Machine>>,
}

impl Rule {
    /// Tells whether `skill` is there at all for this principal.
    pub(crate) fn allows(&self, skill: &Skill) -> bool {
        let enabled = self.preference(skill).enabled;
        !self.disabled_for_all(skill)
            && enabled.unwrap_or(!skill.opt_in)
            && meets(&skill.groups, &self.groups)
            && meets(&skill.roles, &self.roles)
            && meets(&skill.contexts, &self.contexts)
            && named(self.include.as_ref(), skill, true)
            && !named(self.exclude.as_ref(), skill, false)
            && self
                .machine
                .as_ref()
                .is_none_or(|machine| machine.meets(skill))
    }

    /// Tells whether the model may use a skill that is there: its own flags say so, and it is for
    /// any work or for that on one of the files.
    pub(crate) fn allows_model(&self, skill: &Skill) -> bool {
        skill.invocation.model && (skill.paths.is_empty() || self.is_for_files(skill))
    }

    fn is_for_files(&self, skill: &Skill) -> bool {
        let paths = skill.paths.iter().map(String::as_str);
        let globs = Globs::new(paths, Over::Paths);
        globs.is_some_and(|globs| self.files.iter().any(|file| globs.matches(file)))
    }

    /// Tells whether `skill` is listed without its description.
    pub(crate) fn is_name_only(&self, skill: &Skill) -> bool {
        named(self.name_only.as_ref(), skill, false)
    }

    /// Returns how `skill` is loaded for this principal.
    pub(crate) fn load(&self, skill: &Skill) -> LoadMode {
        self.preference(skill).load.unwrap_or(skill.load)
    }

    /// Returns how a skill is loaded that can only be asked for by its exact id: a setting for the
    /// name is meant for the one that holds it, and nothing but a setting for the qualified id puts
    /// this one before a model that did not ask.
    pub(crate) fn load_exact(&self, skill: &Skill) -> LoadMode {
        let own = self
            .preferences
            .get(&fold(skill.qualified_id().as_str()))
            .and_then(|preference| preference.load);
        own.unwrap_or(LoadMode::Lazy)
    }

    fn disabled_for_all(&self, skill: &Skill) -> bool {
        !self.disabled.is_empty() && names(skill).any(|name| self.disabled.contains(&name))
    }

    fn preference(&self, skill: &Skill) -> SkillPreference {
        if self.preferences.is_empty() {
            return SkillPreference::default();
        }
        names(skill)
            .find_map(|name| self.preferences.get(&name).copied())
            .unwrap_or_default()
    }
}

/// Tells whether one of `globs` names `skill`; what an empty list says is given, and one that
/// could not be read is taken the narrower way, which is the opposite.
fn named(globs: Option<&Globs>, skill: &Skill, if_empty: bool) -> bool {
    match globs {
        None => !if_empty,
        Some(globs) if globs.is_empty() => if_empty,
        Some(globs) => names(skill).any(|name| globs.matches(&name)),
    }
}

/// Returns the names a setting may call `skill` by, folded: its id, its name, its aliases, its
/// qualified id.
fn names(skill: &Skill) -> impl Iterator<Item = String> {
    [fold(skill.id.as_str()), fold(&skill.name)]
        .into_iter()
        .chain(skill.aliases.iter().map(|alias| fold(alias)))
        .chain(std::iter::once_with(|| fold(skill.qualified_id().as_str())))
}

/// Tells whether a restriction to `allowed` is met by one of `held`; no restriction always is.
fn meets(allowed: &[String], held: &BTreeSet<String>) -> bool {
    allowed.is_empty() || allowed.iter().any(|name| held.contains(&fold(name)))
}
