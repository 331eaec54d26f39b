//! The suffix form: a single file `*.skill.md`, in any folder of a root.

use crate::discovery::Root;
use crate::skill::SkillFormat;
use crate::source::form::{Claim, Form, without_ending};

pub(crate) const FORM: Form = Form {
    format: SkillFormat::Suffix,
    claim,
};

fn claim(file: &str, _root: &Root) -> Claim {
    match without_ending(file, ".skill.md") {
        Some(_) => Claim::File,
        None => Claim::No,
    }
}
