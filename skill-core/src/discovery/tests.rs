//! What is found below a root, and what is not.

mod declared;
#[cfg(unix)]
mod links;
mod precedence;
mod reading;
mod roots;
mod walking;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{
    CandidateReport, Diagnostic, Places, Principal, Root, ScanLimits, Scope, SkillCatalog,
    SkillFormat, Verdict, project_root, standard_roots,
};

fn tree(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        write(folder.path(), file, &skill(file));
    }
    folder
}

/// Returns the text of a skill named after its folder, or after its file.
fn skill(file: &str) -> String {
    let path = Path::new(file);
    let name = match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if name.eq_ignore_ascii_case("SKILL.md") => {
            path.parent().and_then(Path::file_name)
        }
        _ => path.file_name(),
    };
    let name = name.and_then(|name| name.to_str()).unwrap_or("x");
    let name = name.trim_end_matches(".md").trim_end_matches(".skill");
    format!("---\nname: {name}\ndescription: at {file}\n---\nbody of {file}\n")
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn user(folder: &Path) -> Root {
    Root::new(folder, Scope::User)
}

fn scan(root: Root) -> SkillCatalog {
    SkillCatalog::scan(&[root], &ScanLimits::default())
}

/// Returns the ids that a view lists, without the built-ins.
fn listed(catalog: &SkillCatalog) -> Vec<String> {
    let view = catalog.view(&Principal::default());
    view.skills()
        .iter()
        .filter(|viewed| viewed.listed && viewed.skill.format != SkillFormat::Builtin)
        .map(|viewed| viewed.skill.id.to_string())
        .collect()
}

fn findings(catalog: &SkillCatalog) -> Vec<Diagnostic> {
    let snapshot = catalog.snapshot();
    let of_files = snapshot
        .reports()
        .iter()
        .flat_map(|report| &report.diagnostics);
    of_files.chain(snapshot.diagnostics()).cloned().collect()
}

fn codes(catalog: &SkillCatalog) -> Vec<&'static str> {
    findings(catalog)
        .iter()
        .map(|finding| finding.code)
        .collect()
}

fn check(files: &[&str], expected: &[&str], expected_codes: &[&str]) {
    let folder = tree(files);
    let catalog = scan(user(folder.path()));
    assert_eq!(listed(&catalog), expected);
    assert_eq!(codes(&catalog), expected_codes);
}
