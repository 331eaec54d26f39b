//! Skills compiled into this crate; the lowest precedence, so a user's skill of the same id wins.

use std::io;
use std::path::PathBuf;

use crate::discovery::ScanLimits;
use crate::skill::{
    Diagnostic, LoadMode, Origin, ParsedSkill, Scope, Skill, SkillFormat, parse_skill,
};
use crate::source::{MemorySource, OpenedSkill, Resource, SkillSource, SourceScan};

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
pub struct BuiltinSource(MemorySource);

impl Default for BuiltinSource {
    fn default() -> Self {
        let mut held = MemorySource::new();
        for ParsedSkill { skill, body, .. } in BUILTINS.iter().map(parsed) {
            held.add(skill, body);
        }
        Self(held)
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
    fn scan(&self, limits: &ScanLimits) -> SourceScan {
        self.0.scan(limits)
    }

    fn rescan(&self, limits: &ScanLimits, before: &SourceScan) -> Option<SourceScan> {
        self.0.rescan(limits, before)
    }

    fn open(&self, skill: &Skill, limits: &ScanLimits) -> io::Result<OpenedSkill> {
        self.0.open(skill, limits)
    }

    fn files(&self, skill: &Skill, limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        self.0.files(skill, limits)
    }

    fn read_file(
        &self,
        skill: &Skill,
        relative: &str,
        limits: &ScanLimits,
    ) -> io::Result<Resource> {
        self.0.read_file(skill, relative, limits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn built_ins_are_sound_and_have_ids_of_their_own() {
        let mut ids = BTreeSet::new();
        for held in BUILTINS.iter().map(parsed) {
            assert_eq!(held.diagnostics, [], "{}", held.skill.id);
            assert!(ids.insert(held.skill.id.clone()), "{} twice", held.skill.id);
        }
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        assert_eq!(ids, ["output-format", "skill-creator"]);
    }
}
