//! Which files below a root are skills.

use super::*;

#[test]
fn suffix_skills_are_found_in_every_folder_but_hidden_and_vendored_ones() {
    check(
        &[
            "general.skill.md",
            "programming/go.skill.md",
            "workflow/nested/deploy.skill.md",
            ".hidden/secret.skill.md",
            "node_modules/vendored.skill.md",
        ],
        &["deploy", "general", "go"],
        &[],
    );
}

#[test]
fn a_plain_markdown_file_is_a_hint_outside_a_lite_root_and_a_skill_in_one() {
    let folder = tree(&["flat.md", "README.md", "Skills.md", "AGENTS.md", "rule.mdc"]);
    let plain = scan(user(folder.path()));
    assert_eq!((listed(&plain), codes(&plain)), (vec![], vec!["SK067"]));
    let lite = scan(Root {
        lite: true,
        ..user(folder.path())
    });
    assert_eq!(
        (listed(&lite), codes(&lite)),
        (vec!["flat".to_owned()], vec![])
    );
}

#[test]
fn grouping_folders_are_entered_down_to_the_depth_bound() {
    check(
        &[
            "g/deep/SKILL.md",
            "1/2/3/4/5/six/SKILL.md",
            "1/2/3/4/5/6/seven/SKILL.md",
        ],
        &["deep", "six"],
        &["SK063"],
    );
}

#[test]
fn what_lies_below_a_skill_is_its_content() {
    check(
        &[
            "outer/SKILL.md",
            "outer/references/inner/SKILL.md",
            "outer/x.skill.md",
        ],
        &["outer"],
        &[],
    );
}

#[test]
fn a_stray_skill_at_the_top_of_a_root_does_not_hide_the_others() {
    let folder = tree(&["a/SKILL.md", "b/SKILL.md"]);
    write(
        folder.path(),
        "SKILL.md",
        "---\nname: top\ndescription: d\n---\nb\n",
    );
    assert_eq!(listed(&scan(user(folder.path()))), ["a", "b", "top"]);
    let named = Root::new(folder.path(), Scope::Flag);
    assert_eq!(listed(&scan(named)), ["top"]);
}

#[test]
fn an_ignore_file_inside_a_root_hides_nothing() {
    let folder = tree(&["y/SKILL.md", "node_modules/x/SKILL.md"]);
    write(folder.path(), ".gitignore", "y/\n");
    assert_eq!(listed(&scan(user(folder.path()))), ["y"]);
}

#[test]
fn the_exact_spelling_of_the_entry_file_wins() {
    let folder = tree(&["only/skill.md", "both/SKILL.md", "both/skill.md"]);
    let catalog = scan(user(folder.path()));
    assert_eq!(listed(&catalog), ["both", "only"]);
    assert_eq!(codes(&catalog), ["SK060"]);
}

#[test]
fn a_broken_skill_does_not_hide_the_others() {
    let folder = tree(&["good/SKILL.md"]);
    write(folder.path(), "broken.skill.md", "no frontmatter\n");
    let catalog = scan(user(folder.path()));
    assert_eq!(listed(&catalog), ["good"]);
    let finding = &findings(&catalog)[0];
    assert_eq!(finding.code, "SK010");
    assert!(finding.path.ends_with("broken.skill.md"));
}

#[test]
fn a_folder_bound_ends_the_walk_with_a_finding() {
    let folder = tree(&["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"]);
    let limits = ScanLimits {
        folders: 3,
        ..ScanLimits::default()
    };
    let catalog = SkillCatalog::scan(&[user(folder.path())], &limits);
    assert_eq!(
        (listed(&catalog), codes(&catalog)),
        (vec!["a".into(), "b".into()], vec!["SK064"])
    );
}

#[test]
fn a_folder_with_the_name_of_a_skill_file_is_reported() {
    let found = |files: &[&str], code: &[&str]| check(files, &["good"], code);
    let good = "good/SKILL.md";
    found(&[good, "a/SKILL.md/x.txt"], &["SK065"]);
    found(&[good, "a/skill.yaml/x.txt"], &["SK065"]);
    found(&[good, "flat.skill.md/x.txt"], &["SK065"]);
    // A plain Markdown file would be none either.
    found(&[good, "notes.md/x.txt"], &[]);
}

#[test]
fn a_file_given_by_name_is_a_skill_only_if_it_is_named_as_one() {
    let folder = tree(&[]);
    for name in ["plan.md", "PLAN.MD", "passwd", "notes.txt", "run.sh"] {
        write(folder.path(), name, "some text\n");
    }
    let verdict = |name: &str| {
        let root = Root {
            lite: true,
            ..Root::new(folder.path().join(name), Scope::Flag)
        };
        scan(root).snapshot().reports()[0].verdict.clone()
    };
    assert_eq!(verdict("plan.md"), Verdict::Loaded);
    assert_eq!(verdict("PLAN.MD"), Verdict::Loaded);
    for name in ["passwd", "notes.txt", "run.sh"] {
        assert_eq!(verdict(name), Verdict::Refused, "{name}");
    }
}
