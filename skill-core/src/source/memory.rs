//! Skills held in memory: those of an embedding program, and of tests.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::digest::content_digest;
use crate::discovery::ScanLimits;
use crate::skill::{Diagnostic, Skill};
use crate::source::{Candidate, OpenedSkill, Resource, SkillSource, SourceScan};

/// Skills that a program holds itself.
///
/// ```
/// use std::sync::Arc;
/// use skill_core::{MemorySource, Principal, ScanLimits, Skill, SkillCatalog};
///
/// let source = MemorySource::new().with(Skill::new("greet", "How to greet."), "Say hello.\n");
/// let catalog = SkillCatalog::new(vec![Arc::new(source)], ScanLimits::default());
/// let view = catalog.view(&Principal::default());
/// let greet = view.find(Some("greet"), None).expect("it is visible");
/// assert_eq!(view.open(greet).expect("it opens").body, "Say hello.\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemorySource {
    held: Vec<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    skill: Skill,
    body: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl MemorySource {
    /// Returns a source without skills.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a skill, its digest and length computed from its fields and `body`.
    pub fn add(&mut self, mut skill: Skill, body: impl Into<String>) {
        let body = body.into();
        skill.body_bytes = body.len() as u64;
        skill.content_digest = content_digest(&skill, &body);
        self.held.push(Held {
            skill,
            body,
            files: BTreeMap::new(),
        });
    }

    /// Adds a skill and returns the source.
    #[must_use]
    pub fn with(mut self, skill: Skill, body: impl Into<String>) -> Self {
        self.add(skill, body);
        self
    }

    /// Puts a file below the folder of the skill added last and returns the source.
    #[must_use]
    pub fn with_file(mut self, relative: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        if let Some(held) = self.held.last_mut() {
            held.files.insert(relative.into(), bytes.into());
        }
        self
    }

    fn held(&self, skill: &Skill) -> io::Result<&Held> {
        self.held
            .iter()
            .find(|held| is_same(&held.skill, skill))
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// Tells two records apart that may name one path, which nothing forbids here.
fn is_same(one: &Skill, other: &Skill) -> bool {
    one.content_digest == other.content_digest && one.path == other.path && one.scope == other.scope
}

impl SkillSource for MemorySource {
    fn scan(&self, _limits: &ScanLimits) -> SourceScan {
        let candidates = self
            .held
            .iter()
            .map(|held| {
                Arc::new(Candidate {
                    path: held.skill.path.clone(),
                    real_path: None,
                    skill: Some(Arc::new(held.skill.clone())),
                    yields: false,
                    diagnostics: Vec::new(),
                })
            })
            .collect();
        SourceScan {
            candidates,
            ..SourceScan::default()
        }
    }

    fn rescan(&self, _limits: &ScanLimits, _before: &SourceScan) -> Option<SourceScan> {
        None
    }

    fn open(&self, skill: &Skill, _limits: &ScanLimits) -> io::Result<OpenedSkill> {
        let held = self.held(skill)?;
        Ok(OpenedSkill {
            body: held.body.clone(),
            truncated: false,
            content_digest: held.skill.content_digest.clone(),
        })
    }

    fn files(&self, skill: &Skill, _limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        let files = self
            .held(skill)
            .map(|held| held.files.keys().cloned().collect())
            .unwrap_or_default();
        (files, Vec::new())
    }

    fn read_file(
        &self,
        skill: &Skill,
        relative: &str,
        _limits: &ScanLimits,
    ) -> io::Result<Resource> {
        let bytes = self
            .held(skill)?
            .files
            .get(relative)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Resource {
            bytes: bytes.clone(),
            truncated: false,
        })
    }
}
