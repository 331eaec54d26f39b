//! The shapes that other programs rely on: `--json` of every command.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};

/// A workspace with a skill that is right, one that needs mending, and one that is shadowed.
fn world() -> World {
    let world = World::new();
    world.write(
        ".tekne/skills/tidy-up/SKILL.md",
        "---\nname: tidy-up\ndescription: Tidies a note. Use when asked to.\nmetadata:\n  version: \"1.2\"\n---\n\n1. Read `guide.md`.\n",
    );
    world.write(".tekne/skills/tidy-up/guide.md", "Be brief.\n");
    world.write(
        ".tekne/skills/colon/SKILL.md",
        "---\nname: colon\ndescription: Use when: asked.\n---\n\nDo.\n",
    );
    world.write(
        ".claude/skills/tidy-up/SKILL.md",
        "---\nname: tidy-up\ndescription: The other one.\n---\n\nDo.\n",
    );
    world.configure("model: offline\ntools:\n  policy: [deny write(**)]\n");
    world
}

/// Returns the document of a command as it may be compared.
#[track_caller]
fn document(world: &World, ran: &Ran) -> Value {
    assert_eq!(ran.stderr, "");
    let document = world.normal(&ran.json());
    assert_eq!(document["v"], 1);
    document
}

/// Leaves out the entries of a list that are built in: they have tests of their own.
fn without_built_in(mut document: Value, list: &str) -> Value {
    let entries = document[list].as_array_mut().unwrap();
    entries.retain(|entry| !entry["path"].as_str().unwrap().starts_with("builtin/"));
    document
}

#[test]
fn skills_list() {
    let world = world();
    let ran = world.run(&["skills", "list", "--json"]).exits(0);
    let document = without_built_in(document(&world, &ran), "skills");
    insta::assert_json_snapshot!(document);
}

#[test]
fn skills_show() {
    let world = world();
    let ran = world.run(&["skills", "show", "tidy-up", "--json"]).exits(0);
    insta::assert_json_snapshot!(document(&world, &ran));
}

#[test]
fn skills_check() {
    let world = world();
    let ran = world.run(&["skills", "check", "--json"]).exits(0);
    let mut document = without_built_in(document(&world, &ran), "files");
    let summary = document["summary"].as_object_mut().unwrap();
    // The built-in ones count as files that load.
    for count in ["files", "loaded"] {
        assert!(summary[count].as_u64().unwrap() > 0);
        summary[count] = "[count]".into();
    }
    insta::assert_json_snapshot!(document);
}

#[test]
fn prompt_show() {
    let world = world();
    let ran = world.run(&["prompt", "show", "--json", "Tidy up"]).exits(0);
    let mut document = document(&world, &ran);
    // What the texts say is for the golden prompts to hold.
    let request = document["request"].as_object_mut().unwrap();
    for text in request["system"].as_array_mut().unwrap() {
        assert!(text.is_string());
        *text = "[text]".into();
    }
    for tool in request["tools"].as_array_mut().unwrap() {
        assert!(tool["parameters"]["properties"].is_object());
        *tool = json!({"name": tool["name"], "description": "[text]", "parameters": "[schema]"});
    }
    insta::assert_json_snapshot!(document);
}

#[test]
fn sessions_list_and_show() {
    let world = world();
    let server = Server::start(vec![
        Answer::Calls(vec![
            ("open_skill", json!({"id": "tidy-up"})),
            ("write_file", json!({"path": "a.md", "content": "x"})),
        ]),
        Answer::Text("Done."),
    ]);
    let options = ["--model", "mock/m", "--base-url", &server.base_url];
    let _ = world
        .run(&[&options[..], &["run", "Tidy up"]].concat())
        .exits(0);
    let listed = world.run(&["sessions", "list", "--json"]).exits(0);
    insta::assert_json_snapshot!("sessions_list", document(&world, &listed));
    let shown = ["sessions", "show", &world.last_session(), "--json"];
    let shown = world.run(&shown).exits(0);
    let mut document = document(&world, &shown);
    // Calls that run side by side end in any order.
    let events = document["events"].as_array_mut().unwrap();
    let calls = |entry: &Value| {
        entry["event"]["kind"]
            .as_str()
            .unwrap()
            .starts_with("tool_")
    };
    let first = events.iter().position(calls).unwrap();
    let last = events.iter().rposition(calls).unwrap();
    events[first..=last].sort_by_key(|entry| entry["event"].to_string());
    for entry in events {
        entry["seq"] = "[seq]".into();
    }
    insta::assert_json_snapshot!("sessions_show", document);
}

#[test]
fn sessions_list_of_a_machine_without_any() {
    let world = World::new();
    let ran = world.run(&["sessions", "list", "--json"]).exits(0);
    assert_eq!(ran.json(), json!({"v": 1, "sessions": []}));
    let _ = world
        .run(&["sessions", "list"])
        .exits(0)
        .says(&["note: no sessions yet"]);
}

#[test]
fn config_show() {
    let world = world();
    world.write(
        ".tekne/config.yaml",
        "limits: {max_steps: 9}\ntools:\n  policy: [allow read(**), deny read(private/**)]\nproviders:\n  own: {base_url: 'http://127.0.0.1:1/v1'}\n",
    );
    let ran = world.run(&["config", "show", "--json"]).exits(0);
    insta::assert_json_snapshot!(document(&world, &ran));
    let shown = world.run(&["config", "show"]).exits(0);
    insta::assert_snapshot!("config_show_text", world.scrub(&shown.stdout));
}

#[test]
fn config_path() {
    let world = world();
    let ran = world.run(&["config", "path", "--json"]).exits(0);
    insta::assert_json_snapshot!(document(&world, &ran));
}

#[test]
fn config_schema() {
    let world = world();
    let ran = world.run(&["config", "schema", "--json"]).exits(0);
    let schema = document(&world, &ran)["schema"].clone();
    assert_eq!(schema["additionalProperties"], false);
    let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    insta::assert_json_snapshot!(keys);
    let plain = world.run(&["config", "schema"]).exits(0);
    assert_eq!(plain.json(), ran.json()["schema"]);
}

#[test]
fn doctor() {
    let world = world();
    let ran = world.run(&["doctor", "--json"]).exits(0);
    let mut document = document(&world, &ran);
    let checks = document["checks"].as_array_mut().unwrap();
    let skills = checks
        .iter_mut()
        .find(|check| check["name"] == "skills")
        .unwrap();
    assert!(
        skills["message"]
            .as_str()
            .unwrap()
            .ends_with(" usable, 0 files refused")
    );
    skills["message"] = "[count] usable, 0 files refused".into();
    insta::assert_json_snapshot!(document);
}

#[test]
fn init() {
    let world = World::new();
    let ran = world.run(&["init", "--json"]).exits(0);
    insta::assert_json_snapshot!(document(&world, &ran));
}

#[test]
fn ask() {
    let server = Server::start(vec![Answer::Text("Because.")]);
    let world = world();
    let options = ["--model", "mock/m", "--base-url", &server.base_url];
    let ran = world
        .run(&[&options[..], &["ask", "--json", "Why?"]].concat())
        .exits(0);
    let mut lines = ran.lines();
    for line in &mut lines {
        // The ledger has its shape in another test.
        if line["type"] == "prompt.compiled" {
            line["sections"] = "[sections]".into();
        }
    }
    insta::assert_snapshot!(crate::harness::event_lines(&world, &lines));
    let request = &server.requests()[0];
    assert!(request["tools"].is_null(), "{request:#}");
}

#[test]
fn errors() {
    let world = World::new();
    world.configure("modle: offline\n");
    let ran = world.run(&["skills", "list", "--json"]).exits(2);
    insta::assert_json_snapshot!("error_with_place", world.normal(&ran.json()));
    let ran = world.run(&["run", "--json"]).exits(2);
    insta::assert_json_snapshot!("error_of_usage", world.normal(&ran.json()));
}
