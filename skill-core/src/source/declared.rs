//! The declared form: a folder with a `skill.yaml` and an implementation beside it.

use std::path::Path;

use crate::discovery::Root;
use crate::skill::{Declaration, Diagnostic, SkillFormat};
use crate::source::form::{Claim, Form, Spelling};

/// The names of the entry file, the first one preferred.
const ENTRIES: &[&str] = &["skill.yaml", "skill.yml"];

pub(crate) const FORM: Form = Form {
    format: SkillFormat::Declared,
    claim,
};

fn claim(file: &str, _root: &Root) -> Claim {
    match ENTRIES {
        [exact, ..] if file == *exact => Claim::Folder(Spelling::Exact),
        entries if entries.contains(&file) => Claim::Folder(Spelling::Variant),
        _ => Claim::No,
    }
}

/// Holds what `declaration` names against what lies in `folder`: a file that a link leads out of
/// it to refuses the skill, one that is not there is reported.
pub(crate) fn check_files(
    declaration: &Declaration,
    entry: &Path,
    folder: &Path,
) -> Vec<Diagnostic> {
    let runs = declaration.entry.as_ref().map(|entry| entry.files());
    let services = declaration.services.values();
    let groups = runs
        .into_iter()
        .filter(|files| !files.is_empty())
        .chain(services.map(|factory| vec![factory.file.clone()]));
    groups
        .filter_map(|files| check_file(&files, entry, folder))
        .collect()
}

/// Checks that one of `files` is there, and that it is in `folder`.
fn check_file(files: &[String], entry: &Path, folder: &Path) -> Option<Diagnostic> {
    let there = files
        .iter()
        .find(|file| folder.join(file).symlink_metadata().is_ok());
    let Some(file) = there else {
        let message = format!("`{}` is not there", files.join("` or `"));
        return Some(Diagnostic::about("SK115", entry, message));
    };
    let (folder, real) = (
        folder.canonicalize().ok()?,
        folder.join(file).canonicalize(),
    );
    if real.is_ok_and(|real| real.starts_with(&folder)) {
        return None;
    }
    let message = format!("`{file}` leads out of the folder of the skill");
    Some(Diagnostic::about("SK061", entry, message).refusing())
}
