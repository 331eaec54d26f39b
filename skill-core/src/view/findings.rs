//! What an operator wants to know of a view: what is listed short or not at all, what is missing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::{Entry, Snapshot};
use crate::discovery::{ScanLimits, read_capped};
use crate::safety::references;
use crate::skill::{Diagnostic, Skill, SkillFormat};
use crate::source::OpenedSkill;
use crate::view::{SkillView, ViewedSkill};

impl SkillView {
    /// Returns a finding for each skill that the index shows by name only, `SK081`, or not at all,
    /// `SK082`, with the reason.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let every = self.skills().iter().chain(self.user_only());
        // Of one whose name another skill holds, SK070 tells already.
        let every = every.filter(|viewed| !viewed.exact_only);
        every.filter_map(ViewedSkill::finding).collect()
    }

    /// Returns a finding for each file that the body of `skill` refers to and that is not there,
    /// `SK115`. A body that does not open refers to nothing.
    pub fn missing_references(&self, skill: &ViewedSkill) -> Vec<Diagnostic> {
        self.entry(skill)
            .map_or_else(|_| Vec::new(), |entry| missing(entry, &self.snapshot))
    }
}

/// What an index leaves out of a skill that it has no room to show whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexCut {
    /// The end of its description.
    Shortened,
    /// Its description.
    NameOnly,
    /// All of it.
    Omitted,
}

impl ViewedSkill {
    /// Returns the finding that the index has no room for all of this skill: `SK080`, `SK081` or
    /// `SK082`.
    pub fn cut(&self, cut: IndexCut) -> Diagnostic {
        let (code, reason) = match cut {
            IndexCut::Shortened => ("SK080", "has its description shortened in the index"),
            IndexCut::NameOnly => (
                "SK081",
                "is listed by name only, as the index has no room for more",
            ),
            IndexCut::Omitted => (
                "SK082",
                "is not in the index, which has no room; a search finds it",
            ),
        };
        let message = format!("skill `{}` {reason}", self.skill.id);
        let fix = "say in fewer words what it is for, or leave skills out with `skills.exclude`";
        Diagnostic {
            fix: Some(fix.to_owned()),
            ..Diagnostic::about(code, &self.skill.path, message)
        }
    }

    /// Returns why the index shows this skill by name only or not at all, where that is so.
    pub fn finding(&self) -> Option<Diagnostic> {
        let skill = &self.skill;
        let (code, reason) = if !self.for_model && skill.invocation.model {
            ("SK082", "is for other files than those worked on")
        } else if !self.for_model {
            ("SK082", "is started by people only")
        } else if skill.description.is_empty() {
            ("SK082", "has no description")
        } else if self.exact_only {
            ("SK082", "has a name that another skill holds")
        } else if self.name_only {
            ("SK081", "is listed by name only, as a setting wants")
        } else {
            return None;
        };
        let message = format!("skill `{}` {reason}", skill.id);
        Some(Diagnostic::about(code, &skill.path, message))
    }
}

impl Snapshot {
    /// Returns what [`SkillView::missing_references`] does, for a skill of this snapshot whoever
    /// may see it.
    pub fn missing_references(&self, skill: &Arc<Skill>) -> Vec<Diagnostic> {
        let own = |entry: &&Arc<Entry>| Arc::ptr_eq(&entry.skill, skill);
        let found = self.entries().iter().find(own);
        found.map_or_else(Vec::new, |entry| missing(entry, self))
    }
}

fn missing(entry: &Entry, snapshot: &Snapshot) -> Vec<Diagnostic> {
    let (skill, limits) = (&entry.skill, snapshot.limits());
    // Nothing lies beside a skill of one file that could be meant.
    let has_files = skill.format.has_folder() || skill.format == SkillFormat::Memory;
    let opened = has_files.then(|| entry.source.open(skill, limits).ok());
    let Some(opened) = opened.flatten() else {
        return Vec::new();
    };
    let wanted = references(&opened.body);
    if wanted.is_empty() {
        return Vec::new();
    }
    let files: BTreeSet<String> = entry.source.files(skill, limits).0.into_iter().collect();
    let missing = wanted.into_iter().filter(|(path, _)| {
        let below = format!("{}/", path.trim_end_matches('/'));
        let folder = files.range(below.clone()..).next();
        !files.contains(path) && !folder.is_some_and(|file| file.starts_with(&below))
    });
    let mut missing = missing.peekable();
    let above = missing.peek().and_then(|_| above(skill, &opened, limits));
    let finding = |message| Diagnostic::about("SK115", &skill.path, message);
    missing
        .map(|(path, line)| match above {
            Some(above) => Diagnostic {
                line: Some(above.saturating_add(line)),
                ..finding(format!("the body refers to `{path}`, which is not there"))
            },
            None => {
                let what = format!("refers to `{path}`, which is not there");
                finding(format!("line {line} of the body {what}"))
            }
        })
        .collect()
}

/// Returns how many lines of the file stand above the body, which ends it; `None` where the skill
/// is in no file, or in one too large to be read whole.
fn above(skill: &Skill, opened: &OpenedSkill, limits: &ScanLimits) -> Option<u32> {
    let read = (!opened.truncated).then(|| read_capped(&skill.path, limits.file_bytes));
    let bytes = read?.ok()?.bytes;
    let text = String::from_utf8_lossy(&bytes);
    let all = text.trim_end().lines().count();
    let above = all.checked_sub(opened.body.lines().count())?;
    u32::try_from(above).ok()
}
