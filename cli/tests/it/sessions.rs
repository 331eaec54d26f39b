//! Sessions are taken elsewhere and deleted: `sessions export` and `sessions delete`.

use serde_json::json;

use crate::harness::World;

fn with_sessions(count: usize) -> (World, Vec<String>) {
    let world = World::new();
    let ids = (0..count).map(|_| {
        let _ = world
            .run(&["--model", "offline", "run", "Say something"])
            .exits(0);
        world.last_session()
    });
    let ids = ids.collect();
    (world, ids)
}

#[test]
fn an_export_holds_every_event_of_the_journal_with_its_version() {
    let (world, ids) = with_sessions(1);
    let shown = world.run(&["sessions", "show", "last", "--json"]).json();
    let exported = world.run(&["sessions", "export", "last"]).exits(0);
    let lines = exported.lines();
    assert_eq!(lines[0], json!({"v": 1, "session": shown["session"]}));
    let events = shown["events"].as_array().unwrap();
    assert_eq!(lines.len(), events.len() + 1);
    for (line, event) in lines[1..].iter().zip(events) {
        let mut expected = event.clone();
        expected["v"] = json!(1);
        assert_eq!(*line, expected);
    }
    let written = world
        .run(&["sessions", "export", &ids[0], "--out", "session.jsonl"])
        .exits(0)
        .says(&["written to", "session.jsonl"]);
    assert_eq!(written.stdout, "");
    assert_eq!(world.read("session.jsonl").unwrap(), exported.stdout);
    let _ = world
        .run(&["sessions", "export", "last", "--out", "no/such/folder"])
        .exits(2)
        .says(&["the session cannot be written", "no/such/folder"]);
    let _ = world
        .run(&["sessions", "export", "nope"])
        .exits(2)
        .says(&["no session `nope`"]);
}

#[test]
fn nothing_is_deleted_without_an_answer_and_all_that_is_named_with_one() {
    let (world, ids) = with_sessions(3);
    let _ = world
        .run(&["sessions", "delete", &ids[0]])
        .exits(4)
        .says(&["not deleted", "--yes"]);
    let _ = world
        .run(&["sessions", "delete", &ids[0], "nope", "--yes"])
        .exits(2)
        .says(&["no session `nope`"]);
    let list = || world.run(&["sessions", "list", "--json"]).json()["sessions"].clone();
    assert_eq!(list().as_array().unwrap().len(), 3);
    let _ = world
        .run(&["sessions", "delete", &ids[0], &ids[1], &ids[1], "--yes"])
        .exits(0)
        .says(&[
            &format!("deleted {}", ids[0]),
            &format!("deleted {}", ids[1]),
        ]);
    let left = list();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["id"], json!(ids[2]));
    let deleted = world
        .run(&["--json", "sessions", "delete", "last", "--yes"])
        .exits(0)
        .json();
    assert_eq!(deleted["deleted"][0]["id"], json!(ids[2]));
    let _ = world.run(&["sessions", "show", &ids[2]]).exits(2);
}

#[test]
fn a_session_in_use_is_not_deleted_and_neither_is_what_was_named_with_it() {
    let (world, ids) = with_sessions(2);
    let locks = world.journal().with_extension("locks");
    std::fs::create_dir_all(&locks).unwrap();
    let held = std::fs::File::create(locks.join(&ids[1])).unwrap();
    held.try_lock().unwrap();
    let _ = world
        .run(&["sessions", "delete", &ids[0], &ids[1], "--yes"])
        .exits(1)
        .says(&["in use by another process"]);
    let listed = world.run(&["sessions", "list", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
}
