//! Links and special files.

use std::os::unix::fs::symlink;

use super::*;
use crate::OpenErrorKind;

fn link(folder: &Path, target: &str, path: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    symlink(target, path).expect("a link");
}

#[test]
fn linked_folders_and_files_are_skills() {
    let folder = tree(&["root/a/SKILL.md", "ext/linked/SKILL.md", "ext/f/SKILL.md"]);
    link(folder.path(), "../ext/linked", "root/linked");
    link(folder.path(), "../../ext/f/SKILL.md", "root/f/SKILL.md");
    let catalog = scan(user(&folder.path().join("root")));
    assert_eq!(listed(&catalog), ["a", "f", "linked"]);
    assert_eq!(codes(&catalog), [""; 0]);
}

#[test]
fn a_policy_behind_a_link_that_leads_nowhere_closes() {
    for (target, path) in [
        ("nowhere.yaml", "root/a/agents/openai.yaml"),
        ("nowhere", "root/a/agents"),
    ] {
        let folder = tree(&["root/a/SKILL.md"]);
        link(folder.path(), target, path);
        let catalog = scan(user(&folder.path().join("root")));
        assert_eq!(listed(&catalog), [""; 0], "{path}");
        assert!(codes(&catalog).contains(&"SK101"), "{path}");
    }
}

#[test]
fn loops_and_second_ways_are_entered_once() {
    let folder = tree(&["root/g/a/SKILL.md", "root/z/b/SKILL.md"]);
    link(folder.path(), "..", "root/g/up");
    link(folder.path(), "../z", "root/g/side");
    link(folder.path(), "g", "root/again");
    link(folder.path(), "nowhere", "root/broken");
    let catalog = scan(user(&folder.path().join("root")));
    assert_eq!(listed(&catalog), ["a", "b"]);
    let mut codes = codes(&catalog);
    codes.sort_unstable();
    assert_eq!(codes, ["SK062", "SK065", "SK071", "SK071"]);
}

#[test]
fn two_roots_that_are_one_folder_are_the_user_s() {
    let folder = tree(&["agents/a/SKILL.md"]);
    link(folder.path(), "agents", "claude");
    let root = |path: &str, scope| Root::new(folder.path().join(path), scope);
    let roots = [root("agents", Scope::Project), root("claude", Scope::User)];
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    let scopes: Vec<_> = catalog
        .snapshot()
        .skills()
        .map(|skill| skill.scope)
        .collect();
    assert_eq!(listed(&catalog), ["a"]);
    assert_eq!(scopes.first(), Some(&Scope::User));
}

#[test]
fn the_same_file_by_two_ways_is_one_skill() {
    let folder = tree(&["one/a/SKILL.md", "two/x"]);
    link(folder.path(), "../../one/a/SKILL.md", "two/a/SKILL.md");
    let roots = ["one", "two"].map(|path| user(&folder.path().join(path)));
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    assert_eq!(
        (listed(&catalog), codes(&catalog)),
        (vec!["a".to_owned()], vec!["SK071"])
    );
}

#[test]
fn a_link_out_of_an_untrusted_project_is_refused_until_it_is_trusted() {
    let folder = tree(&[
        "p/skills/in/SKILL.md",
        "p/other/near/SKILL.md",
        "ext/far/SKILL.md",
    ]);
    link(folder.path(), "../../ext/far", "p/skills/far");
    link(
        folder.path(),
        "../../../ext/far/SKILL.md",
        "p/skills/file/SKILL.md",
    );
    link(folder.path(), "../other/near", "p/skills/near");
    let root = |trusted| Root {
        trusted,
        boundary: Some(folder.path().join("p")),
        ..Root::new(folder.path().join("p/skills"), Scope::Project)
    };
    let untrusted = scan(root(false));
    assert_eq!(listed(&untrusted), ["in", "near"]);
    assert_eq!(codes(&untrusted), ["SK061", "SK061"]);
    let refused = |report: &&CandidateReport| report.verdict == Verdict::Refused;
    assert_eq!(
        untrusted
            .snapshot()
            .reports()
            .iter()
            .filter(refused)
            .count(),
        2
    );
    assert_eq!(listed(&scan(root(true))), ["far", "in", "near"]);
}

#[test]
fn a_pipe_is_never_opened() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tree(&["good/SKILL.md", "pipe/x"]);
    let pipe = |path: &str| {
        let path = folder.path().join(path);
        mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    };
    pipe("pipe/SKILL.md");
    pipe("p.skill.md");
    pipe("good/doc.md");
    let catalog = scan(user(folder.path()));
    assert_eq!(
        (listed(&catalog), codes(&catalog)),
        (vec!["good".to_owned()], vec!["SK065"; 2])
    );
    let view = catalog.view(&Principal::default());
    let good = view.find(Some("good"), None).expect("found");
    assert!(view.docs(good).is_empty());
    let error = view.resource(good, "doc.md").expect_err("a pipe");
    assert_eq!(error.kind, OpenErrorKind::Unreadable);
}

#[test]
fn documents_never_come_from_outside_the_folder_of_the_skill() {
    let folder = tree(&["root/a/SKILL.md", "root/b/SKILL.md"]);
    let top = folder.path();
    for (file, text) in [("guide.md", "g"), ("sub/REF.TXT", "r"), ("x.json", "{}")] {
        write(&top.join("root/a"), file, text);
    }
    write(top, "secret.md", "secret");
    link(top, "../../secret.md", "root/a/leak.md");
    link(top, "../..", "root/a/up");
    link(top, "guide.md", "root/a/alias.md");
    let catalog = scan(user(&top.join("root")));
    let view = catalog.view(&Principal::default());
    let skill = view.find(Some("a"), None).expect("found");
    assert_eq!(view.docs(skill), ["alias.md", "guide.md", "sub/REF.TXT"]);
    let found: Vec<_> = view
        .files(skill)
        .1
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(found, ["SK061", "SK061"]);
    for outside in [
        "leak.md",
        "../b/SKILL.md",
        "up/secret.md",
        "/etc/passwd",
        "a/../../x.md",
        "",
    ] {
        let error = view.resource(skill, outside).expect_err(outside);
        assert_eq!(error.kind, OpenErrorKind::Outside, "{outside}");
    }
    let error = view.doc(skill, "none.md").expect_err("absent");
    assert_eq!(error.kind, OpenErrorKind::NotFound);
    assert_eq!(view.doc(skill, "alias.md").expect("inside"), "g");
}

#[test]
fn a_link_put_in_the_way_is_not_followed() {
    let folder = tree(&["root/a/SKILL.md", "root/a/in/doc.md", "other/doc.md"]);
    let top = folder.path();
    let catalog = scan(user(&top.join("root")));
    let view = catalog.view(&Principal::default());
    let skill = view.find(Some("a"), None).expect("found");
    assert!(view.resource(skill, "in/doc.md").is_ok());
    assert_eq!(
        view.resource(skill, "in").expect_err("a folder").kind,
        OpenErrorKind::Unreadable
    );
    fs::remove_dir_all(top.join("root/a/in")).expect("removed");
    link(top, "../../other", "root/a/in");
    let error = view.resource(skill, "in/doc.md").expect_err("outside");
    assert_eq!(error.kind, OpenErrorKind::Outside);
}

#[test]
fn an_implementation_behind_a_link_out_of_the_package_refuses_the_skill() {
    let folder = tree(&["root/x/a", "ext/x"]);
    let text = "skill_id: a.b\ndescription: d, not for e\nentry: {command: [./run.sh]}\n";
    write(folder.path(), "root/skill/skill.yaml", text);
    let root = || user(&folder.path().join("root"));
    assert_eq!(
        (listed(&scan(root())), codes(&scan(root()))),
        (vec!["a.b".into()], vec!["SK115"])
    );
    link(folder.path(), "../../ext/x", "root/skill/run.sh");
    assert_eq!(
        (listed(&scan(root())), codes(&scan(root()))),
        (vec![], vec!["SK061"])
    );
}
