//! What a model may do: without somebody to ask, with rules, and never outside.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::run_calls;

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "written\n"}))
}

/// Returns the status and the content of every call, in the order of the calls.
fn results(ran: &Ran) -> Vec<(String, String)> {
    let lines = ran.lines().into_iter();
    let mut finished: Vec<Value> = lines
        .filter(|line| line["type"] == "tool.finished")
        .collect();
    finished.sort_by_key(|event| event["id"].as_str().map(str::to_owned));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    finished
        .iter()
        .map(|event| (text(&event["status"]), text(&event["content"])))
        .collect()
}

fn denied(ran: &Ran) -> u64 {
    ran.event("turn.finished")["denied"].as_u64().unwrap()
}

#[test]
fn a_write_that_nobody_can_be_asked_about_is_denied_and_the_run_goes_on() {
    let world = World::new();
    let ran = run_calls(&world, vec![write("notes/a.md")], &[]).exits(0);
    assert_eq!(denied(&ran), 1);
    assert_eq!(ran.event("turn.finished")["text"], "done");
    assert_eq!(world.read("notes/a.md"), None);
    let (status, content) = results(&ran).remove(0);
    assert_eq!(status, "rejected");
    assert!(content.contains("denied"), "{content}");
}

#[test]
fn a_denial_fails_the_run_where_that_is_asked_for() {
    let world = World::new();
    let ran = run_calls(&world, vec![write("a.md")], &["--fail-on-denied"]).exits(4);
    assert_eq!(ran.lines().pop().unwrap()["error"]["code"], "denied");
    let _ = ran.says(&["1 call denied", "hint: ", "--yes"]);
    let ran = run_calls(&world, vec![("list_dir", json!({}))], &["--fail-on-denied"]);
    assert_eq!(denied(&ran.exits(0)), 0);
}

#[test]
fn a_rule_for_one_run_allows_what_it_names_and_nothing_more() {
    let world = World::new();
    let calls = vec![write("notes/a.md"), write("other/b.md")];
    // As the README writes it: the rule, and then the task.
    let ran = run_calls(&world, calls, &["--yes", "write(notes/**)"]).exits(0);
    assert_eq!(denied(&ran), 1);
    assert_eq!(world.read("notes/a.md").as_deref(), Some("written\n"));
    assert_eq!(world.read("other/b.md"), None);
}

#[test]
fn rules_for_one_run_are_given_one_by_one() {
    let world = World::new();
    let rules = ["--yes", "write(a.md)", "--yes", "write(b.md)"];
    let ran = run_calls(&world, vec![write("a.md"), write("b.md")], &rules).exits(0);
    assert_eq!(denied(&ran), 0);
    let wrong = run_calls(&world, vec![write("a.md")], &["--yes", "fly(**)"]).exits(2);
    let _ = wrong.says(&[
        "--yes: ",
        "`fly`",
        "hint: a rule looks like `write(notes/**)`",
    ]);
}

#[test]
fn nothing_leads_outside_the_workspace_whatever_is_allowed() {
    let world = World::new();
    std::fs::write(world.path("secret.txt"), "the secret").unwrap();
    std::fs::create_dir(world.path("outside")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), world.work().join("link")).unwrap();
    std::os::unix::fs::symlink(world.path("secret.txt"), world.work().join("file")).unwrap();
    let absolute = world.path("secret.txt").display().to_string();
    let read = |path: &str| ("read_file", json!({ "path": path }));
    let calls = vec![
        read("../secret.txt"),
        read("file"),
        read("link/../../secret.txt"),
        ("read_file", json!({ "path": absolute })),
        ("list_dir", json!({"path": "link"})),
        ("search_files", json!({"pattern": "secret", "path": ".."})),
        write("../escaped.md"),
        write("link/escaped.md"),
    ];
    let count = calls.len();
    let ran = run_calls(&world, calls, &["--yes", "write(**)", "--yes", "read(**)"]).exits(0);
    let results = results(&ran);
    assert_eq!(results.len(), count);
    for (status, content) in &results {
        assert_ne!(status, "success", "{results:#?}");
        assert!(!content.contains("the secret"), "{results:#?}");
    }
    assert!(!world.path("escaped.md").exists());
    assert!(!world.path("outside/escaped.md").exists());
}

#[test]
fn skills_and_configuration_of_the_project_are_not_written_by_a_broad_rule() {
    let world = World::new();
    world.skill("one", "The one skill.", "Do.\n");
    let before = world.read(".tekne/skills/one/SKILL.md");
    let calls = vec![
        write(".tekne/skills/one/SKILL.md"),
        write(".tekne/config.yaml"),
        write(".git/hooks/pre-commit"),
    ];
    let ran = run_calls(&world, calls, &["--yes", "write(**)"]).exits(0);
    assert_eq!(denied(&ran), 3, "{ran:?}");
    assert_eq!(world.read(".tekne/skills/one/SKILL.md"), before);
    assert_eq!(world.read(".tekne/config.yaml"), None);
}

#[test]
fn a_tool_that_is_not_on_the_list_is_neither_offered_nor_run() {
    let world = World::new();
    world.write("notes.md", "a note");
    world.configure("tools:\n  allow: [read_file]\n  policy: [allow write(**)]\n");
    let read = ("read_file", json!({"path": "notes.md"}));
    let ran = run_calls(&world, vec![read, write("a.md")], &[]).exits(0);
    let results = results(&ran);
    assert_eq!(results[0], ("success".to_owned(), "a note".to_owned()));
    assert_ne!(results[1].0, "success", "{results:#?}");
    assert_eq!(world.read("a.md"), None);

    let prompt = world
        .run(&["--model", "offline", "prompt", "show", "--json", "x"])
        .exits(0);
    let tools = prompt.json()["request"]["tools"].clone();
    let names: Vec<&Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["read_file"]);
}

#[test]
fn deny_beats_allow_and_the_users_rules_hold_for_good() {
    let world = World::new();
    world.write("private/diary.md", "dear diary");
    world.configure("tools:\n  policy:\n    - allow write(**)\n    - deny read(private/**)\n");
    let read = ("read_file", json!({"path": "private/diary.md"}));
    let ran = run_calls(&world, vec![write("a.md"), read], &["--yes", "read(**)"]).exits(0);
    assert_eq!(world.read("a.md").as_deref(), Some("written\n"));
    assert_eq!(denied(&ran), 1);
    assert!(!results(&ran)[1].1.contains("dear diary"));
}

#[test]
fn a_project_can_narrow_what_is_allowed_but_not_widen_it() {
    let world = World::new();
    world.write("notes.md", "a note");
    world.write(
        ".tekne/config.yaml",
        "tools:\n  policy:\n    - allow write(**)\n    - deny read(**)\n",
    );
    let read = ("read_file", json!({"path": "notes.md"}));
    let ran = run_calls(&world, vec![write("a.md"), read], &[]).exits(0);
    assert_eq!(denied(&ran), 2, "{ran:?}");
    assert_eq!(world.read("a.md"), None);
    let config = world
        .path("home/.config/tekne/config.yaml")
        .display()
        .to_string();
    let _ = ran.says(&[
        "work/.tekne/config.yaml:3: `tools.policy[0]: allow write(**)` is ignored",
        &format!("write it to {config}"),
    ]);
}
