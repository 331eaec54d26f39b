//! The standard form: a folder with a `SKILL.md`, and whatever else the skill needs beside it.

use crate::discovery::Root;
use crate::skill::SkillFormat;
use crate::source::form::{Claim, Form, Spelling};

/// The name of the entry file.
pub(crate) const ENTRY: &str = "SKILL.md";

pub(crate) const FORM: Form = Form {
    format: SkillFormat::Package,
    claim,
};

fn claim(file: &str, root: &Root) -> Claim {
    if !root.packages || !file.eq_ignore_ascii_case(ENTRY) {
        Claim::No
    } else if file == ENTRY {
        Claim::Folder(Spelling::Exact)
    } else {
        Claim::Folder(Spelling::OtherCase)
    }
}
