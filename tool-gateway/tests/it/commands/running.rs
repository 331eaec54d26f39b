//! What a program gets, what it may change, and what is reported.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use skill_core::CallStatus::{Error, Rejected, Success};
use tool_gateway::{Mode, SandboxNeed};

use super::{argv, gateway, gateway_with, launch, run};
use crate::support::*;

#[tokio::test]
async fn a_program_gets_its_arguments_as_they_are_and_no_shell_reads_them() {
    let root = tempfile::tempdir().unwrap();
    let words = [
        "echo",
        "$(touch P)",
        "`touch P`",
        "a;touch P",
        "*",
        "> P",
        "b c",
    ];
    let record = run(root.path(), &words).await;
    assert_eq!(
        brief(&record),
        (
            Success,
            None,
            "exit status: 0\n$(touch P) `touch P` a;touch P * > P b c\n"
        )
    );
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn how_it_ended_and_both_streams_are_reported() {
    let root = tempfile::tempdir().unwrap();
    let record = run(root.path(), &["sh", "-c", "echo out; echo err >&2; exit 3"]).await;
    assert_eq!(
        record.result.content,
        "exit status: 3\nout\n--- standard error\nerr\n"
    );
}

#[tokio::test]
async fn a_program_knows_nothing_of_the_environment_it_is_started_from() {
    let root = tempfile::tempdir().unwrap();
    let record = run(root.path(), &["env"]).await;
    let names: Vec<&str> = record
        .result
        .content
        .lines()
        .skip(1)
        .map(|line| line.split('=').next().unwrap())
        .collect();
    assert_eq!(names, ["LANG", "PATH", "TOOL_GATEWAY_CALL"]);
}

#[tokio::test]
async fn a_folder_to_run_in_can_narrow_the_workspace_and_never_leave_it() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    let gateway = gateway(root.path(), &["allow run(**)"]);
    let record = dispatch_one(
        &gateway,
        call("c1", "run_command", json!({"argv": ["pwd"], "cwd": "sub"})),
    )
    .await;
    assert!(
        record.result.content.ends_with("/sub\n"),
        "{}",
        record.result.content
    );
    for cwd in ["/", "..", "sub/../..", "none"] {
        let arguments = json!({"argv": ["touch", "P"], "cwd": cwd});
        let record = dispatch_one(&gateway, call("c1", "run_command", arguments)).await;
        assert_ne!(record.result.status, Success, "{cwd}");
    }
}

#[tokio::test]
async fn a_program_is_not_taken_from_the_workspace_nor_from_where_anybody_may_put_one() {
    let world = tempfile::tempdir().unwrap();
    let (root, open) = (world.path().join("ws"), world.path().join("open"));
    for folder in [&root, &open] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("cat"), "#!/bin/sh\necho planted\n").unwrap();
        fs::set_permissions(folder.join("cat"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(root.join("a"), "text").unwrap();
    let mut launch = launch();
    launch
        .search_path
        .splice(0..0, [open, root.clone(), ".".into()]);
    let gateway = gateway_with(
        &root,
        launch,
        Mode::Headless,
        &["allow run(cat)"],
        Answers::allow(),
    );
    let cat = |word: &str| call("c1", "run_command", argv(&[word, "a"]));
    let record = dispatch_one(&gateway, cat("cat")).await;
    assert_eq!(record.result.content, "exit status: 0\ntext\n");
    // The same name by another way is another program.
    for word in ["./cat", "/bin/../bin/cat"] {
        let record = dispatch_one(&gateway, cat(word)).await;
        assert_eq!(record.result.status, Rejected, "{word}");
    }
}

#[tokio::test]
async fn what_is_no_program_is_said_before_anybody_is_asked() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("text"), "").unwrap();
    let answers = Answers::allow();
    let gateway = gateway_with(
        root.path(),
        launch(),
        Mode::Interactive,
        &[],
        answers.clone(),
    );
    for (words, problem) in [
        (
            argv(&["no-such-program"]),
            "there is no program named `no-such-program`",
        ),
        (argv(&["./text"]), "there is no program at `./text`"),
        (
            argv(&[""]),
            "`argv` is empty: give the program and its arguments",
        ),
    ] {
        let record = dispatch_one(&gateway, call("c1", "run_command", words)).await;
        assert_eq!(
            (record.result.status, record.result.content.as_str()),
            (Error, problem)
        );
    }
    assert_eq!(answers.count(), 0);
}

#[tokio::test]
async fn a_program_writes_in_the_workspace_and_nowhere_else() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().join("ws");
    fs::create_dir(&root).unwrap();
    let outside = world.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    let line = format!(
        "echo in > inside; echo out > {0}; rm -f {0}; mkdir {0}.d",
        outside.display()
    );
    let record = run(&root, &["sh", "-c", &line]).await;
    assert_eq!(fs::read_to_string(root.join("inside")).unwrap(), "in\n");
    if record.result.content.contains("no sandbox") {
        eprintln!("left out: this kernel has no Landlock, and the result says so");
        return;
    }
    assert_eq!(
        fs::read_to_string(&outside).unwrap(),
        "kept",
        "{}",
        record.result.content
    );
    assert!(!world.path().join("outside.d").exists());
    let mut launch = launch();
    launch.sandbox.need = SandboxNeed::Off;
    let gateway = gateway_with(
        &root,
        launch,
        Mode::Headless,
        &["allow run(**)"],
        Answers::allow(),
    );
    dispatch_one(
        &gateway,
        call("c1", "run_command", argv(&["sh", "-c", &line])),
    )
    .await;
    assert!(
        !outside.exists(),
        "without a sandbox it is the user's own rights that count"
    );
}

#[tokio::test]
async fn a_program_cannot_signal_who_does_not_belong_to_it() {
    let root = tempfile::tempdir().unwrap();
    let mut other = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let line = format!("kill -9 {}", other.id());
    let record = run(root.path(), &["sh", "-c", &line]).await;
    let alive = other.try_wait().unwrap().is_none();
    other.kill().unwrap();
    other.wait().unwrap();
    if record.result.content.contains("sandbox") {
        eprintln!("left out: this kernel does not know the scope of signals");
        return;
    }
    assert!(alive, "{}", record.result.content);
}

#[tokio::test]
async fn a_denied_program_is_denied_behind_others_too() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("x"), "").unwrap();
    let gateway = gateway(root.path(), &["allow run(**)", "deny run(rm)"]);
    let attempts: &[&[&str]] = &[
        &["rm", "x"],
        &["/bin/rm", "x"],
        &["/bin/RM", "x"],
        &["env", "rm", "x"],
        &["env", "-S", "rm x"],
        &["timeout", "5", "nice", "setsid", "rm", "x"],
        &["sh", "-c", "true && rm x"],
        &["bash", "-c", "A=1 rm x"],
        &["find", ".", "-name", "x", "-exec", "rm", "{}", ";"],
    ];
    for words in attempts {
        let record = dispatch_one(&gateway, call("c1", "run_command", argv(words))).await;
        assert_eq!(record.result.status, Rejected, "{words:?}");
        assert!(root.path().join("x").exists(), "{words:?}");
    }
}
