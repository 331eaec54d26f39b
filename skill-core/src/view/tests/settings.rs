//! What a configuration, a machine and the files worked on leave of a catalogue.

use super::*;
use crate::Requirements;

fn three() -> SkillCatalog {
    let source = MemorySource::new()
        .with(Skill::new("pdf", "reads"), "")
        .with(Skill::new("vendor-a", "a"), "")
        .with(Skill::new("Vendor-b", "b"), "");
    catalog(source)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn globs_include_exclude_and_shorten() {
    let shown = |include: &[&str], exclude: &[&str]| {
        let principal = Principal {
            include: texts(include),
            exclude: texts(exclude),
            ..Principal::default()
        };
        let view = three().view(&principal);
        ids(&view).join(" ")
    };
    assert_eq!(shown(&[], &[]), "Vendor-b pdf vendor-a");
    assert_eq!(shown(&["vendor-*"], &[]), "Vendor-b vendor-a");
    assert_eq!(shown(&[], &["VENDOR-*"]), "pdf");
    assert_eq!(shown(&["vendor-{a,b}"], &["*-b"]), "vendor-a");
    assert_eq!(shown(&["config/*"], &["config/pdf"]), "Vendor-b vendor-a");
    let endless = "{a,b}".repeat(20);
    assert_eq!(shown(&[&endless], &[]), "");
    assert_eq!(shown(&[], &[&endless]), "");
}

#[test]
fn a_skill_by_name_only_is_listed_without_its_description() {
    let principal = Principal {
        name_only: texts(&["vendor-*"]),
        ..Principal::default()
    };
    let (all, short) = (
        three().view(&Principal::default()),
        three().view(&principal),
    );
    let summaries: Vec<_> = short.skills().iter().map(ViewedSkill::summary).collect();
    assert_eq!(summaries, ["", "reads", ""]);
    assert!(short.skills().iter().all(|viewed| viewed.listed));
    assert_ne!(all.digest(), short.digest());
}

#[test]
fn a_skill_for_certain_files_is_the_model_s_while_one_of_them_is_worked_on() {
    let mut skill = Skill::new("rust", "d");
    skill.paths = texts(&["src/**/*.{rs,toml}"]);
    let catalog = catalog(MemorySource::new().with(skill, ""));
    let of_files = |files: &[&str]| {
        let principal = Principal {
            files: texts(files),
            ..Principal::default()
        };
        catalog.view(&principal)
    };
    assert_eq!(ids(&of_files(&["docs/a.md", "src/deep/in/a.rs"])), ["rust"]);
    for files in [&[][..], &["docs/a.rs"][..]] {
        let view = of_files(files);
        assert!(view.is_empty());
        assert!(view.find_for_user("rust").is_some());
    }
}

#[test]
fn what_the_machine_lacks_is_not_there_and_says_why() {
    let needy = |id: &str, requires: Requirements| Skill {
        requires: Some(Box::new(requires)),
        ..Skill::new(id, "d")
    };
    let programs = Requirements {
        programs: texts(&["no-such-program"]),
        ..Requirements::default()
    };
    let env = Requirements {
        env: texts(&["TOKEN"]),
        os: texts(&["macos", "linux"]),
        ..Requirements::default()
    };
    let catalog = catalog(
        MemorySource::new()
            .with(needy("programs", programs), "")
            .with(needy("env", env), ""),
    );
    let on = |machine: Machine| Principal {
        machine: Some(Arc::new(machine)),
        ..Principal::default()
    };
    assert_eq!(
        ids(&catalog.view(&Principal::default())),
        ["env", "programs"]
    );
    assert_eq!(
        ids(&catalog.view(&on(Machine::new("linux").with_env(["TOKEN"])))),
        ["env"]
    );
    let windows = Machine::new("windows");
    let skills: Vec<_> = catalog.snapshot().skills().cloned().collect();
    let reasons: Vec<String> = skills
        .iter()
        .flat_map(|skill| windows.unmet(skill))
        .map(|one| format!("{} {}", one.code, one.message))
        .collect();
    assert_eq!(
        reasons,
        [
            "SK100 the program `no-such-program` is not found",
            "SK100 it runs on macos, linux, and this is win32",
            "SK100 the variable `TOKEN` is not set",
        ]
    );
    let view = catalog.view(&on(windows));
    assert!(view.is_empty() && view.find_for_user("env").is_none());
}

#[cfg(unix)]
#[test]
fn a_program_is_a_file_that_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    for (name, mode) in [("tool", 0o755), ("text", 0o644)] {
        let path = folder.path().join(name);
        std::fs::write(&path, "").expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("a mode");
    }
    let machine = Machine::new("linux").with_search_path([folder.path().to_owned()]);
    let has = ["tool", "text", "absent", "../tool", ""].map(|name| machine.has_program(name));
    assert_eq!(has, [true, false, false, false, false]);
}

#[test]
fn an_id_that_passes_for_another_is_reported() {
    let source = MemorySource::new()
        .with(Skill::new("pac", "d"), "")
        .with(Skill::new("\u{440}\u{430}\u{441}", "d"), "")
        .with(
            Skill {
                scope: Scope::User,
                ..Skill::new("отчёт", "d")
            },
            "",
        );
    let catalog = catalog(source);
    let snapshot = catalog.snapshot();
    let codes: Vec<_> = snapshot
        .reports()
        .iter()
        .map(|report| {
            report
                .diagnostics
                .iter()
                .map(|one| one.code)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(codes, [vec![], vec!["SK111"], vec![]]);
}

#[test]
fn a_view_says_what_it_lists_short_or_not_at_all_and_which_files_are_missing() {
    let mut paths = Skill::new("paths", "d");
    paths.paths = texts(&["*.rs"]);
    let mut person = Skill::new("person", "d");
    person.invocation.model = false;
    let mut bare = Skill::new("bare", "");
    bare.listed = false;
    let source = MemorySource::new()
        .with(paths, "")
        .with(person, "")
        .with(bare, "")
        .with(Skill::new("short", "d"), "")
        .with(
            Skill::new("whole", "d"),
            "See references/a.md, references/b.md and [all](assets/).\n",
        )
        .with_file("references/a.md", "a");
    let principal = Principal {
        name_only: texts(&["short"]),
        ..Principal::default()
    };
    let view = catalog(source).view(&principal);
    let found: Vec<String> = view
        .findings()
        .iter()
        .map(|one| format!("{} {}", one.code, one.message))
        .collect();
    assert_eq!(
        found,
        [
            "SK082 skill `bare` has no description",
            "SK081 skill `short` is listed by name only, as a setting wants",
            "SK082 skill `paths` is for other files than those worked on",
            "SK082 skill `person` is started by people only",
        ]
    );
    let whole = view.find(Some("whole"), None).expect("found");
    let missing = view.missing_references(whole);
    let messages: Vec<_> = missing
        .iter()
        .map(|one| (one.code, one.message.as_str()))
        .collect();
    assert_eq!(
        messages,
        [(
            "SK115",
            "line 1 of the body refers to `references/b.md`, which is not there"
        )]
    );
}
