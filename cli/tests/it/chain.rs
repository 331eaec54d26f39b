//! The main job against a server of others: catalogue, skill, file, answer, and the journal of it.

use serde_json::{Value, json};

use crate::harness::{World, event_lines};
use crate::peers::{Peer, aimock};

const BODY: &str = "Read `notes/week.md` and sum it up in one sentence.\n";
const NOTE: &str = "Monday: the importer is done.\n";

/// A model that opens the skill, reads the file, and answers; then one more question.
fn fixtures() -> Value {
    json!([
        {"match": {"toolCallId": "call_read", "hasToolResult": true}, "response": {
            "content": "The importer was finished on Monday."}},
        {"match": {"toolCallId": "call_open", "hasToolResult": true}, "response": {
            "toolCalls": [{"id": "call_read", "name": "read_file", "arguments": {"path": "notes/week.md"}}]}},
        {"match": {"userMessage": "weekly review", "hasToolResult": false}, "response": {
            "content": "Let me look.",
            "toolCalls": [{"id": "call_open", "name": "open_skill", "arguments": {"id": "weekly-review"}}]}},
        {"match": {"userMessage": "who needs to know"}, "response": {"content": "Nobody but Ines."}}
    ])
}

fn world() -> World {
    let world = World::new();
    world.skill("weekly-review", "Writes the weekly review.", BODY);
    world.skill(
        "release-notes",
        "Drafts release notes.",
        "Read `CHANGES`.\n",
    );
    world.write("notes/week.md", NOTE);
    world
}

fn run(world: &World, peer: &Peer, arguments: &[&str]) -> crate::harness::Ran {
    let base_url = peer.base_url();
    let mut all = vec!["--model", "mock/gpt-4o", "--base-url", &base_url];
    all.extend(arguments);
    world.run(&all)
}

/// Returns all that a request says to the model in its messages, as one text.
fn said(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let texts = messages.iter().map(|message| match &message["content"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn the_model_goes_from_the_catalogue_to_the_skill_to_the_file_to_the_answer() {
    let Some(peer) = aimock(&fixtures()) else {
        return;
    };
    let world = world();
    let ran = run(&world, &peer, &["run", "--json", "Write the weekly review"]).exits(0);
    insta::assert_snapshot!("chain_events", event_lines(&world, &ran.lines()));

    let requests = peer.requests();
    assert_eq!(requests.len(), 3, "{requests:#?}");
    assert!(requests.iter().all(|request| request["stream"] == true));
    let [first, second, third] = [0, 1, 2].map(|index| said(&requests[index]));
    assert!(
        first.contains("- weekly-review: Writes the weekly review."),
        "{first}"
    );
    assert!(
        first.contains("- release-notes: Drafts release notes."),
        "{first}"
    );
    assert!(!first.contains(BODY.trim()), "{first}");
    assert_eq!(
        tool_names(&requests[0]),
        [
            "open_skill",
            "read_file",
            "list_dir",
            "search_files",
            "write_file",
            "edit_file",
            "move",
            "delete",
            "run_command",
            "read_output",
            "remember",
            "forget",
            "delegate",
            "create_skill"
        ]
    );
    assert!(second.contains("<skill id=\"weekly-review\""), "{second}");
    assert!(
        second.contains(BODY) && !second.contains(NOTE.trim()),
        "{second}"
    );
    assert!(
        third.contains(BODY) && third.contains(NOTE.trim()),
        "{third}"
    );
}

#[test]
fn the_journal_tells_it_afterwards_and_a_later_run_goes_on_with_it() {
    let Some(peer) = aimock(&fixtures()) else {
        return;
    };
    let world = world();
    let ran = run(&world, &peer, &["run", "Write the weekly review"]).exits(0);
    // A pipe gets the answer and nothing else; what was done on the way is told beside it.
    assert_eq!(ran.stdout, "The importer was finished on Monday.\n");
    insta::assert_snapshot!("chain_talk", world.scrub(&ran.stderr));

    let session = world.last_session();
    let shown = world.run(&["sessions", "show", &session]).exits(0);
    // The first two lines hold the time, and each call how long it took.
    let told = shown.stdout.lines().skip(2).map(without_duration);
    let told = told.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!("chain_journal", world.scrub(&told));

    let resumed = run(
        &world,
        &peer,
        &["run", "--resume", &session, "And who needs to know?"],
    );
    assert_eq!(resumed.exits(0).stdout, "Nobody but Ines.\n");
    let last = peer.requests().pop().unwrap();
    let said = said(&last);
    for earlier in [
        "Write the weekly review",
        BODY,
        NOTE.trim(),
        "finished on Monday",
    ] {
        assert!(said.contains(earlier), "no `{earlier}` in {said}");
    }
    assert_eq!(world.last_session(), session);
}

fn without_duration(line: &str) -> String {
    match line.split_once(" ms)") {
        Some((head, _)) => format!("{}([ms])", head.rsplit_once('(').unwrap().0),
        None => line.to_owned(),
    }
}
