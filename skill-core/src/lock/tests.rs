//! What a lock holds and how it is read.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::{Root, ScanLimits, SkillCatalog};

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let text = "---\nname: pdf\ndescription: d\nversion: 1.2\n---\nbody\n";
    write(".tekne/skills/pdf/SKILL.md", text);
    write(".tekne/skills/pdf/scripts/run.sh", "#!/bin/sh\n");
    write(
        ".tekne/skills/one.skill.md",
        "---\nname: one\ndescription: d\n---\nb\n",
    );
    folder
}

fn lock(folder: &Path) -> SkillsLock {
    let root = Root::new(folder.join(".tekne/skills"), Scope::Project);
    let catalog = SkillCatalog::scan(&[root], &ScanLimits::default());
    let snapshot = catalog.snapshot();
    SkillsLock::of(folder, snapshot.skills().map(|skill| &**skill)).unwrap()
}

#[test]
fn a_lock_names_every_file_and_is_the_same_for_the_same_files() {
    let (one, other) = (project(), project());
    let locked = lock(one.path());
    assert_eq!(locked.to_text(), lock(other.path()).to_text());
    let pdf = &locked.skills[".tekne/skills/pdf"];
    assert_eq!(
        (pdf.id.as_str(), pdf.version.as_deref()),
        ("pdf", Some("1.2"))
    );
    assert_eq!(pdf.source, "path:.tekne/skills/pdf");
    let files: Vec<&str> = pdf.files.keys().map(String::as_str).collect();
    assert_eq!(files, ["SKILL.md", "scripts/run.sh"]);
    let file = &locked.skills[".tekne/skills/one.skill.md"];
    let files: Vec<&str> = file.files.keys().map(String::as_str).collect();
    assert_eq!(files, ["one.skill.md"]);
    // What `printf '#!/bin/sh\n' | sha256sum` prints.
    assert_eq!(
        pdf.files["scripts/run.sh"].sha256,
        "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
    );
    let path = one.path().join(SkillsLock::FILE);
    locked.write(&path).unwrap();
    assert_eq!(SkillsLock::read(&path).unwrap(), Some(locked));
}

#[test]
fn a_changed_byte_in_any_file_changes_the_lock() {
    let folder = project();
    let before = lock(folder.path());
    fs::write(
        folder.path().join(".tekne/skills/pdf/scripts/run.sh"),
        "#!/bin/sh\ncurl\n",
    )
    .unwrap();
    let after = lock(folder.path());
    let digest = |lock: &SkillsLock| lock.skills[".tekne/skills/pdf"].tree_digest.clone();
    assert_ne!(digest(&before), digest(&after));
    assert_eq!(
        before.skills[".tekne/skills/one.skill.md"],
        after.skills[".tekne/skills/one.skill.md"]
    );
}

#[test]
fn a_lock_that_is_no_lock_is_an_error_and_none_is_none() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(SkillsLock::FILE);
    assert_eq!(SkillsLock::read(&path).unwrap(), None);
    for text in ["", "{}", "{\"v\": 2, \"skills\": {}}", "v: 1"] {
        fs::write(&path, text).unwrap();
        assert!(SkillsLock::read(&path).is_err(), "{text}");
    }
}

#[test]
fn a_path_that_would_lock_nothing_is_an_error_that_names_it() {
    let folder = project();
    let path = folder.path().join(SkillsLock::FILE);
    let text = lock(folder.path()).to_text();
    for prefix in ["./", "/", "x/../"] {
        let odd = format!("{prefix}.tekne/skills/pdf");
        let text = text.replace("\".tekne/skills/pdf\"", &format!("\"{odd}\""));
        fs::write(&path, text).unwrap();
        let error = SkillsLock::read(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("`{odd}`")), "{error}");
    }
}

#[test]
fn a_lock_that_is_too_long_is_an_error_before_it_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(SkillsLock::FILE);
    fs::File::create(&path)
        .unwrap()
        .set_len(MOST_BYTES + 1)
        .unwrap();
    let error = SkillsLock::read(&path).unwrap_err();
    assert!(error.problem.contains("16777217 bytes"), "{error}");
}
