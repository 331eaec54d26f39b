//! What an operator wants to know of a view: what is listed short or not at all, what is missing.

use std::collections::BTreeSet;

use crate::safety::references;
use crate::skill::Diagnostic;
use crate::view::{SkillView, ViewedSkill};

impl SkillView {
    /// Returns a finding for each skill that the index shows by name only, `SK081`, or not at all,
    /// `SK082`, with the reason.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let every = self.skills().iter().chain(self.user_only());
        every.filter_map(|viewed| self.finding(viewed)).collect()
    }

    fn finding(&self, viewed: &ViewedSkill) -> Option<Diagnostic> {
        let skill = &viewed.skill;
        let (code, reason) = if !viewed.for_model && skill.invocation.model {
            ("SK082", "is for other files than those worked on")
        } else if !viewed.for_model {
            ("SK082", "is started by people only")
        } else if skill.description.is_empty() {
            ("SK082", "has no description")
        } else if !viewed.listed {
            ("SK082", "has a name that another skill holds")
        } else if viewed.name_only {
            ("SK081", "is listed by name only, as a setting wants")
        } else {
            return None;
        };
        let message = format!("skill `{}` {reason}", skill.id);
        Some(Diagnostic::about(code, &skill.path, message))
    }

    /// Returns a finding for each file that the body of `skill` refers to and that is not there,
    /// `SK115`. A body that does not open refers to nothing.
    pub fn missing_references(&self, skill: &ViewedSkill) -> Vec<Diagnostic> {
        let Ok(opened) = self.open(skill) else {
            return Vec::new();
        };
        let wanted = references(&opened.body);
        if wanted.is_empty() {
            return Vec::new();
        }
        let files: BTreeSet<String> = self.files(skill).0.into_iter().collect();
        let missing = wanted.into_iter().filter(|(path, _)| {
            let below = format!("{}/", path.trim_end_matches('/'));
            let folder = files.range(below.clone()..).next();
            !files.contains(path) && !folder.is_some_and(|file| file.starts_with(&below))
        });
        missing
            .map(|(path, line)| {
                let message =
                    format!("line {line} of the body refers to `{path}`, which is not there");
                Diagnostic::about("SK115", &skill.skill.path, message)
            })
            .collect()
    }
}
