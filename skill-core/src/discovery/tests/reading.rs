//! Reading files, and reading them again.

use super::*;

#[test]
fn a_file_past_the_bound_loads_and_opens_cut() {
    let folder = tree(&[]);
    let text = format!("---\nname: big\ndescription: d\n---\n{}", "é".repeat(1000));
    write(folder.path(), "big/SKILL.md", &text);
    let limits = ScanLimits {
        file_bytes: 100,
        ..ScanLimits::default()
    };
    let catalog = SkillCatalog::scan(&[user(folder.path())], &limits);
    assert_eq!(codes(&catalog), ["SK103"]);
    let view = catalog.view(&Principal::default());
    let big = view.find(Some("big"), None).expect("found");
    let opened = view.open(big).expect("opens");
    assert!(opened.truncated);
    assert!(opened.body.chars().all(|letter| letter == 'é'));
    assert_eq!(big.skill.body_bytes, 2000);
}

#[test]
fn an_entry_that_changed_since_the_scan_does_not_open() {
    let folder = tree(&["a/SKILL.md", "b/SKILL.md"]);
    let catalog = scan(user(folder.path()));
    let view = catalog.view(&Principal::default());
    let kind = |id| {
        let found = view.find(Some(id), None).expect("found");
        view.open(found)
            .map(|opened| opened.body)
            .map_err(|error| error.kind)
    };
    assert_eq!(kind("a").expect("opens"), "body of a/SKILL.md");
    write(
        folder.path(),
        "a/SKILL.md",
        &skill("a/SKILL.md").replace("body", "other"),
    );
    fs::remove_file(folder.path().join("b/SKILL.md")).expect("removed");
    assert_eq!(kind("a"), Err(crate::OpenErrorKind::Changed));
    assert_eq!(kind("b"), Err(crate::OpenErrorKind::Changed));
}
