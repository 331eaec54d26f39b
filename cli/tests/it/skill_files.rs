//! Skills on disk: written, mended, registered, locked, counted, and asked about.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};
use crate::terminal::Terminal;

/// Returns the document of a command as it may be compared.
#[track_caller]
pub(crate) fn document(world: &World, ran: &Ran) -> Value {
    let document = world.normal(&ran.json());
    assert_eq!(document["v"], 1);
    document
}

pub(crate) fn why(world: &World, name: &str) -> (String, String) {
    let answer = world.run(&["skills", "why", name, "--json"]).json();
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (text("status"), text("reason"))
}

#[test]
fn a_new_skill_is_written_where_it_belongs_and_is_sound() {
    let world = World::new();
    let description = "Use when: \"x\" --- [y] # z";
    let ran = world
        .run(&[
            "skills",
            "new",
            "mine",
            "--description",
            description,
            "--json",
        ])
        .exits(0);
    assert_eq!(
        document(&world, &ran),
        json!({"v": 1, "id": "mine", "path": "[root]/home/.config/tekne/skills/mine/SKILL.md"})
    );
    world.write(".tekne/skills/.keep", "");
    let ran = world
        .run(&["skills", "new", "weekly-report", "--always"])
        .exits(0);
    assert_eq!(ran.stdout, ".tekne/skills/weekly-report/SKILL.md\n");
    let _ = world
        .run(&[
            "skills",
            "check",
            "--strict",
            "--require",
            "mine,weekly-report",
        ])
        .exits(0);
    let shown = world.run(&["skills", "show", "mine", "--json"]).json();
    assert_eq!(shown["description"], description);
    // Neither a file that is there nor a name outside the standard.
    let before = world.read(".tekne/skills/weekly-report/SKILL.md");
    let _ = world
        .run(&["skills", "new", "weekly-report"])
        .exits(2)
        .says(&["hint: choose another"]);
    assert_eq!(world.read(".tekne/skills/weekly-report/SKILL.md"), before);
    let _ = world
        .run(&["skills", "new", "../x"])
        .exits(2)
        .says(&["`../x`", "hint: "]);
}

pub(crate) const BROKEN: &str =
    "---\nname: pdf\ndescription: Use when: PDFs   \nlicense: MIT # kept\n---\n\nBody: x\n";

#[test]
fn fixing_shows_the_change_first_and_writes_nothing_else() {
    let world = World::new();
    world.write(".tekne/skills/pdf/SKILL.md", BROKEN);
    let fixed = BROKEN.replace(
        "description: Use when: PDFs   ",
        "description: \"Use when: PDFs\"",
    );
    let file = || world.read(".tekne/skills/pdf/SKILL.md").unwrap();
    // Nobody to ask: shown, not written.
    let ran = world.run(&["skills", "check", "--fix"]).exits(4);
    assert!(
        ran.stdout
            .contains("-description: Use when: PDFs   \n+description: \"Use when: PDFs\"\n"),
        "{ran:?}"
    );
    assert_eq!(file(), BROKEN);
    let mut terminal = Terminal::start(&mut world.command(&["skills", "check", "--fix"]));
    terminal.sees("write this to 1 file? [y/N] ");
    terminal.types("n\n");
    assert_eq!((terminal.end().0, file().as_str()), (4, BROKEN));
    let ran = world
        .run(&["skills", "check", "--fix", "--yes", "--strict", "--json"])
        .exits(0);
    assert_eq!(ran.json()["fixes"][0]["written"], true);
    assert_eq!(file(), fixed);
    // There is nothing left to do.
    let ran = world.run(&["skills", "check", "--fix", "--json"]).exits(0);
    assert_eq!(ran.json()["fixes"], json!([]));
}

#[test]
fn a_registered_skill_is_there_in_every_project_and_every_attempt_is_recorded() {
    let world = World::new();
    let package = "packages/pdf/SKILL.md";
    let text = |version: &str| {
        format!("---\nname: pdf\ndescription: d\nversion: {version}\n---\nbody {version}\n")
    };
    world.write(package, text("1.9"));
    let ran = world
        .run(&["skills", "register", "packages/pdf", "--json"])
        .exits(0);
    insta::assert_json_snapshot!(
        "register",
        document(&world, &ran)["registered"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>()
    );
    world.write(package, text("1.10"));
    let _ = world
        .run(&["skills", "register", "packages/pdf"])
        .exits(0)
        .says(&["registered pdf@1.10"]);
    let ran = world
        .run(&["skills", "register", "packages/pdf", "--json"])
        .exits(2);
    assert_eq!(ran.json()["error"]["code"], "skill_conflict");
    std::fs::remove_dir_all(world.work().join("packages")).unwrap();
    let body = |name: &str| {
        let ran = world.run(&["skills", "show", name, "--json"]).exits(0);
        ran.json()["body"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (body("pdf"), body("pdf@1.9")),
        ("body 1.10".into(), "body 1.9".into())
    );
    // Off, and on again: the highest version that is on holds the name meanwhile.
    let ran = world.run(&["skills", "disable", "pdf@1.10", "--json"]);
    assert_eq!(ran.exits(0).json(), json!({"v": 1, "disabled": 1}));
    assert_eq!(body("pdf"), "body 1.9");
    assert_eq!(
        why(&world, "pdf@1.10"),
        (
            "hidden".into(),
            "it is registered and switched off; `tekne skills enable pdf@1.10`".into()
        )
    );
    let _ = world.run(&["skills", "enable", "pdf@1.10"]).exits(0);
    assert_eq!(body("pdf"), "body 1.10");
    let ran = world
        .run(&["skills", "disable", "pdf@7", "--json"])
        .exits(2);
    assert_eq!(ran.json()["error"]["code"], "not_registered");
    let ran = world
        .run(&["skills", "unregister", "pdf@1.10", "--json"])
        .exits(0);
    assert_eq!(ran.json(), json!({"v": 1, "unregistered": 1}));
    assert_eq!(body("pdf"), "body 1.9");
    let _ = world
        .run(&["skills", "unregister", "missing"])
        .exits(0)
        .says(&["was not registered"]);
    let audit = std::fs::read(world.path("home/.local/share/tekne/audit.db")).unwrap();
    let audit = String::from_utf8_lossy(&audit).into_owned()
        + &String::from_utf8_lossy(
            &std::fs::read(world.path("home/.local/share/tekne/audit.db-wal")).unwrap_or_default(),
        );
    for part in [
        "conflict",
        "pdf@1.10",
        "unregister",
        "local user",
        "disable",
        "enable",
    ] {
        assert!(audit.contains(part), "no `{part}`");
    }
}

#[test]
fn a_lock_holds_what_it_lists_and_a_change_is_shown_before_it_is_locked() {
    let world = World::new();
    world.skill("pdf", "Reads.", "one\n");
    let _ = world.run(&["skills", "lock", "--check"]).exits(3);
    let ran = world.run(&["skills", "lock", "--json"]).exits(0);
    insta::assert_json_snapshot!("lock", document(&world, &ran));
    let locked = world.read("skills.lock").unwrap();
    let _ = world.run(&["skills", "lock", "--check"]).exits(0);
    world.skill("pdf", "Reads.", "two\n");
    assert_eq!(why(&world, "pdf").0, "pending");
    let ran = world.run(&["skills", "lock"]).exits(4);
    assert!(
        ran.stdout.contains("-one\n") && ran.stdout.contains("+two\n"),
        "{ran:?}"
    );
    assert_eq!(world.read("skills.lock").unwrap(), locked);
    let _ = world.run(&["skills", "lock", "--yes"]).exits(0);
    assert_eq!(why(&world, "pdf").0, "listed");
    // The same files give the same lock.
    world.skill("pdf", "Reads.", "one\n");
    let _ = world.run(&["skills", "lock", "--yes"]).exits(0);
    assert_eq!(world.read("skills.lock").unwrap(), locked);
    // A new skill only adds to it.
    world.skill("new", "Writes.", "three\n");
    let _ = world
        .run(&["skills", "lock"])
        .exits(0)
        .says(&["locked 2 skills"]);
    world.write("skills.lock", "{");
    assert_eq!(why(&world, "pdf").0, "pending");
}

#[test]
fn a_model_writes_a_skill_that_the_next_run_lists() {
    let world = World::new();
    world.write(".tekne/skills/.keep", "");
    let arguments = json!({
        "id": "weekly-report", "name": "Weekly: report", "description": "Use when: a week ends.",
        "body": "# Steps\n\n1. Gather.\n", "load": "lazy",
    });
    let run = |options: &[&str]| {
        let call = ("create_skill", arguments.clone());
        let server = Server::start(vec![Answer::Calls(vec![call]), Answer::Text("done")]);
        let model = [
            "--model",
            "mock/m",
            "--base-url",
            server.base_url.as_str(),
            "run",
        ];
        world
            .run(&[&model[..], options, &["Keep this"]].concat())
            .exits(0)
    };
    let _ = run(&[]);
    assert_eq!(world.read(".tekne/skills/weekly-report/SKILL.md"), None);
    let _ = run(&["--yes", "tool(create_skill)"]);
    let ran = world
        .run(&["skills", "show", "weekly-report", "--json"])
        .exits(0);
    assert_eq!(ran.json()["description"], "Use when: a week ends.");
    let _ = world.run(&["skills", "check", "--strict"]).exits(0);
}

#[test]
fn a_check_that_mends_nothing_prints_one_document() {
    let world = World::new();
    world.write(
        ".tekne/skills/a/SKILL.md",
        "---\nname: a\ndescription: Use when: x\n---\nbody\n",
    );
    let ran = world.run(&["skills", "check", "--fix", "--json"]).exits(4);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("nothing was written"), "{ran:?}");
}

#[test]
fn a_strict_check_asks_what_the_standard_s_validator_asks() {
    let world = World::new();
    let file = |keys: &str| {
        let text = format!("---\nname: a\ndescription: d\n{keys}---\nbody\n");
        world.write(".tekne/skills/a/SKILL.md", text);
    };
    file("version: 1.2\nallowed-tools: [Read]\n");
    let ran = world.run(&["skills", "check", "--json"]).exits(0);
    assert_eq!(ran.json()["files"][0]["verdict"], "loaded");
    let ran = world.run(&["skills", "check", "--strict"]).exits(3);
    for said in [
        "a/SKILL.md: repaired\n",
        "a/SKILL.md:4:1: warning[SK054]: `version` is no key of the standard",
        "  fix: metadata:\n         version: \"1.2\"\n",
        "a/SKILL.md:5:16: warning[SK054]: a list in `[…]`",
    ] {
        assert!(ran.stdout.contains(said), "{ran:?}");
    }
    file("metadata:\n  version: \"1.2\"\nallowed-tools: Read\n");
    let _ = world.run(&["skills", "check", "--strict"]).exits(0);
}

#[test]
fn stats_count_what_a_request_shows_and_not_what_it_could() {
    let world = World::new();
    for number in 0..60 {
        world.skill(&format!("skill-{number}"), "Use when it fits.", "Do it.\n");
    }
    let totals = &world.run(&["skills", "stats", "--json"]).exits(0).json()["totals"];
    // So many are searched, not listed.
    assert_eq!(
        (&totals["listed"], &totals["disclosed"]),
        (&json!(0), &json!(0))
    );
    assert!(totals["metadata"].as_u64().unwrap() > 500, "{totals}");
}

#[test]
fn a_check_of_a_folder_says_nothing_of_what_is_built_in() {
    let world = World::new();
    std::fs::create_dir_all(world.work().join("empty")).unwrap();
    let checked = world
        .run(&["skills", "check", "empty", "--json"])
        .exits(0)
        .json();
    assert_eq!(checked["summary"]["files"], 0);
}
