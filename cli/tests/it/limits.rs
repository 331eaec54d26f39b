//! Limits and scenes of a turn, from the command line to the exit code.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};

fn run(world: &World, server: &Server, arguments: &[&str]) -> Ran {
    let mut all = vec!["--model", "local/some", "--base-url", &server.base_url];
    all.extend(arguments);
    world.run(&all)
}

fn outcome(ran: &Ran) -> Value {
    ran.event("turn.finished")["outcome"].clone()
}

fn read_file() -> Answer {
    Answer::Calls(vec![("read_file", json!({"path": "a.md"}))])
}

#[test]
fn a_model_that_goes_round_in_circles_is_stopped_with_exit_5_and_can_go_on() {
    let world = World::new();
    world.write("a.md", "text\n");
    let mut answers: Vec<Answer> = (0..4).map(|_| read_file()).collect();
    answers.push(Answer::Text("done"));
    let server = Server::start(answers);
    let ran = run(&world, &server, &["run", "--json", "go"]).exits(5);
    assert_eq!(outcome(&ran), "repeated_call");
    let document = ran.lines().pop().unwrap();
    assert_eq!(document["error"]["code"], "repeated_call");
    let ran = ran.says(&["goes round in circles", "--resume"]);
    let session = ran.event("session.started")["session"].clone();
    let resumed = ["run", "--resume", session.as_str().unwrap(), "go on"];
    let ran = run(&world, &server, &resumed).exits(0);
    assert_eq!(ran.stdout, "done\n");
}

#[test]
fn a_token_budget_too_small_for_the_request_sends_nothing() {
    let server = Server::start(vec![Answer::Text("never")]);
    let ran = run(
        &World::new(),
        &server,
        &["run", "--json", "--budget-tokens", "300", "go"],
    );
    let ran = ran.exits(5);
    assert_eq!(outcome(&ran), "budget");
    assert_eq!(server.requests().len(), 0);
    let _ = ran.says(&["a limit of the turn was reached", "of 300 for one turn"]);
}

#[test]
fn a_limit_of_tool_calls_in_the_configuration_holds() {
    let world = World::new();
    world.configure("limits: {tool_calls: 1}\n");
    world.write("a.md", "text\n");
    let server = Server::start(vec![read_file(), read_file()]);
    let ran = run(&world, &server, &["run", "--json", "go"]).exits(5);
    assert_eq!(outcome(&ran), "budget");
    assert!(!ran.stderr.contains("no effect"), "{ran:?}");
}

#[test]
fn a_limit_in_dollars_needs_a_price_and_then_the_cost_is_told() {
    let world = World::new();
    let budget = ["ask", "--json", "hello"];
    let arguments = [
        "--model",
        "openai/gpt-4o",
        "run",
        "--budget-usd",
        "1",
        "hello",
    ];
    let ran = world.finish(world.command(&arguments).env("OPENAI_API_KEY", "sk-x"));
    let _ = ran
        .exits(2)
        .says(&["the price of openai/gpt-4o is not known", "hint:"]);
    world.configure(
        "limits: {usd: 1}\nproviders: {local: {models: {some: {price: {input: 2, output: 10}}}}}\n",
    );
    let server = Server::start(vec![Answer::Text("hi")]);
    let ran = run(&world, &server, &budget).exits(0);
    assert!(ran.event("turn.finished")["cost_usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_task_loads_the_skill_that_it_names_with_a_slash_and_refuses_one_that_is_not_there() {
    let world = World::new();
    world.skill("weekly-review", "Writes the review.", "STEP ONE: read.\n");
    let server = Server::start(vec![Answer::Text("done")]);
    let ran = run(
        &world,
        &server,
        &["run", "--json", "/weekly-review for today"],
    )
    .exits(0);
    assert_eq!(ran.event("skill.opened")["via"], "declared");
    let request = server.requests().remove(0).to_string();
    assert_eq!(request.matches("STEP ONE").count(), 1, "{request}");
    let ran = run(&world, &server, &["run", "/weekly-revew for today"]).exits(2);
    let _ = ran.says(&["skill not found: weekly-revew; did you mean weekly-review?"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_completion_is_put_out_as_it_is_and_leaves_no_session() {
    let world = World::new();
    world.write("week.md", "- Mon: \n- Tue: tests\n");
    let server = Server::start(vec![Answer::Text("importer")]);
    let complete = ["complete", "--file", "week.md", "--offset", "7"];
    let ran = run(&world, &server, &complete).exits(0);
    assert_eq!(ran.stdout, "importer");
    let request = server.requests().remove(0);
    assert_eq!(request.get("tools"), None);
    assert!(!world.journal().exists());
}

#[test]
fn a_completion_says_what_is_wrong_with_its_file_its_offset_or_its_model() {
    let world = World::new();
    world.write("week.md", "周");
    for (arguments, said) in [
        (
            ["--file", "gone.md", "--offset", "0"],
            "cannot read the file",
        ),
        (
            ["--file", "week.md", "--offset", "1"],
            "no place in week.md",
        ),
        (["--file", "week.md", "--offset", "9"], "which has 3 bytes"),
        (["--file", ".", "--offset", "0"], "this is no file"),
        (["--file", "week.md", "--offset", "0"], "no language model"),
    ] {
        let mut all = vec!["--model", "offline", "complete"];
        all.extend(arguments);
        let _ = world.run(&all).exits(2).says(&[said]);
    }
}
