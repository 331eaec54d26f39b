//! A yes to a change is a yes to that change, of that file, as it was shown.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skill_core::CallStatus::{Rejected, Success};
use tempfile::TempDir;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, CallRecord, Gateway, Mode, Policy, Workspace, builtins,
};

use crate::support::*;

/// Says yes after something else has written the file.
#[derive(Debug)]
struct Meanwhile {
    path: PathBuf,
    text: Option<&'static str>,
}

#[async_trait::async_trait]
impl Approver for Meanwhile {
    async fn decide(&self, _request: &ApprovalRequest) -> Approval {
        match self.text {
            Some(text) => fs::write(&self.path, text).unwrap(),
            None => fs::remove_file(&self.path).unwrap(),
        }
        Approval::Allow
    }
}

fn gateway(root: &Path, approver: Arc<dyn Approver>) -> Gateway {
    let workspace = Workspace::open(root).unwrap();
    Gateway::builder()
        .tools(builtins(&workspace))
        .policy(Policy::new(Mode::Interactive))
        .approver(approver)
        .build()
        .unwrap()
}

async fn write(gateway: &Gateway, path: &str) -> CallRecord {
    let arguments: Value = json!({"path": path, "content": "new\n"});
    dispatch_one(gateway, call("c1", "write_file", arguments)).await
}

/// Writes a file that held `before` while it is changed to `meanwhile`; returns the record and
/// what the file holds then.
async fn raced(
    before: Option<&str>,
    meanwhile: Option<&'static str>,
) -> (CallRecord, Option<String>) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.md");
    if let Some(before) = before {
        fs::write(&path, before).unwrap();
    }
    let approver = Meanwhile {
        path: path.clone(),
        text: meanwhile,
    };
    let record = write(&gateway(root.path(), Arc::new(approver)), "a.md").await;
    assert_eq!(
        fs::read_dir(root.path()).unwrap().count(),
        usize::from(path.exists())
    );
    (record, fs::read_to_string(path).ok())
}

#[tokio::test]
async fn a_file_that_changed_after_the_question_is_not_written() {
    for (before, meanwhile) in [
        (Some("old\n"), Some("other\n")),
        (Some("old\n"), None),
        (None, Some("other\n")),
        (Some(""), Some("x")),
    ] {
        let (record, after) = raced(before, meanwhile).await;
        assert_eq!(
            brief(&record),
            (
                Rejected,
                Some("denied"),
                "`a.md` changed after the change was decided on, so it was left as it is; read it again and call write_file again"
            )
        );
        assert_eq!(after.as_deref(), meanwhile);
    }
}

#[tokio::test]
async fn a_file_that_is_as_it_was_shown_is_written() {
    let (record, after) = raced(Some("old\n"), Some("old\n")).await;
    assert_eq!(record.result.status, Success, "{}", record.result.content);
    assert_eq!(after.as_deref(), Some("new\n"));
}

#[tokio::test]
async fn the_digest_that_is_approved_stands_for_the_old_text_too() {
    let digest = async |before: &str| {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.md"), before).unwrap();
        let answers = Answers::allow();
        let record = write(&gateway(root.path(), answers.clone()), "a.md").await;
        let asked = answers.asked.lock().unwrap()[0].arguments_digest.clone();
        assert_eq!(record.arguments_digest.as_ref(), Some(&asked));
        asked
    };
    let one = digest("one").await;
    assert_eq!(one, digest("one").await);
    assert_ne!(one, digest("two").await);
}

#[tokio::test]
async fn a_file_too_long_to_compare_is_shown_as_such_and_bound_all_the_same() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.md"), "x".repeat(600 * 1024)).unwrap();
    let answers = Answers::allow();
    let record = write(&gateway(root.path(), answers.clone()), "a.md").await;
    assert_eq!(record.result.status, Success);
    assert_eq!(
        answers.asked.lock().unwrap()[0].details.as_deref(),
        Some("(what is there cannot be compared; the new text:)\nnew\n")
    );
}

fn left(root: &TempDir, name: &str, age: Duration) {
    let file = File::create(root.path().join(name)).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - age).unwrap();
}

#[tokio::test]
async fn what_killed_writes_left_goes_with_the_next_write_and_nothing_else() {
    let (day, minute) = (Duration::from_secs(86_400), Duration::from_secs(60));
    let root = tempfile::tempdir().unwrap();
    left(&root, ".write-0123456789abcdef.tmp", day);
    left(&root, ".write-fedcba9876543210.tmp", minute);
    left(&root, ".write-mine.tmp", day);
    left(&root, ".write-0123456789ABCDEF.tmp", day);
    left(&root, "notes.tmp", day);
    fs::create_dir(root.path().join(".write-0000000000000000.tmp")).unwrap();
    let record = write(&gateway(root.path(), Answers::allow()), "a.md").await;
    assert_eq!(record.result.status, Success);
    let mut names: Vec<String> = fs::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ".write-0000000000000000.tmp",
            ".write-0123456789ABCDEF.tmp",
            ".write-fedcba9876543210.tmp",
            ".write-mine.tmp",
            "a.md",
            "notes.tmp"
        ]
    );
}
