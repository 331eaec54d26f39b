//! Skills compiled into this crate; the lowest precedence, so a user's skill of the same id wins.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::discovery::ScanLimits;
use crate::skill::{
    Diagnostic, LoadMode, Origin, ParsedSkill, Scope, Skill, SkillFormat, parse_skill,
};
use crate::source::{Candidate, OpenedSkill, Resource, SkillSource, SourceScan};

/// A built-in as it is compiled in.
struct Builtin {
    file: &'static str,
    text: &'static str,
    aliases: &'static [&'static str],
    load: LoadMode,
    /// It is off until a principal's preference switches it on.
    opt_in: bool,
}

/// Every built-in.
const BUILTINS: &[Builtin] = &[
    Builtin {
        file: "output-format.skill.md",
        text: include_str!("output-format.skill.md"),
        aliases: &["obsidian-output-format"],
        load: LoadMode::Always,
        opt_in: true,
    },
    Builtin {
        file: "skill-creator.skill.md",
        text: include_str!("skill-creator.skill.md"),
        aliases: &[],
        load: LoadMode::Lazy,
        opt_in: false,
    },
];

/// The built-in skills.
#[derive(Clone, Debug)]
pub struct BuiltinSource {
    held: Vec<ParsedSkill>,
}

impl Default for BuiltinSource {
    fn default() -> Self {
        Self {
            held: BUILTINS.iter().map(parsed).collect(),
        }
    }
}

impl BuiltinSource {
    fn held(&self, skill: &Skill) -> io::Result<&ParsedSkill> {
        self.held
            .iter()
            .find(|held| held.skill.path == skill.path)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn parsed(builtin: &Builtin) -> ParsedSkill {
    let origin = Origin {
        path: PathBuf::from("builtin").join(builtin.file),
        format: SkillFormat::Suffix,
        scope: Scope::Builtin,
    };
    let mut parsed = parse_skill(builtin.text.as_bytes(), &origin);
    parsed.skill.format = SkillFormat::Builtin;
    parsed.skill.load = builtin.load;
    parsed.skill.opt_in = builtin.opt_in;
    parsed.skill.aliases = builtin
        .aliases
        .iter()
        .map(|&alias| alias.to_owned())
        .collect();
    parsed
}

impl SkillSource for BuiltinSource {
    fn scan(&self, _limits: &ScanLimits) -> SourceScan {
        let candidate = |held: &ParsedSkill| {
            Arc::new(Candidate {
                path: held.skill.path.clone(),
                real_path: None,
                skill: Some(Arc::new(held.skill.clone())),
                yields: false,
                diagnostics: held.diagnostics.clone(),
            })
        };
        SourceScan {
            candidates: self.held.iter().map(candidate).collect(),
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

    fn files(&self, _skill: &Skill, _limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        Default::default()
    }

    fn read_file(
        &self,
        _skill: &Skill,
        _relative: &str,
        _limits: &ScanLimits,
    ) -> io::Result<Resource> {
        Err(io::Error::from(io::ErrorKind::NotFound))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn built_ins_are_sound_and_have_ids_of_their_own() {
        let source = BuiltinSource::default();
        let mut ids = BTreeSet::new();
        for held in &source.held {
            assert_eq!(held.diagnostics, [], "{}", held.skill.id);
            assert!(ids.insert(held.skill.id.clone()), "{} twice", held.skill.id);
        }
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        assert_eq!(ids, ["output-format", "skill-creator"]);
    }
}
