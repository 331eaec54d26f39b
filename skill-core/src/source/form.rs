//! What a form of skill file is: which files claim to be one, and how their names are read.

use std::ffi::OsStr;
use std::path::Path;

use crate::discovery::Root;
use crate::skill::SkillFormat;
use crate::source::{declared, lite, package, suffix};

/// A form of skill file.
#[derive(Debug)]
pub(crate) struct Form {
    /// What records of this form carry.
    pub(crate) format: SkillFormat,
    /// Judges a file by its name; it sees every file of a folder that is not inside a skill.
    pub(crate) claim: fn(file: &str, root: &Root) -> Claim,
}

/// Whether a file is of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is not.
    No,
    /// It is, and stands for its whole folder: nothing below is a skill of its own.
    Folder(Spelling),
    /// It is, and stands for itself.
    File,
    /// It would be in a lite root.
    Hint,
}

/// How the name of a file that stands for its folder is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spelling {
    /// As the form says.
    Exact,
    /// In another way that the form knows.
    Variant,
    /// In another case.
    OtherCase,
}

/// Every form, in the order of precedence within one root.
pub(crate) const FORMS: &[&Form] = &[&package::FORM, &declared::FORM, &suffix::FORM, &lite::FORM];

/// Returns the first form that takes `file`, and its claim.
pub(crate) fn claim(file: &str, root: &Root) -> (SkillFormat, Claim) {
    FORMS
        .iter()
        .map(|form| (form.format, (form.claim)(file, root)))
        .find(|(_, claim)| *claim != Claim::No)
        .unwrap_or((SkillFormat::Lite, Claim::No))
}

/// Returns `file` without `ending`, compared without regard to case, if something is left.
pub(crate) fn without_ending<'a>(file: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = file.split_at_checked(file.len().checked_sub(ending.len())?)?;
    (end.eq_ignore_ascii_case(ending) && !stem.is_empty()).then_some(stem)
}

/// Tells whether a file that somebody named is meant as a skill by its own name, too; without
/// frontmatter, any text reads as a lite skill.
pub(crate) fn is_named_as_skill(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_known = |ending: &str| {
        let known = ["md", "yaml", "yml"];
        known.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    ending.is_some_and(is_known) || name == "skprompt.txt"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Scope;

    #[test]
    fn a_file_has_one_form_at_most() {
        let plain = Root::new("r", Scope::User);
        let lite = Root {
            lite: true,
            ..plain.clone()
        };
        let check = |file: &str, root: &Root, format, expected| {
            assert_eq!(claim(file, root), (format, expected), "{file}");
        };
        let exact = Claim::Folder(Spelling::Exact);
        check("SKILL.md", &plain, SkillFormat::Package, exact);
        let other = Claim::Folder(Spelling::OtherCase);
        check("skill.md", &plain, SkillFormat::Package, other);
        check("skill.yaml", &plain, SkillFormat::Declared, exact);
        let variant = Claim::Folder(Spelling::Variant);
        check("skill.yml", &plain, SkillFormat::Declared, variant);
        check("go.skill.md", &lite, SkillFormat::Suffix, Claim::File);
        check("GO.SKILL.MD", &plain, SkillFormat::Suffix, Claim::File);
        check("flat.md", &plain, SkillFormat::Lite, Claim::Hint);
        check("flat.md", &lite, SkillFormat::Lite, Claim::File);
        for file in [
            "README.md",
            "Skills.md",
            "x.txt",
            ".md",
            ".hidden.md",
            ".#lock.md",
            "x.mdc",
            "AGENTS.md",
        ] {
            check(file, &lite, SkillFormat::Lite, Claim::No);
        }
    }
}
