//! Ctrl-C and worse, in every phase of a turn: nothing is lost, and the session goes on.

use std::collections::BTreeSet;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Ran, World, wait_until};
use crate::server::{Answer, Server};
use crate::terminal::Terminal;

fn command(world: &World, server: &Server, arguments: &[&str]) -> Command {
    let mut all = vec!["--model", "mock/m", "--base-url", &server.base_url];
    all.extend(arguments);
    world.command(&all)
}

/// Starts a run and waits until its request has arrived.
fn asked(world: &World, server: &Server, how: &str) -> Child {
    let child = command(world, server, &["--json", how, "Do it"]).spawn();
    wait_until("the request", || !server.requests().is_empty());
    child.unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn end(world: &World, child: Child) -> Ran {
    world.ran(&child.wait_with_output().unwrap())
}

/// Asserts that the journal ends in an aborted turn and that the session goes on.
#[track_caller]
fn check_goes_on(world: &World) {
    let last = world.last_journal().pop().unwrap();
    assert_eq!(last["kind"], "turn_finished", "{last}");
    assert_eq!(last["outcome"], "aborted", "{last}");
    check_resumes(world);
}

/// Asserts that the session goes on, with a request that a provider would accept.
#[track_caller]
fn check_resumes(world: &World) {
    let server = Server::start(vec![Answer::Text("welcome back")]);
    let session = world.last_session();
    let resume = ["--json", "run", "--resume", &session, "Go on"];
    let ran = world.finish(&mut command(world, &server, &resume)).exits(0);
    assert_eq!(ran.event("turn.finished")["text"], "welcome back");
    let request = &server.requests()[0];
    assert!(request.to_string().contains("Do it"), "{request}");
    check_pairs(request);
}

/// Asserts that every call in a request has its result, and every result its call.
#[track_caller]
pub(crate) fn check_pairs(request: &Value) {
    let messages = request["messages"].as_array().unwrap();
    let calls = messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten()
        .map(|call| call["id"].as_str().unwrap());
    let results = messages
        .iter()
        .filter_map(|message| message["tool_call_id"].as_str());
    let (calls, results): (BTreeSet<_>, BTreeSet<_>) = (calls.collect(), results.collect());
    assert_eq!(calls, results, "{request:#}");
}

#[test]
fn an_interrupt_before_the_model_answers() {
    for how in ["run", "ask"] {
        let (world, server) = (World::new(), Server::start(vec![Answer::Hang]));
        let child = asked(&world, &server, how);
        send(&child, Signal::INT);
        let ran = end(&world, child).exits(130);
        assert_eq!(ran.event("turn.finished")["outcome"], "aborted");
        assert_eq!(ran.lines().pop().unwrap()["error"]["code"], "aborted");
        check_goes_on(&world);
    }
}

#[test]
fn an_interrupt_in_the_middle_of_an_answer_keeps_what_was_said() {
    let (world, server) = (
        World::new(),
        Server::start(vec![Answer::HangAfter("So far")]),
    );
    let arguments = ["run", "Do it"];
    let terminal = Terminal::start(&mut command(&world, &server, &arguments));
    terminal.sees("So far");
    terminal.signal(Signal::INT);
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("cancelled"), "{screen}");
    let journal = Value::from(world.last_journal()).to_string();
    assert!(journal.contains("So far"), "{journal}");
    check_goes_on(&world);
}

#[test]
fn an_interrupt_while_a_failed_request_waits_for_its_next_attempt() {
    let slow = Answer::Status(429, "retry-after: 45\r\n", "{}");
    let (world, server) = (World::new(), Server::start(vec![slow]));
    let child = asked(&world, &server, "run");
    std::thread::sleep(std::time::Duration::from_millis(200));
    send(&child, Signal::INT);
    let _ = end(&world, child).exits(130);
    check_goes_on(&world);
}

#[test]
fn an_interrupt_at_a_question_does_nothing_of_what_was_asked() {
    let call = ("write_file", json!({"path": "a.md", "content": "x"}));
    let (world, server) = (World::new(), Server::start(vec![Answer::Calls(vec![call])]));
    let terminal = Terminal::start(&mut command(&world, &server, &["run", "Do it"]));
    terminal.sees("allow this once?");
    terminal.signal(Signal::INT);
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(world.read("a.md"), None);
    check_goes_on(&world);
}

#[test]
fn an_interrupt_while_the_task_is_still_being_read() {
    let world = World::new();
    let mut command = world.command(&["--model", "offline", "run", "-"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    std::thread::sleep(std::time::Duration::from_millis(300));
    send(&child, Signal::INT);
    let _ = end(&world, child).exits(130);
    drop(stdin);
    assert!(!world.journal().exists());
}

#[test]
fn a_termination_ends_a_turn_in_order_as_well() {
    let (world, server) = (World::new(), Server::start(vec![Answer::Hang]));
    let child = asked(&world, &server, "run");
    send(&child, Signal::TERM);
    let _ = end(&world, child).exits(130);
    check_goes_on(&world);
}

#[test]
fn a_killed_run_goes_on_without_what_it_had_not_heard() {
    let (world, server) = (
        World::new(),
        Server::start(vec![Answer::HangAfter("So far")]),
    );
    let child = asked(&world, &server, "run");
    send(&child, Signal::KILL);
    let _ = end(&world, child).exits(137);
    check_resumes(&world);
    check_ended(&world);
}

#[test]
fn a_run_killed_at_a_question_has_done_nothing_and_says_so() {
    let call = ("write_file", json!({"path": "a.md", "content": "x"}));
    let (world, server) = (World::new(), Server::start(vec![Answer::Calls(vec![call])]));
    let terminal = Terminal::start(&mut command(&world, &server, &["run", "Do it"]));
    terminal.sees("allow this once?");
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.end().0, 137);
    check_resumes(&world);
    assert_eq!(world.read("a.md"), None);
    check_ended(&world);
}

/// Asserts that the turn a crash left open was closed before the next one began.
#[track_caller]
fn check_ended(world: &World) {
    let journal = world.last_journal();
    let outcomes = journal
        .iter()
        .filter(|event| event["kind"] == "turn_finished");
    let outcomes: Vec<&Value> = outcomes.map(|event| &event["outcome"]).collect();
    assert_eq!(outcomes, ["aborted", "completed"], "{journal:#?}");
}
