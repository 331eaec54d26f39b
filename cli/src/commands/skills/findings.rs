//! What is found when an assistant looks at the skills, beyond what is found in each file.

use std::path::Path;
use std::sync::Arc;

use skill_core::{Diagnostic, Principal, Skill, SkillView};

/// Returns why skills are listed by name only (SK081), not at all (SK082), or left out because the
/// machine lacks something (SK100), in the order of the index and then of precedence.
pub(super) fn of_view(view: &SkillView, principal: &Principal) -> Vec<Diagnostic> {
    let mut findings = view.findings();
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
