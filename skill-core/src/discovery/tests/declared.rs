//! Packages of the declared form, and policies beside packages.

use super::*;

const DECLARED: &str = "skill_id: report.weekly\ndescription: d, not for e\nentry: {module: implement, function: run}\n";

fn declared(folder: &Path, path: &str) {
    write(folder, path, DECLARED);
    let beside = Path::new(path).with_file_name("implement.py");
    write(
        folder,
        beside.to_str().expect("text"),
        "def run(ctx): ...\n",
    );
}

#[test]
fn a_declaration_with_its_implementation_is_one_skill() {
    for entry in ["skill.yaml", "skill.yml"] {
        let folder = tree(&["reports/weekly/notes.skill.md", "a.skill.md"]);
        declared(folder.path(), &format!("reports/weekly/{entry}"));
        let catalog = scan(user(folder.path()));
        assert_eq!(
            (listed(&catalog), codes(&catalog)),
            (vec!["a".into(), "report.weekly".into()], vec![])
        );
        let view = catalog.view(&Principal::default());
        let weekly = view.find(Some("report.weekly"), None).expect("found");
        assert_eq!(weekly.skill.format, SkillFormat::Declared);
        assert!(view.open(weekly).is_ok());
        assert_eq!(view.files(weekly).0, ["implement.py", "notes.skill.md"]);
    }
}

#[test]
fn a_package_takes_its_folder_before_a_declaration() {
    let folder = tree(&["both/SKILL.md"]);
    declared(folder.path(), "both/skill.yaml");
    let catalog = scan(user(folder.path()));
    assert_eq!(listed(&catalog), ["both"]);
    let single = Root {
        packages: false,
        ..user(folder.path())
    };
    assert_eq!(listed(&scan(single)), ["report.weekly"]);
}

#[test]
fn a_declaration_that_is_refused_is_reported_with_its_name() {
    let folder = tree(&[]);
    write(
        folder.path(),
        "x/skill.yaml",
        "name: Weekly\ndescription: d, not for e\nentry: {native: n}\n",
    );
    let catalog = scan(user(folder.path()));
    let snapshot = catalog.snapshot();
    let report = &snapshot.reports()[0];
    assert_eq!(
        (report.verdict.clone(), codes(&catalog)),
        (Verdict::Refused, vec!["SK102"])
    );
    assert_eq!(report.skill.as_ref().expect("described").name, "Weekly");
}

#[test]
fn a_policy_beside_a_package_counts_when_it_is_listed_and_when_it_is_opened() {
    let folder = tree(&["a/SKILL.md", "b/SKILL.md"]);
    let forbid = "policy:\n  allow_implicit_invocation: false\n";
    write(folder.path(), "a/agents/openai.yaml", forbid);
    let catalog = scan(user(folder.path()));
    let view = catalog.view(&Principal::default());
    assert!(view.find(Some("a"), None).is_none());
    let a = view.find_for_user("a").expect("a person may");
    assert!(view.open(a).is_ok());
    let b = view.find(Some("b"), None).expect("found");
    assert!(view.open(b).is_ok());
    write(folder.path(), "b/agents/openai.yaml", forbid);
    let error = view.open(b).expect_err("it is another skill now");
    assert_eq!(error.kind, crate::OpenErrorKind::Changed);
}
