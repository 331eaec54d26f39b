//! What comes with a task besides its words: mentions, the current file, instructions, notes, facts.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};

fn run(world: &World, server: &Server, arguments: &[&str]) -> Ran {
    let mut all = vec!["--model", "local/some", "--base-url", &server.base_url];
    all.extend(arguments);
    world.run(&all)
}

/// Returns everything a request says, by role.
fn said(request: &Value, role: &str) -> String {
    let messages = request["messages"].as_array().unwrap().iter();
    let of_role = messages.filter(|message| message["role"] == role);
    of_role
        .map(|message| message["content"].to_string())
        .collect()
}

#[test]
fn a_task_brings_what_it_mentions_the_current_file_and_the_instructions_of_the_project() {
    let world = World::new();
    world.write("AGENTS.md", "ALWAYS ANSWER IN RHYME\n");
    world.write(
        ".cursor/rules/notes.mdc",
        "---\nglobs: notes/**\n---\nNOTES HAVE TITLES\n",
    );
    world.write(
        ".cursor/rules/code.mdc",
        "---\nglobs: src/**\n---\nCODE HAS TESTS\n",
    );
    world.write("notes/week.md", "MONDAY\nTUESDAY\nWEDNESDAY\n");
    world.write("now.md", "THE OPEN FILE\n");
    let server = Server::start(vec![Answer::Text("done")]);
    let task = "sum up @notes/week.md:2-2 and @gone.md for ines@example.org";
    let ran = run(
        &world,
        &server,
        &["run", "--json", "--file", "now.md", task],
    )
    .exits(0);
    let request = server.requests().remove(0);
    let (system, user) = (said(&request, "system"), said(&request, "user"));
    assert!(system.contains("ALWAYS ANSWER IN RHYME"), "{system}");
    for part in [
        "TUESDAY",
        "THE OPEN FILE",
        "NOTES HAVE TITLES",
        "sum up @notes",
    ] {
        assert!(user.contains(part), "no {part} in {user}");
    }
    for part in ["MONDAY", "CODE HAS TESTS"] {
        assert!(!request.to_string().contains(part), "{part} in {request}");
    }
    let notice = ran.event("notice");
    assert_eq!(notice["code"], "context_degraded");
    let said = notice["message"].as_str().unwrap();
    assert!(said.contains("`@gone.md` is not in the request"), "{said}");
}

#[test]
fn what_the_policy_denies_and_what_lies_outside_is_in_no_context() {
    let world = World::new();
    world.configure("tools: {policy: [\"deny read(private/**)\"]}\ncontext: {recall: true}\n");
    world.write("private/plan.md", "the secret importer plan\n");
    std::fs::write(world.path("outside.md"), "OUTSIDE\n").unwrap();
    let server = Server::start(vec![Answer::Text("done")]);
    let task = "the importer plan: @private/plan.md and @../outside.md";
    let ran = run(&world, &server, &["run", "--json", task]).exits(0);
    let request = server.requests().remove(0).to_string();
    assert!(
        !request.contains("secret") && !request.contains("OUTSIDE"),
        "{request}"
    );
    let notices = ran
        .lines()
        .into_iter()
        .filter(|line| line["code"] == "context_degraded");
    assert_eq!(notices.count(), 2);
}

#[test]
fn notes_are_recalled_where_that_is_wanted_and_gone_when_their_file_is() {
    let world = World::new();
    world.write(
        "notes/importer.md",
        "# Importer\n\nThe importer reads CSV files.\n",
    );
    let answers = (0..3).map(|_| Answer::Text("done")).collect();
    let server = Server::start(answers);
    let task = ["ask", "which files does the importer read?"];
    let _ = run(&world, &server, &task).exits(0);
    world.configure("context: {recall: true}\n");
    let _ = run(&world, &server, &task).exits(0);
    std::fs::remove_file(world.work().join("notes/importer.md")).unwrap();
    let _ = run(&world, &server, &task).exits(0);
    let recalled: Vec<bool> = server
        .requests()
        .iter()
        .map(|request| request.to_string().contains("reads CSV"))
        .collect();
    assert_eq!(recalled, [false, true, false]);
}

#[test]
fn what_is_remembered_is_listed_and_taken_out_by_the_user() {
    let world = World::new();
    let remembers = Answer::Calls(vec![("remember", json!({"key": "name", "value": "Ines"}))]);
    let server = Server::start(vec![remembers, Answer::Text("noted")]);
    let _ = run(
        &world,
        &server,
        &["run", "--yes", "tool(remember)", "I am Ines"],
    )
    .exits(0);
    let listed = world.run(&["memory", "list", "--json"]).exits(0).json();
    assert_eq!(listed["facts"], json!([{"key": "name", "value": "Ines"}]));
    let _ = world.run(&["memory", "remove", "name"]).exits(0);
    let _ = world
        .run(&["memory", "remove", "name"])
        .exits(2)
        .says(&["nothing is remembered as `name`"]);
    let listed = world.run(&["memory", "list", "--json"]).exits(0).json();
    assert_eq!(listed["facts"], json!([]));
}

#[test]
fn a_model_has_a_part_of_its_task_done_by_a_sub_agent() {
    let world = World::new();
    world.write("a.md", "FROM THE FILE\n");
    let server = Server::start(vec![
        Answer::Calls(vec![(
            "delegate",
            json!({"task": "read a.md", "tools": ["read_file"]}),
        )]),
        Answer::Calls(vec![("read_file", json!({"path": "a.md"}))]),
        Answer::Text("the file says hello"),
        Answer::Text("all done"),
    ]);
    let ran = run(&world, &server, &["run", "go"]).exits(0);
    assert_eq!(ran.stdout, "all done\n");
    let requests = server.requests();
    assert!(requests[2].to_string().contains("FROM THE FILE"));
    assert!(requests[3].to_string().contains("the file says hello"));
    assert!(!requests[3].to_string().contains("FROM THE FILE"));
}

#[test]
fn a_long_session_is_summed_up_by_the_model_that_is_configured_for_it() {
    let world = World::new();
    let small = Server::start(vec![Answer::Text("NOTES OF THE SMALL ONE")]);
    world.configure(&format!(
        "context: {{window: 12000, reserve_output: 500, summariser: small/one}}\n\
         providers: {{small: {{protocol: openai-chat, base_url: \"{}\"}}}}\n",
        small.base_url
    ));
    let answers = (0..6).map(|_| Answer::Text("done")).collect();
    let server = Server::start(answers);
    let task = "a long task ".repeat(500);
    let _ = run(&world, &server, &["run", &task]).exits(0);
    for _ in 0..5 {
        let ran = run(
            &world,
            &server,
            &["run", "--json", "--resume", "last", &task],
        )
        .exits(0);
        if small.requests().is_empty() {
            continue;
        }
        let notices = ran
            .lines()
            .into_iter()
            .filter(|line| line["code"] == "compacted");
        assert_eq!(notices.count(), 1);
        let last = server.requests().pop().unwrap().to_string();
        assert!(last.contains("NOTES OF THE SMALL ONE"), "{last}");
        return;
    }
    panic!("nothing was summed up");
}
