//! What is edited, moved and deleted, and what is left as it is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Rejected, Success};
use skill_core::Clock;
use tempfile::TempDir;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, CallRecord, Gateway, Mode, Trash, Workspace, builtins,
    delete,
};

use super::{folder, put};
use crate::support::*;

const ALL: &[&str] = &["allow write(**)", "allow delete(**)"];

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        1_700_000_000_000
    }

    fn monotonic_ms(&self) -> u64 {
        0
    }
}

fn gateway(root: &Path, mode: Mode, rules: &[&str], approver: Arc<dyn Approver>) -> Gateway {
    let workspace = Workspace::open(root).unwrap();
    let trash = Trash::new(root.with_extension("trash"), Arc::new(Still));
    Gateway::builder()
        .tools(builtins(&workspace))
        .tool(delete(&workspace, trash))
        .policy(policy(mode, rules))
        .approver(approver)
        .build()
        .unwrap()
}

/// A workspace whose trash goes with it.
fn world(files: &[(&str, &str)]) -> (TempDir, std::path::PathBuf) {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().join("ws");
    fs::create_dir(&root).unwrap();
    for (path, content) in files {
        put(&root, path, content);
    }
    (world, root)
}

async fn run(root: &Path, rules: &[&str], name: &str, arguments: Value) -> CallRecord {
    let gateway = gateway(root, Mode::Headless, rules, Answers::allow());
    dispatch_one(&gateway, call("c1", name, arguments)).await
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

async fn edit(before: &str, old: &str, new: &str) -> (CallRecord, String) {
    let root = folder(&[("a.md", before)]);
    let arguments = json!({"path": "a.md", "old": old, "new": new});
    let record = run(root.path(), ALL, "edit_file", arguments).await;
    (record, read(&root.path().join("a.md")).unwrap())
}

#[tokio::test]
async fn one_passage_is_replaced_and_all_else_stays_byte_for_byte() {
    let (record, after) = edit("a\r\n中文 b\tc\n\nno end", "b\tc", "d").await;
    assert_eq!(
        brief(&record),
        (Success, None, "edited `a.md` at line 2 (19 bytes, were 21)")
    );
    assert_eq!(after, "a\r\n中文 d\n\nno end");
}

#[tokio::test]
async fn a_passage_that_is_missing_or_not_unique_changes_nothing_and_says_why() {
    let cases = [
        (
            "a\nb\n",
            "c",
            "`old` does not occur in `a.md`; nothing changed",
        ),
        (
            "fn a() {\n    b();\n}\n",
            "fn a() {\n  b();",
            "`old` does not occur in `a.md`; line 1 differs from it in white space only; nothing changed",
        ),
        (
            "a\r\nb\r\n",
            "a\nb",
            "`old` does not occur in `a.md`; its lines end in CR LF, so write `\\r\\n` for each line end; nothing changed",
        ),
        (
            "x\ny\nx\n",
            "x",
            "`old` occurs 2 times in `a.md` (lines 1, 3); give more of the text around the one that is meant; nothing changed",
        ),
        (
            "aaa",
            "aa",
            "`old` occurs 2 times in `a.md` (lines 1, 1); give more of the text around the one that is meant; nothing changed",
        ),
        (
            "x",
            "",
            "`old` is empty: give the passage to replace, or use write_file for a new file",
        ),
        (
            "x",
            "new",
            "`old` and `new` are the same: there is nothing to change",
        ),
        ("x\0y", "x", "`a.md` is no UTF-8 text and cannot be edited"),
    ];
    for (before, old, problem) in cases {
        let (record, after) = edit(before, old, "new").await;
        assert_eq!(record.result.content, problem);
        assert_eq!((record.result.status, after.as_str()), (Error, before));
    }
}

/// Does something between the question and the yes.
struct Meanwhile<F>(F);

impl<F> std::fmt::Debug for Meanwhile<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

#[async_trait::async_trait]
impl<F: Fn(&ApprovalRequest) + Send + Sync> Approver for Meanwhile<F> {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        (self.0)(request);
        Approval::Allow
    }
}

#[tokio::test]
async fn an_edit_is_shown_as_a_diff_and_one_that_cannot_be_done_is_not_asked_about() {
    let root = folder(&[("a.md", "one\ntwo\n")]);
    let answers = Answers::allow();
    let gateway = gateway(root.path(), Mode::Interactive, &[], answers.clone());
    let arguments = json!({"path": "a.md", "old": "none", "new": "x"});
    let record = dispatch_one(&gateway, call("c1", "edit_file", arguments)).await;
    assert_eq!((record.result.status, answers.count()), (Error, 0));
    let arguments = json!({"path": "a.md", "old": "two", "new": "2"});
    dispatch_one(&gateway, call("c2", "edit_file", arguments)).await;
    let asked = answers.asked.lock().unwrap()[0].clone();
    assert!(
        asked
            .action
            .starts_with("edit_file \"a.md\" (line 2, then 6 bytes, sha256 ")
    );
    assert_eq!(
        asked.details.as_deref(),
        Some("--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    );
}

#[tokio::test]
async fn what_changes_between_question_and_yes_is_left_as_it_is() {
    let cases = [
        (
            "edit_file",
            json!({"path": "a.md", "old": "old", "new": "new"}),
        ),
        ("move", json!({"from": "a.md", "to": "b.md"})),
        ("delete", json!({"path": "a.md"})),
    ];
    for (name, arguments) in cases {
        for link in [false, true] {
            let (_world, root) = world(&[("a.md", "old"), ("other", "old")]);
            let path = root.join("a.md");
            let swap = path.clone();
            let approver = Meanwhile(move |_: &ApprovalRequest| {
                fs::remove_file(&swap).unwrap();
                if link {
                    symlink("other", &swap).unwrap();
                } else {
                    fs::write(&swap, "old, but another").unwrap();
                }
            });
            let gateway = gateway(&root, Mode::Interactive, &[], Arc::new(approver));
            let record = dispatch_one(&gateway, call("c1", name, arguments.clone())).await;
            assert_eq!(
                record.result.status, Rejected,
                "{name} {}",
                record.result.content
            );
            assert_eq!(read(&root.join("other")).as_deref(), Some("old"), "{name}");
            assert_eq!(path.is_symlink(), link, "{name}");
            assert!(!root.join("b.md").exists(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_move_takes_a_folder_along_and_never_replaces_anything() {
    let (_world, root) = world(&[("a/b/c.md", "c"), ("there", "t")]);
    let record = run(&root, ALL, "move", json!({"from": "a", "to": "x/y"})).await;
    assert_eq!(brief(&record), (Success, None, "moved `a` to `x/y`"));
    assert_eq!(read(&root.join("x/y/b/c.md")).as_deref(), Some("c"));
    assert!(!root.join("a").exists());
    let record = run(
        &root,
        ALL,
        "move",
        json!({"from": "x/y/b/c.md", "to": "there"}),
    )
    .await;
    assert_eq!(
        brief(&record),
        (
            Error,
            Some("invalid_arguments"),
            "there is something at `there` already, and it was left as it is; give a path at which nothing is"
        )
    );
    assert_eq!(read(&root.join("there")).as_deref(), Some("t"));
    let record = run(&root, ALL, "move", json!({"from": "x", "to": "x/z"})).await;
    assert_eq!(record.result.content, "`x` cannot be moved into itself");
}

#[tokio::test]
async fn what_is_deleted_is_in_the_trash_with_a_note_of_where_it_was() {
    let (_world, root) = world(&[("n/a.md", "1"), ("a.md", "2")]);
    let trash = root.with_extension("trash");
    let record = run(&root, ALL, "delete", json!({"path": "n"})).await;
    assert_eq!(
        brief(&record),
        (Success, None, "deleted `n`; it is in the trash as `n`")
    );
    run(&root, ALL, "delete", json!({"path": "a.md"})).await;
    put(&root, "a.md", "3");
    let record = run(&root, ALL, "delete", json!({"path": "a.md"})).await;
    assert_eq!(
        record.result.content,
        "deleted `a.md`; it is in the trash as `a.2.md`"
    );
    assert!(!root.join("a.md").exists() && !root.join("n").exists());
    assert_eq!(read(&trash.join("files/n/a.md")).as_deref(), Some("1"));
    assert_eq!(read(&trash.join("files/a.2.md")).as_deref(), Some("3"));
    let real = root.canonicalize().unwrap();
    assert_eq!(
        read(&trash.join("info/a.2.md.trashinfo")).unwrap(),
        format!(
            "[Trash Info]\nPath={}/a.md\nDeletionDate=2023-11-14T22:13:20\n",
            real.display()
        )
    );
}

#[tokio::test]
async fn a_link_goes_and_what_it_leads_to_stays() {
    let (world, root) = world(&[("kept/a.md", "a")]);
    symlink("kept", root.join("link")).unwrap();
    symlink(world.path(), root.join("out")).unwrap();
    for link in ["link", "out"] {
        let record = run(&root, ALL, "delete", json!({"path": link})).await;
        assert_eq!(record.result.status, Success, "{}", record.result.content);
        assert!(!root.join(link).is_symlink());
    }
    assert_eq!(read(&root.join("kept/a.md")).as_deref(), Some("a"));
}

#[tokio::test]
async fn what_leads_out_is_neither_moved_nor_deleted() {
    let (world, root) = world(&[("a", "a")]);
    fs::write(world.path().join("outside"), "o").unwrap();
    symlink(world.path(), root.join("up")).unwrap();
    let outside = world.path().join("outside").display().to_string();
    for arguments in [
        json!({"path": "../outside"}),
        json!({"path": "up/outside"}),
        json!({"path": outside}),
        json!({"path": "."}),
        json!({"path": "a/.."}),
        json!({"path": ""}),
        json!({"path": "/"}),
    ] {
        let record = run(&root, ALL, "delete", arguments.clone()).await;
        assert_ne!(record.result.status, Success, "{arguments}");
    }
    for (from, to) in [
        ("a", "../b"),
        ("a", "up/b"),
        ("../outside", "c"),
        ("up/outside", "c"),
    ] {
        let record = run(&root, ALL, "move", json!({"from": from, "to": to})).await;
        assert_ne!(record.result.status, Success, "{from} {to}");
    }
    assert_eq!(read(&world.path().join("outside")).as_deref(), Some("o"));
    assert_eq!(read(&root.join("a")).as_deref(), Some("a"));
}

#[tokio::test]
async fn a_rule_about_one_file_of_a_folder_holds_for_the_folder() {
    let files = &[
        ("a/private/key", "k"),
        ("a/open", "o"),
        ("a/.tekne/config.yaml", "c"),
    ];
    for (rules, name) in [
        (
            &[
                "allow write(**)",
                "allow delete(**)",
                "deny delete(a/private/**)",
            ],
            "delete",
        ),
        (
            &[
                "allow write(**)",
                "allow delete(**)",
                "deny delete(a/private/**)",
            ],
            "move",
        ),
        (
            &[
                "allow write(**)",
                "allow delete(**)",
                "deny read(a/private/**)",
            ],
            "move",
        ),
        (
            &[
                "allow write(**)",
                "allow delete(**)",
                "deny write(b/private/**)",
            ],
            "move",
        ),
        // What steers agents is in it: no broad rule opens that.
        (
            &["allow write(**)", "allow delete(**)", "allow read(**)"],
            "delete",
        ),
    ] {
        let (_world, root) = world(files);
        let arguments = match name {
            "move" => json!({"from": "a", "to": "b"}),
            _ => json!({"path": "a"}),
        };
        let record = run(&root, rules, name, arguments).await;
        assert_eq!(record.result.status, Rejected, "{rules:?} {name}");
        assert!(root.join("a/private/key").exists(), "{rules:?} {name}");
    }
}

#[tokio::test]
async fn a_folder_with_too_much_in_it_is_left_as_it_is() {
    let (_world, root) = world(&[]);
    fs::create_dir(root.join("big")).unwrap();
    for number in 0..1_001 {
        fs::write(root.join(format!("big/{number}")), "").unwrap();
    }
    let record = run(&root, ALL, "delete", json!({"path": "big"})).await;
    assert_eq!(
        record.result.content,
        "`big` holds more than 1000 files and folders; go on with the folders in it one by one"
    );
    assert_eq!(fs::read_dir(root.join("big")).unwrap().count(), 1_001);
}
