//! The registry as a source of skills.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::discovery::ScanLimits;
use crate::registry::Registry;
use crate::registry::record::{Registered, default_of};
use crate::skill::{Diagnostic, Skill, SkillId};
use crate::source::{Candidate, Footprint, OpenedSkill, Resource, SkillSource, SourceScan};

impl SkillSource for Registry {
    fn scan(&self, _limits: &ScanLimits) -> SourceScan {
        let held = self.up_to_date();
        let mut by_id: BTreeMap<&SkillId, Vec<&Arc<Registered>>> = BTreeMap::new();
        for one in held.skills.iter().filter(|one| one.enabled) {
            by_id.entry(&one.id).or_default().push(one);
        }
        let candidates = by_id.values().flat_map(|versions| {
            let default = default_of(versions);
            versions.iter().map(move |one| {
                let is_default = default.is_some_and(|default| Arc::ptr_eq(default, one));
                Arc::new(candidate(one, is_default))
            })
        });
        SourceScan {
            candidates: candidates.collect(),
            diagnostics: held.diagnostics.clone(),
            footprint: Footprint {
                folders: vec![(self.folder.clone(), held.stamp)],
                ..Footprint::default()
            },
        }
    }

    fn rescan(&self, limits: &ScanLimits, before: &SourceScan) -> Option<SourceScan> {
        before.footprint.moved(1).then(|| self.scan(limits))
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        self.reader.open(skill, limits)
    }

    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        self.reader.files(skill, limits)
    }

    fn read_file(
        &self,
        skill: &Skill,
        relative: &str,
        limits: &ScanLimits,
    ) -> io::Result<Resource> {
        self.reader.read_file(skill, relative, limits)
    }
}

/// Returns a version as a skill: the default under its id, another one under `id@version`.
fn candidate(registered: &Registered, is_default: bool) -> Candidate {
    let mut skill = Skill::clone(&registered.skill);
    let reference = registered.reference();
    if is_default {
        if registered.version.is_some() {
            skill.aliases.push(reference);
        }
    } else {
        skill.id = SkillId::new(&reference);
        skill.name = reference;
        skill.aliases.clear();
        skill.listed = false;
    }
    Candidate {
        path: skill.path.clone(),
        real_path: None,
        skill: Some(Arc::new(skill)),
        yields: false,
        diagnostics: Vec::new(),
    }
}
