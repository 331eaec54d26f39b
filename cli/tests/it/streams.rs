//! Standard output, standard error, standard input, exit codes, and what `--help` promises.

use std::process::Stdio;

use serde_json::json;

use crate::harness::World;
use crate::server::{Answer, Server};

/// Every command with flags that its documentation names.
const HELP: &[(&[&str], &[&str])] = &[
    (
        &[],
        &[
            "init",
            "run",
            "ask",
            "skills",
            "prompt",
            "sessions",
            "config",
            "doctor",
            "Exit codes",
        ],
    ),
    (&["init"], &["never", "--json"]),
    (
        &["run"],
        &[
            "TASK",
            "--resume",
            "--max-steps",
            "--yes",
            "--fail-on-denied",
            "--skill",
            "-C",
        ],
    ),
    (&["ask"], &["QUESTION", "--resume", "--model", "--base-url"]),
    (&["skills"], &["list", "show", "check"]),
    (&["skills", "list"], &["--assistant", "--json"]),
    (&["skills", "show"], &["NAME"]),
    (&["skills", "check"], &["--strict", "--require"]),
    (&["prompt", "show"], &["TASK", "--preset", "--resume"]),
    (&["sessions", "list"], &["--limit"]),
    (&["sessions", "show"], &["ID"]),
    (&["config"], &["show", "path", "schema"]),
    (&["config", "show"], &["--config"]),
    (&["doctor"], &["--color", "--verbose"]),
];

#[test]
fn every_command_tells_its_flags() {
    let world = World::new();
    for (command, promised) in HELP {
        let ran = world.run(&[command, &["--help"][..]].concat()).exits(0);
        for word in *promised {
            assert!(
                ran.stdout.contains(word),
                "no `{word}` in the help of {command:?}:\n{ran:?}"
            );
        }
        assert_eq!(ran.stderr, "");
    }
    let version = world.run(&["--version"]).exits(0);
    assert_eq!(
        version.stdout,
        format!("tekne {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_exit_code_means_what_its_table_says() {
    let world = World::with_examples();
    world.write(".tekne/skills/broken/SKILL.md", "no front matter at all\n");
    let write = || ("write_file", json!({"path": "a.md", "content": "x"}));
    let calls = || Answer::Calls(vec![write()]);
    let done = || Answer::Text("done");
    let against = |answers: Vec<Answer>, arguments: &[&str]| {
        let server = Server::start(answers);
        let options = ["--model", "mock/m", "--base-url", &server.base_url];
        world.run(&[&options[..], arguments].concat()).code
    };
    let codes = [
        against(vec![done()], &["run", "x"]),
        against(vec![Answer::Status(400, "", "{}")], &["run", "x"]),
        against(vec![], &["run", "--unknown", "x"]),
        world.run(&["skills", "check"]).code,
        against(vec![calls(), done()], &["run", "--fail-on-denied", "x"]),
        against(vec![calls(), done()], &["run", "--max-steps", "1", "x"]),
    ];
    assert_eq!(codes, [0, 1, 2, 3, 4, 5]);
    assert_eq!(world.run(&[]).code, 2);
    assert_eq!(world.run(&["bogus"]).code, 2);
}

#[test]
fn nothing_is_coloured_where_nobody_looks_or_nobody_wants_it() {
    let world = World::with_examples();
    let commands: [&[&str]; 4] = [
        &["skills", "list"],
        &["--model", "offline", "run", "weekly review"],
        &["--help"],
        &["bogus"],
    ];
    for command in commands {
        let ran = world.finish(world.command(command).env("TERM", "xterm-256color"));
        assert!(
            !format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}'),
            "{ran:?}"
        );
    }
    // At a terminal, too.
    for command in commands {
        let mut command = world.command(command);
        command.env("TERM", "xterm-256color").env("NO_COLOR", "1");
        let (_, screen) = crate::terminal::Terminal::start(&mut command).end();
        assert!(!screen.contains('\u{1b}'), "{screen:?}");
        assert!(!screen.is_empty());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let world = World::with_examples();
    for (command, code) in [
        (&["skills", "list"][..], 0),
        (&["config", "schema"], 0),
        // A turn that nobody could read the answer of is no success, though nothing is said.
        (&["--model", "offline", "ask", "x"], 1),
        (&["--model", "offline", "run", "--json", "x"], 1),
    ] {
        let mut child = world.command(command).spawn().unwrap();
        // The reader leaves before a word was written, or after the first.
        drop(child.stdout.take());
        let ran = world.ran(&child.wait_with_output().unwrap()).exits(code);
        assert!(!ran.stderr.contains("error"), "{ran:?}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let world = World::with_examples();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = world.command(&["skills", "list"]);
    let ran = world.finish(command.stdout(Stdio::from(full))).exits(1);
    let _ = ran.says(&["cannot write to standard output", "No space left"]);
}

#[test]
fn a_dash_reads_the_task_from_standard_input() {
    let world = World::with_examples();
    for command in [&["run", "-"][..], &["ask", "-"], &["prompt", "show", "-"]] {
        let arguments = [&["--model", "offline"], command].concat();
        let task = "Write the weekly review\n";
        let ran = world.pipe(&arguments, task.as_bytes()).exits(0);
        assert!(ran.stdout.contains("weekly-review"), "{ran:?}");
    }
    let piped = world.last_journal();
    assert!(
        piped[0].to_string().contains("Write the weekly review"),
        "{piped:#?}"
    );
}

#[test]
fn a_task_that_is_no_text_or_none_is_refused() {
    let world = World::new();
    let run = ["--model", "offline", "run", "-"];
    let ran = world.pipe(&run, b"caf\xe9 au lait").exits(2);
    let _ = ran.says(&["standard input is not UTF-8 at byte 3", "hint: "]);
    for nothing in [&b""[..], b" \n\t"] {
        let _ = world
            .pipe(&run, nothing)
            .exits(2)
            .says(&["the task is empty", "hint: "]);
    }
    let ran = world.run(&["--model", "offline", "run", ""]).exits(2);
    let _ = ran.says(&["the task is empty", "hint: "]);
    assert!(!world.journal().exists());
}

#[test]
fn a_pipe_gets_the_answer_alone_and_a_person_sees_the_way_as_well() {
    let world = World::new();
    world.write("a.md", "text");
    let answers = || {
        let read = ("read_file", json!({"path": "a.md"}));
        Server::start(vec![Answer::Calls(vec![read]), Answer::Text("The answer.")])
    };
    let server = answers();
    let arguments = [
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "run",
        "x",
    ];
    let ran = world.run(&arguments).exits(0);
    assert_eq!(ran.stdout, "The answer.\n");
    assert_eq!(ran.stderr, "• read_file path=a.md\n");

    let server = answers();
    let arguments = [
        "--model",
        "mock/m",
        "--base-url",
        &server.base_url,
        "run",
        "x",
    ];
    let terminal = crate::terminal::Terminal::start(&mut world.command(&arguments));
    assert_eq!(
        terminal.end(),
        (0, "• read_file path=a.md\nThe answer.\n".to_owned())
    );
}
