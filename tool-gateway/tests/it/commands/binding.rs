//! A yes to a program is a yes to its bytes, its folder and the files that it is given.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::CallStatus::{Rejected, Success};
use tool_gateway::{Approval, ApprovalRequest, Approver, CallRecord, Mode};

use super::{gateway_with, launch};
use crate::support::*;

/// Does something between the question and the yes.
struct Meanwhile<F>(F);

impl<F> std::fmt::Debug for Meanwhile<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

#[async_trait::async_trait]
impl<F: Fn() + Send + Sync> Approver for Meanwhile<F> {
    async fn decide(&self, _request: &ApprovalRequest) -> Approval {
        (self.0)();
        Approval::Allow
    }
}

fn script(path: &Path, mark: &str) {
    fs::write(path, format!("#!/bin/sh\ntouch {mark}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a call that is approved, with `meanwhile` before the yes.
async fn approved(
    root: &Path,
    arguments: Value,
    meanwhile: impl Fn() + Send + Sync + 'static,
) -> CallRecord {
    let approver = Arc::new(Meanwhile(meanwhile));
    let gateway = gateway_with(root, launch(), Mode::Interactive, &[], approver);
    dispatch_one(&gateway, call("c1", "run_command", arguments)).await
}

fn world() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    script(&root.path().join("build.sh"), "good");
    script(&root.path().join("evil.sh"), "bad");
    for folder in ["sub", "other"] {
        fs::create_dir(root.path().join(folder)).unwrap();
        script(&root.path().join(folder).join("run.sh"), "good");
    }
    script(&root.path().join("other/run.sh"), "bad");
    root
}

#[tokio::test]
async fn what_was_approved_runs() {
    for arguments in [
        json!({"argv": ["sh", "build.sh"]}),
        json!({"argv": ["./build.sh"]}),
        json!({"argv": ["./run.sh"], "cwd": "sub"}),
    ] {
        let root = world();
        let record = approved(root.path(), arguments, || {}).await;
        assert_eq!(record.result.status, Success, "{}", record.result.content);
        let ran = ["good", "sub/good"].map(|path| root.path().join(path).exists());
        assert!(ran.contains(&true));
    }
}

#[tokio::test]
async fn a_script_a_program_or_a_folder_swapped_after_the_question_does_not_run() {
    type Swap = fn(&Path);
    let cases: &[(Value, Swap)] = &[
        (json!({"argv": ["sh", "build.sh"]}), |root| {
            fs::copy(root.join("evil.sh"), root.join("build.sh")).unwrap();
        }),
        (json!({"argv": ["./build.sh"]}), |root| {
            fs::rename(root.join("evil.sh"), root.join("build.sh")).unwrap();
        }),
        (json!({"argv": ["sh", "build.sh"]}), |root| {
            fs::remove_file(root.join("build.sh")).unwrap();
            symlink("evil.sh", root.join("build.sh")).unwrap();
        }),
        (json!({"argv": ["sh", "./run.sh"], "cwd": "sub"}), |root| {
            fs::rename(root.join("sub"), root.join("away")).unwrap();
            fs::rename(root.join("other"), root.join("sub")).unwrap();
        }),
        (json!({"argv": ["sh", "./run.sh"], "cwd": "sub"}), |root| {
            fs::rename(root.join("sub"), root.join("away")).unwrap();
            symlink("other", root.join("sub")).unwrap();
        }),
        (
            json!({"argv": ["sh", "--init-file=build.sh", "build.sh"]}),
            |root| {
                fs::write(root.join("build.sh"), "touch bad").unwrap();
            },
        ),
    ];
    for (arguments, swap) in cases {
        let world = world();
        let (root, swap) = (world.path().to_owned(), *swap);
        let meanwhile = move || swap(&root);
        let record = approved(world.path(), arguments.clone(), meanwhile).await;
        assert_eq!(
            record.result.status, Rejected,
            "{arguments}: {}",
            record.result.content
        );
        for mark in [
            "good",
            "bad",
            "sub/good",
            "sub/bad",
            "other/bad",
            "away/good",
        ] {
            assert!(!world.path().join(mark).exists(), "{arguments} {mark}");
        }
    }
}

#[tokio::test]
async fn the_question_shows_every_word_apart_and_the_file_that_runs() {
    let root = world();
    let answers = Answers::allow();
    let gateway = gateway_with(
        root.path(),
        launch(),
        Mode::Interactive,
        &[],
        answers.clone(),
    );
    let arguments = json!({"argv": ["echo", "a b", "c\u{202e}d"], "cwd": "sub"});
    dispatch_one(&gateway, call("c1", "run_command", arguments)).await;
    let asked = answers.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.action, r#"run_command ["echo","a b","c\u{202E}d"]"#);
    let details = asked.details.unwrap();
    assert!(details.contains("/echo\nfolder: sub"), "{details}");
}
