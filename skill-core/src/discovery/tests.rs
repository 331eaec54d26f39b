//! What is found below a root, and what is not.

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
fn a_root_may_be_one_file() {
    let folder = tree(&["a/SKILL.md", "notes/plan.md"]);
    let one = |file| scan(Root::new(folder.path().join(file), Scope::Flag));
    assert_eq!(listed(&one("a/SKILL.md")), ["a"]);
    assert_eq!(listed(&one("notes/plan.md")), ["plan"]);
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
fn a_missing_root_is_empty_and_no_finding() {
    let folder = tree(&[]);
    let catalog = scan(user(&folder.path().join("absent")));
    assert_eq!((listed(&catalog), codes(&catalog)), (vec![], vec![]));
    assert!(catalog.snapshot().revision() >= 1);
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
fn the_first_of_equal_names_wins_whatever_was_written_first() {
    let mut digests = Vec::new();
    for order in [["a-first/dup", "z-last/dup"], ["z-last/dup", "a-first/dup"]] {
        let folder = tempfile::tempdir().expect("a folder");
        for file in order {
            let file = format!("{file}.skill.md");
            write(folder.path(), &file, &skill(&file));
        }
        let catalog = scan(user(folder.path()));
        let view = catalog.view(&Principal::default());
        let dup = view.find(Some("dup"), None).expect("found");
        assert_eq!(dup.skill.description, "at a-first/dup.skill.md");
        let shadowed: Vec<_> = findings(&catalog);
        assert_eq!(shadowed.len(), 1);
        assert!(shadowed[0].path.ends_with("z-last/dup.skill.md"));
        assert!(shadowed[0].message.contains("a-first/dup.skill.md"));
        digests.push(catalog.snapshot().digest().to_owned());
    }
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn a_package_wins_over_a_single_file_of_the_same_name() {
    let folder = tree(&["foo.md", "foo.skill.md", "foo/SKILL.md"]);
    let catalog = scan(Root {
        lite: true,
        ..user(folder.path())
    });
    let view = catalog.view(&Principal::default());
    let foo = view.find(Some("foo"), None).expect("found");
    assert_eq!(foo.skill.format, SkillFormat::Package);
    let shadowed = |report: &&CandidateReport| matches!(report.verdict, Verdict::Shadowed { .. });
    assert_eq!(
        catalog.snapshot().reports().iter().filter(shadowed).count(),
        2
    );
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
fn the_project_ends_at_the_nearest_marker_and_never_at_home() {
    let folder = tree(&[
        "home/mono/app/src/x",
        "home/mono/.git/x",
        "home/mono/app/.git",
    ]);
    let home = folder.path().join("home");
    let top = |cwd: &str, markers: &[&str]| {
        let places = Places {
            cwd: home.join(cwd),
            home: Some(home.clone()),
            markers: markers.iter().map(|&marker| marker.to_owned()).collect(),
            ..Places::default()
        };
        let root = project_root(&places)?;
        Some(root.strip_prefix(&home).expect("below home").to_owned())
    };
    assert_eq!(
        top("mono/app/src", &[]).as_deref(),
        Some(Path::new("mono/app"))
    );
    assert_eq!(top("mono", &[]).as_deref(), Some(Path::new("mono")));
    assert_eq!(
        top("mono/app/src", &["none"]).as_deref(),
        Some(Path::new("mono/app/src"))
    );
    assert_eq!(top("", &[]), None);
}

#[test]
fn the_usual_roots_stand_in_the_order_of_precedence() {
    let folder = tree(&["home/p/.git/x", "home/p/sub/x"]);
    let home = folder.path().join("home");
    let places = Places {
        cwd: home.join("p/sub"),
        home: Some(home.clone()),
        config: Some(home.join(".config/tekne")),
        managed: Some("/etc/tekne".into()),
        ..Places::default()
    };
    let roots: Vec<_> = standard_roots(&places)
        .into_iter()
        .map(|root| {
            let path = root.path.strip_prefix(&home).unwrap_or(&root.path);
            let marks = [
                (root.lite, " lite"),
                (!root.packages, " single"),
                (root.trusted, " trusted"),
            ];
            let marks = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark);
            format!(
                "{} {}{}",
                root.scope.as_str(),
                path.display(),
                marks.collect::<String>()
            )
        })
        .collect();
    assert_eq!(
        roots,
        [
            "project p/sub/.tekne/skills",
            "project p/sub/.agents/skills",
            "project p/sub/.claude/skills",
            "project p/.tekne/skills",
            "project p/.agents/skills",
            "project p/.claude/skills",
            "project p/skills single",
            "project p/YOLO/skills lite",
            "user .config/tekne/skills trusted",
            "user .agents/skills trusted",
            "user .claude/skills trusted",
            "managed /etc/tekne/skills trusted",
        ]
    );
}

#[cfg(unix)]
mod links {
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

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_in_which_files_were_written_never_changes_the_digest(
        seed in proptest::prelude::any::<u64>(),
    ) {
        let mut files: Vec<String> = (0..12)
            .map(|at| match at % 3 {
                0 => format!("f{}/s{at}/SKILL.md", at % 2),
                1 => format!("f{}/s{at}.skill.md", at % 4),
                _ => format!("g/dup{}.skill.md", at % 2),
            })
            .collect();
        let sorted = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
        let mut state = seed | 1;
        for at in (1..files.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            files.swap(at, (state >> 33) as usize % (at + 1));
        }
        let shuffled = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
        let one = scan(user(sorted.path()));
        let other = scan(user(shuffled.path()));
        assert_eq!(one.snapshot().digest(), other.snapshot().digest());
        let digest = |catalog: &SkillCatalog| catalog.view(&Principal::default()).digest().to_owned();
        assert_eq!(digest(&one), digest(&other));
        assert_eq!(listed(&one), listed(&other));
    }
}
