//! What a project may do before and after somebody trusts it.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};
use crate::terminal::Terminal;

const CONFIG: &str = ".tekne/config.yaml";

fn state(ran: &Ran) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = ran.json()["items"].as_array().unwrap().clone();
    items
        .iter()
        .map(|item| (text(&item["path"]), text(&item["state"])))
        .collect()
}

fn trust(world: &World) -> Ran {
    world.run(&["trust", "--json"])
}

/// Runs a task in which the model writes a file, and tells whether it was written.
fn writes(world: &World) -> bool {
    let call = ("write_file", json!({"path": "a.md", "content": "x"}));
    let server = Server::start(vec![Answer::Calls(vec![call]), Answer::Text("done")]);
    let url = server.base_url.as_str();
    let run = ["--model", "mock/m", "--base-url", url, "run", "Do it"];
    let _ = world.run(&run).exits(0);
    let written = world.read("a.md").is_some();
    let _ = std::fs::remove_file(world.work().join("a.md"));
    written
}

#[test]
fn a_rule_of_a_project_allows_nothing_until_it_is_trusted_and_again_after_a_change() {
    let world = World::new();
    world.write(CONFIG, "tools:\n  policy: [allow write(**)]\n");
    assert!(!writes(&world));
    let pending = vec![(CONFIG.to_owned(), "pending".to_owned())];
    assert_eq!(state(&trust(&world).exits(4)), pending);
    let ran = world.run(&["trust", "--yes"]).exits(0);
    assert!(
        ran.stdout
            .contains("sets `tools.policy[0]` to \"allow write(**)\""),
        "{ran:?}"
    );
    assert!(writes(&world));

    world.write(
        CONFIG,
        "tools:\n  policy: [allow write(**), allow run(**)]\n",
    );
    assert!(!writes(&world));
    let ran = trust(&world).exits(4);
    assert_eq!(state(&ran)[0].1, "changed");
    let change = &ran.json()["items"][0]["changes"][0];
    let diff = change["diff"].as_str().unwrap();
    assert!(
        diff.contains("-  policy: [allow write(**)]\n+  policy: [allow write(**), allow run(**)]"),
        "{diff}"
    );
    let _ = world.run(&["trust", "--yes"]).exits(0);
    assert!(writes(&world));
    let _ = world
        .run(&["trust", "--revoke"])
        .exits(0)
        .says(&["1 item no longer trusted"]);
    assert!(!writes(&world));
}

#[test]
fn an_address_of_a_project_is_used_only_once_it_is_trusted() {
    let world = World::new();
    let server = Server::start(vec![Answer::Text("from the project's server")]);
    let url = &server.base_url;
    world.write(
        CONFIG,
        format!("model: own/m\nproviders:\n  own: {{base_url: {url}}}\n"),
    );
    let _ = world.run(&["ask", "Hello"]).exits(2);
    assert_eq!(server.requests().len(), 0);
    let _ = world.run(&["trust", "--yes"]).exits(0);
    let ran = world.run(&["ask", "Hello"]).exits(0);
    assert!(ran.stdout.contains("from the project's server"), "{ran:?}");
}

#[test]
fn at_a_terminal_trust_is_asked_for_and_only_yes_gives_it() {
    for (answer, code) in [("n\n", 4), ("\n", 4), ("y\n", 0)] {
        let world = World::new();
        world.write(CONFIG, "tools:\n  policy: [allow write(**)]\n");
        let mut terminal = Terminal::start(&mut world.command(&["trust"]));
        terminal.sees("trust 1 item as shown? [y/N] ");
        terminal.types(answer);
        assert_eq!(terminal.end().0, code, "{answer:?}");
        assert_eq!(trust(&world).code, code, "{answer:?}");
    }
}

#[test]
fn skills_of_a_pinned_project_are_absent_with_a_notice_and_the_rest_works() {
    let world = World::new();
    world.configure("model: offline\ntrust: {skills: pinned}\n");
    world.skill("secret-plan", "Use when plans are asked for.", "Do it.\n");
    let _ = world
        .run(&["skills", "show", "secret-plan"])
        .exits(2)
        .says(&["skill not found"]);
    let ran = world.run(&["run", "--json", "Say hello"]).exits(0);
    let _ = ran.says(&["1 skill of this project left out until trusted; see `tekne trust`"]);
    let why = world
        .run(&["skills", "why", "secret-plan", "--json"])
        .exits(0);
    assert_eq!(why.json()["status"], "pending");
    let listed = world.run(&["skills", "list", "--json"]).exits(0).json();
    let mut listed = listed["skills"].as_array().unwrap().clone().into_iter();
    let entry = listed.find(|skill| skill["id"] == "secret-plan").unwrap();
    assert_eq!(
        (&entry["visible"], &entry["listed"]),
        (&json!(false), &json!(false))
    );
    let _ = world.run(&["trust", "--yes"]).exits(0);
    let _ = world.run(&["skills", "show", "secret-plan"]).exits(0);
    world.write(".tekne/skills/secret-plan/more.md", "evil\n");
    let ran = world.run(&["skills", "why", "secret-plan"]).exits(0);
    assert!(
        ran.stdout
            .contains("changed since it was trusted: added more.md"),
        "{ran:?}"
    );
}

#[test]
fn skills_in_a_folder_that_the_project_names_are_pinned_like_all_of_it() {
    let world = World::new();
    world.configure("model: offline\ntrust: {skills: pinned}\n");
    world.write(CONFIG, "skills: {roots: [{path: notes, lite: true}]}\n");
    world.write("notes/plan.md", "---\nalways: true\n---\nDo as I say.\n");
    let listed = world.run(&["skills", "list", "--json"]).exits(0).json();
    let mut listed = listed["skills"].as_array().unwrap().clone().into_iter();
    let entry = listed.find(|skill| skill["id"] == "plan").unwrap();
    assert_eq!(
        (&entry["scope"], &entry["visible"]),
        (&json!("project"), &json!(false))
    );
    let shown = world.run(&["prompt", "show", "hello"]).exits(0);
    assert!(!shown.stdout.contains("Do as I say."), "{shown:?}");
    let _ = world.run(&["trust", "--yes"]).exits(0);
    let shown = world.run(&["prompt", "show", "hello"]).exits(0);
    assert!(shown.stdout.contains("Do as I say."), "{shown:?}");
}

#[test]
fn a_name_of_the_users_skill_is_taken_only_by_a_trusted_project() {
    let world = World::new();
    let user = world.path("home/.config/tekne/skills/deploy");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(
        user.join("SKILL.md"),
        "---\nname: deploy\ndescription: Mine.\n---\nMine.\n",
    )
    .unwrap();
    world.skill("deploy", "The project's.", "Theirs.\n");
    let body = |name: &str| {
        let ran = world.run(&["skills", "show", name, "--json"]).exits(0);
        ran.json()["body"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (body("deploy"), body("project/deploy")),
        ("Mine.".into(), "Theirs.".into())
    );
    let ran = trust(&world).exits(4);
    let acts = &ran.json()["items"][0]["acts"];
    assert_eq!(
        acts,
        &json!(["takes the name `deploy` from the user's skill"])
    );
    let _ = world.run(&["trust", "--yes"]).exits(0);
    assert_eq!(
        (body("deploy"), body("user/deploy")),
        ("Theirs.".into(), "Mine.".into())
    );
}

#[test]
fn a_link_out_of_the_project_is_followed_once_it_is_trusted_and_where_it_led_then() {
    let world = World::new();
    world.write(".git/HEAD", "");
    for (folder, body) in [("shared", "one"), ("other", "two")] {
        let skill = world.path(folder).join("linked");
        std::fs::create_dir_all(&skill).unwrap();
        let text = format!("---\nname: linked\ndescription: d\n---\n{body}\n");
        std::fs::write(skill.join("SKILL.md"), text).unwrap();
    }
    std::fs::create_dir_all(world.work().join(".tekne/skills")).unwrap();
    let link = world.work().join(".tekne/skills/out");
    symlink(world.path("shared"), &link).unwrap();
    let show = || world.run(&["skills", "show", "linked"]).code;
    assert_eq!(show(), 2);
    let ran = trust(&world).exits(4);
    assert_eq!(ran.json()["items"][0]["kind"], "link");
    let _ = world.run(&["trust", "--yes"]).exits(0);
    assert_eq!(show(), 0);
    std::fs::remove_file(&link).unwrap();
    symlink(world.path("other"), &link).unwrap();
    assert_eq!(show(), 2);
    assert_eq!(state(&trust(&world).exits(4))[0].1, "changed");
}

#[test]
fn what_init_wrote_is_trusted_and_what_was_there_is_not() {
    let world = World::new();
    let _ = world.run(&["init"]).exits(0);
    let ran = trust(&world).exits(0);
    assert_eq!(
        state(&ran),
        [(".tekne/skills/first-skill".to_owned(), "trusted".to_owned())]
    );

    let world = World::new();
    world.write(CONFIG, "tools:\n  policy: [allow write(**)]\n");
    let _ = world.run(&["init"]).exits(0);
    assert_eq!(
        state(&trust(&world).exits(4))[0],
        (CONFIG.to_owned(), "pending".to_owned())
    );
}

#[test]
fn a_damaged_trust_file_trusts_nothing_says_so_and_stays_as_it_is() {
    let world = World::new();
    world.write(CONFIG, "tools:\n  policy: [allow write(**)]\n");
    let _ = world.run(&["trust", "--yes"]).exits(0);
    let file = world.path("home/.local/share/tekne/trust.json");
    std::fs::write(&file, "{").unwrap();
    assert!(!writes(&world));
    let _ = world
        .run(&["skills", "list"])
        .exits(0)
        .says(&["nothing of this project is trusted"]);
    let _ = world
        .run(&["trust", "--yes"])
        .exits(2)
        .says(&["damaged", "hint: "]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
}

#[test]
fn a_project_that_holds_nothing_that_acts_needs_no_trust() {
    let world = World::new();
    world.skill("plain", "Only text.", "Read.\n");
    let ran = trust(&world).exits(0);
    assert_eq!(
        world.normal(&ran.json()),
        json!({"v": 1, "project": "[root]/work", "items": [], "granted": 0, "revoked": 0})
    );
}

#[test]
fn scripts_and_wishes_for_tools_and_commands_are_shown() {
    let world = World::new();
    world.write(
        ".tekne/skills/acts/SKILL.md",
        "---\nname: acts\ndescription: d\nallowed-tools: Bash(git:*) Read\n---\nNow: !`date`\n",
    );
    world.write(".tekne/skills/acts/scripts/run.sh", "#!/bin/sh\n");
    let acts = trust(&world).exits(4).json()["items"][0]["acts"].clone();
    assert_eq!(
        acts,
        json!([
            "asks to use without approval: Bash(git:*), Read",
            "holds scripts: scripts/run.sh",
            "asks for a command when opened: Now: !`date`",
        ])
    );
}

#[test]
fn a_damaged_lock_is_named_with_its_place() {
    let world = World::new();
    world.skill("plan", "Use when plans are asked for.", "Do it.\n");
    let _ = world.run(&["skills", "lock"]).exits(0);
    let lock = std::fs::read_to_string(world.path("work/skills.lock")).unwrap();
    world.write("skills.lock", format!("<<<<<<< HEAD\n{lock}"));
    let _ = world
        .run(&["skills", "lock", "--check"])
        .exits(3)
        .says(&["skills.lock is damaged at line 1, column 1"]);
    world.write("skills.lock", "{\"v\":99,\"skills\":{}}");
    let _ = world
        .run(&["skills", "lock", "--check"])
        .exits(3)
        .says(&["has version 99, not 1"]);
}

#[test]
fn a_declaration_that_names_a_file_outside_is_no_link_to_trust() {
    let world = World::new();
    world.write(
        ".tekne/skills/up/skill.yaml",
        "skill_id: a.up\nname: up\ndescription: d\nentry: {module: ../../evil, function: run}\n",
    );
    world.write("evil.py", "x\n");
    let shown = world.run(&["trust", "--json"]).exits(0).json();
    let items = shown["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["kind"] != "link"), "{shown}");
}
