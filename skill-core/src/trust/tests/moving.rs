//! Packages that are moved, replaced by links, or held in files that are none.

use std::os::unix::fs::symlink;

use super::*;

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_locked_name_is_not_taken_along_to_another_place() {
    let bench = Bench::new();
    bench.lock();
    let skills = bench.project().join(".tekne/skills");
    let finds = |catalog: &SkillCatalog| {
        let view = catalog.view(&Principal::default());
        view.find(Some("pdf"), None).is_some()
    };
    fs::rename(skills.join("pdf"), skills.join("zpdf")).unwrap();
    bench.skill("p/.tekne/skills/zpdf", "pdf", "evil");
    let catalog = bench.catalog(false);
    assert!(!finds(&catalog));
    let snapshot = catalog.snapshot();
    let mut findings = snapshot.reports()[0].diagnostics.iter();
    let finding = findings.find(|finding| finding.code == "SK091").unwrap();
    assert_eq!(
        finding.message,
        "`pdf` is locked at .tekne/skills/pdf, not here"
    );
    // In another case it is the same name.
    bench.skill("p/.tekne/skills/zpdf", "PDF", "evil");
    catalog.refresh();
    assert!(!finds(&catalog));
    // Locked anew, it is what the lock says.
    bench.skill("p/.tekne/skills/zpdf", "pdf", "evil");
    fs::remove_file(bench.project().join(SkillsLock::FILE)).unwrap();
    bench.lock();
    catalog.refresh();
    assert!(finds(&catalog));
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_ours_is_an_error_and_nobody_waits_for_it() {
    let bench = Bench::new();
    pipe(&bench.project().join(SkillsLock::FILE));
    assert_eq!(check(&bench.catalog(false)), (None, vec!["SK091"]));
    pipe(bench.store().path());
    assert!(bench.store().project(&bench.project()).is_err());
    pipe(&bench.folder.path().join("other/trust.lock"));
    let store = TrustStore::new(bench.folder.path().join("other/trust.json"));
    assert!(store.grant(&bench.project(), &[bench.item()], 1).is_err());
}

#[test]
fn the_folder_of_a_skill_that_became_a_link_out_of_the_project_is_not_read() {
    let bench = Bench::new();
    let root = Root {
        boundary: Some(bench.project()),
        ..Root::new(bench.project().join(".tekne/skills"), Scope::Project)
    };
    let catalog = SkillCatalog::scan(&[root], &ScanLimits::default());
    let view = catalog.view(&Principal::default());
    let pdf = view.find(Some("pdf"), None).unwrap();
    assert_eq!(view.doc(pdf, "notes.md").unwrap(), "notes\n");
    let skills = bench.project().join(".tekne/skills");
    bench.skill("outside/skills/pdf", "pdf", "project body");
    bench.write("outside/skills/pdf/notes.md", "secret\n");
    let outside = bench.folder.path().join("outside/skills");
    // The folder itself, and one above it.
    for (place, target) in [(skills.join("pdf"), outside.join("pdf")), (skills, outside)] {
        fs::remove_dir_all(&place).unwrap();
        symlink(target, &place).unwrap();
        assert!(view.doc(pdf, "notes.md").is_err());
        assert!(view.open(pdf).is_err());
        assert!(view.docs(pdf).is_empty());
        fs::remove_file(&place).unwrap();
        fs::create_dir_all(&place).unwrap();
    }
}

#[test]
fn of_a_link_out_of_the_project_only_its_path_counts() {
    let bench = Bench::new();
    bench.write("outside/secret", "one");
    bench.write("p/common/run.sh", "one");
    let folder = bench.project().join(".tekne/skills/pdf");
    symlink(bench.folder.path().join("outside/secret"), folder.join("a")).unwrap();
    symlink("../../../common/run.sh", folder.join("b")).unwrap();
    let digests = || {
        let snapshot = bench.catalog(false).snapshot();
        let skill = snapshot.skills().next().unwrap();
        let files = PackageTree::of_skill(skill, &bench.project())
            .unwrap()
            .files;
        assert_eq!(files["a"].text(&folder.join("a")).unwrap(), None);
        [files["a"].sha256.clone(), files["b"].sha256.clone()]
    };
    let before = digests();
    bench.write("outside/secret", "two");
    assert_eq!(digests(), before);
    bench.write("p/common/run.sh", "two");
    assert_ne!(digests()[1], before[1]);
}

#[test]
fn a_text_is_shown_only_as_long_as_its_digest_is_that_of_the_tree() {
    let bench = Bench::new();
    let notes = bench.item().files["notes.md"].clone();
    let path = bench.project().join(".tekne/skills/pdf/notes.md");
    assert_eq!(notes.text(&path).unwrap().as_deref(), Some("notes\n"));
    fs::write(&path, "evil!\n").unwrap();
    let error = notes.text(&path).unwrap_err();
    assert_eq!(error.problem, "it changed while it was looked at");
}
