//! Who looks: the assistant, its groups, roles and contexts, and what was switched off.

use std::collections::{BTreeMap, BTreeSet};

use crate::skill::{LoadMode, Skill, fold};

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

/// The one visibility predicate.
pub(crate) struct Rule {
    groups: BTreeSet<String>,
    roles: BTreeSet<String>,
    contexts: BTreeSet<String>,
    disabled: BTreeSet<String>,
    preferences: BTreeMap<String, SkillPreference>,
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
    }

    /// Returns how `skill` is loaded for this principal.
    pub(crate) fn load(&self, skill: &Skill) -> LoadMode {
        self.preference(skill).load.unwrap_or(skill.load)
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
