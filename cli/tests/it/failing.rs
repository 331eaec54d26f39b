//! Servers that fail: cut, refuse, slow down, or are no model at all.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::peers::{aimock, llmock};
use crate::server::{Answer, Server};

const KEY: &str = "sk-wrong-key-0123456789";

fn run(world: &World, base_url: &str, arguments: &[&str]) -> Ran {
    let mut all = vec!["--model", "openai/gpt-4o", "--base-url", base_url];
    all.extend(arguments);
    world.finish(world.command(&all).env("OPENAI_API_KEY", KEY))
}

fn outcome(ran: &Ran) -> String {
    let finished = ran.event("turn.finished");
    finished["outcome"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_cut_by_the_server_is_kept_and_not_asked_for_again() {
    let Some(peer) = aimock(&json!([
        {"match": {"userMessage": "hello"}, "truncateAfterChunks": 3, "latency": 5,
         "response": {"content": "This answer is cut before it comes to its end."}}
    ])) else {
        return;
    };
    let world = World::new();
    let ran = run(&world, &peer.base_url(), &["run", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "truncated");
    let text = ran.event("turn.finished")["text"].clone();
    let text = text.as_str().unwrap();
    assert!(
        !text.is_empty() && "This answer is cut before it".starts_with(text),
        "{text}"
    );
    assert_eq!(peer.requests().len(), 1);
    let document = ran.lines().pop().unwrap();
    assert_eq!(document["error"]["code"], "truncated", "{document}");
    assert!(ran.says(&["the answer was cut", "hint: ", "--resume"]).code == 1);
}

#[test]
fn a_stream_cut_by_another_server_is_asked_for_once() {
    let Some(peer) = llmock() else { return };
    peer.behave(json!([
        {"type": "reply", "text": "one two three four five six"},
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 3},
    ]));
    let ran = run(&World::new(), &peer.base_url(), &["ask", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "truncated");
    // This server would have it asked for again; what was shown and done must not happen twice.
    let verdict = peer.verdict();
    assert!(verdict.contains("1 call(s), 1 attempt(s)"), "{verdict}");
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept_before_the_answer_comes() {
    let Some(peer) = llmock() else { return };
    peer.behave(json!([
        {"type": "fail", "status": 429, "retry_after": 1, "times": 1},
        {"type": "reply", "text": "now then"},
    ]));
    let ran = run(&World::new(), &peer.base_url(), &["run", "hello"]).exits(0);
    assert_eq!(ran.stdout, "now then\n");
    let verdict = peer.verdict();
    assert!(verdict.contains("PASS"), "{verdict}");
}

#[test]
fn a_wait_too_long_to_keep_ends_the_turn_at_once() {
    let slow = Answer::Status(429, "retry-after: 3600\r\n", "{}");
    let server = Server::start(vec![slow]);
    let ran = run(&World::new(), &server.base_url, &["run", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "error(rate_limited)");
    assert_eq!(server.requests().len(), 1);
    let _ = ran.says(&["answered 429", "hint: the provider asks to wait 3600 s"]);
}

#[test]
fn a_wrong_key_is_told_with_its_variable_and_without_the_key() {
    let Some(peer) = aimock(&json!([
        {"match": {"userMessage": "hello"}, "response": {"status": 401, "error": {
            "message": format!("Incorrect API key provided: {KEY}."), "type": "invalid_request_error",
            "code": "invalid_api_key"}}}
    ])) else {
        return;
    };
    let world = World::new();
    let ran = run(&world, &peer.base_url(), &["run", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "error(unauthorized)");
    assert_eq!(peer.requests().len(), 1);
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    let hint = "hint: check the key; it is usually in `OPENAI_API_KEY`";
    let _ = ran.says(&["answered 401", hint]);
    // The journal keeps the failed turn, and the key stands nowhere in it.
    let journal = Value::from(world.last_journal()).to_string();
    assert!(
        journal.contains("error(unauthorized)") && !journal.contains(KEY),
        "{journal}"
    );
}

#[test]
fn the_variable_of_a_provider_of_ones_own_is_named_too() {
    let server = Server::start(vec![Answer::Status(401, "", "{}")]);
    let world = World::new();
    let base_url = &server.base_url;
    world.configure(&format!(
        "providers:\n  acme: {{base_url: '{base_url}', api_key_env: ACME_KEY}}\nmodel: acme/large\n"
    ));
    let ran = world.finish(world.command(&["run", "hello"]).env("ACME_KEY", KEY));
    let _ = ran.exits(1).says(&["answered 401", "`ACME_KEY`"]);
}

#[test]
fn a_web_page_is_no_answer() {
    let page = "<!doctype html><title>Sign in</title><p>Welcome to the proxy</p>";
    let page = Answer::Status(200, "content-type: text/html\r\n", page);
    let server = Server::start(vec![page]);
    let ran = run(&World::new(), &server.base_url, &["run", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "error(protocol)");
    assert_eq!(server.requests().len(), 1);
    let _ = ran.says(&["/v1/chat/completions", "hint: "]);
}

#[test]
fn a_server_that_keeps_failing_is_asked_three_times() {
    let broken = || Answer::Status(503, "", "{}");
    let server = Server::start(vec![broken(), broken(), broken(), Answer::Text("late")]);
    let ran = run(&World::new(), &server.base_url, &["ask", "--json", "hello"]).exits(1);
    assert_eq!(outcome(&ran), "error(unavailable)");
    assert_eq!(server.requests().len(), 3);
}
