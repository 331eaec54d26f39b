//! Somebody at a terminal is asked before something acts.

use serde_json::{Value, json};

use crate::harness::World;
use crate::server::{Answer, Server};
use crate::terminal::Terminal;

const ASKED: &str = "allow this once? [y/N] ";

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": content}))
}

fn start(world: &World, server: &Server) -> Terminal {
    let arguments = [
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "run",
        "Do it",
    ];
    Terminal::start(&mut world.command(&arguments))
}

fn one_write() -> Server {
    let calls = vec![write("notes/a.md", "first line\nsecond line\n")];
    Server::start(vec![Answer::Calls(calls), Answer::Text("finished")])
}

#[test]
fn the_question_shows_the_exact_action_and_yes_does_it() {
    let (world, server) = (World::new(), one_write());
    let mut terminal = start(&world, &server);
    terminal.sees(ASKED);
    let question = terminal.screen();
    for part in ["notes/a.md", "first line", "second line", "asked because: "] {
        assert!(question.contains(part), "no `{part}` in:\n{question}");
    }
    assert_eq!(world.read("notes/a.md"), None);
    terminal.types("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("finished"), "{screen}");
    let written = world.read("notes/a.md");
    assert_eq!(written.as_deref(), Some("first line\nsecond line\n"));
}

#[test]
fn anything_but_a_clear_yes_denies() {
    for answer in ["\n", "n\n", "sure\n", " yy\n"] {
        let (world, server) = (World::new(), one_write());
        let mut terminal = start(&world, &server);
        terminal.sees(ASKED);
        terminal.types(answer);
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{answer:?}: {screen}");
        assert_eq!(world.read("notes/a.md"), None, "{answer:?}");
        let result = server.requests()[1].to_string();
        assert!(result.contains("the user said"), "{answer:?}: {result}");
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let calls = Answer::Calls(vec![write("a.md", "x")]);
    let answers = vec![Answer::Held(Box::new(calls)), Answer::Text("finished")];
    let (world, server) = (World::new(), Server::start(answers));
    let mut terminal = start(&world, &server);
    crate::harness::wait_until("the first request", || !server.requests().is_empty());
    terminal.types("y\n");
    // The terminal shows what it took in, so it has it before the question comes.
    terminal.sees("y\n");
    server.release();
    terminal.sees(ASKED);
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(terminal.is_running());
    assert_eq!(world.read("a.md"), None);
    terminal.types("n\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.read("a.md"), None);
}

#[test]
fn each_of_two_actions_is_asked_about_by_itself() {
    let calls = Answer::Calls(vec![write("a.md", "x"), write("b.md", "x")]);
    let server = Server::start(vec![calls, Answer::Text("finished")]);
    let world = World::new();
    let mut terminal = start(&world, &server);
    terminal.sees(ASKED);
    assert!(
        !terminal.screen().contains("b.md\n  "),
        "{}",
        terminal.screen()
    );
    // A yes too many does not count for the question after it.
    terminal.types("y\ny\n");
    terminal.sees_times(ASKED, 2);
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(terminal.is_running(), "{}", terminal.screen());
    terminal.types("n\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let written = [world.read("a.md"), world.read("b.md")].map(|text| text.is_some());
    assert_eq!(
        written.iter().filter(|written| **written).count(),
        1,
        "{screen}"
    );
}

#[test]
fn an_unanswered_question_leaves_the_call_open_and_the_session_goes_on_later() {
    let (world, server) = (World::new(), one_write());
    let mut terminal = start(&world, &server);
    terminal.sees(ASKED);
    terminal.types("\u{4}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("a call waits for an approval"), "{screen}");
    assert!(screen.contains("--resume"), "{screen}");
    assert_eq!(world.read("notes/a.md"), None);

    let again = one_write();
    let session = world.last_session();
    let model = ["--model", "mock/m", "--base-url", &again.base_url];
    let resume = [
        "run",
        "--yes",
        "write(notes/**)",
        "--resume",
        &session,
        "Do it now",
    ];
    let ran = world.run(&[&model[..], &resume[..]].concat()).exits(0);
    assert_eq!(ran.stdout, "finished\n");
    assert!(world.read("notes/a.md").is_some());
    // Every call that the model made has a result in what it is shown.
    crate::interrupting::check_pairs(&again.requests()[0]);
}

#[test]
fn escape_sequences_in_an_action_are_shown_and_not_obeyed() {
    let calls = Answer::Calls(vec![write("a.md", "x\u{1b}[2K\u{1b}[1Aharmless\r")]);
    let server = Server::start(vec![calls, Answer::Text("finished")]);
    let world = World::new();
    let mut terminal = start(&world, &server);
    terminal.sees(ASKED);
    let screen = terminal.screen();
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
    assert!(screen.contains("\\u{1b}[2K"), "{screen:?}");
    terminal.types("n\n");
    assert_eq!(terminal.end().0, 0);
}
