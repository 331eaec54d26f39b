//! What is written, and what is asked before.

use std::fs;

use serde_json::json;
use tool_gateway::{Approval, Gateway, Mode, Policy, Workspace, builtins};

use super::{folder, gateway, problem, text};
use crate::support::*;

#[tokio::test]
async fn a_file_is_written_whole_with_the_folders_it_needs() {
    let root = folder(&[]);
    let written = text(
        &root,
        "write_file",
        json!({"path": "a/b/c.md", "content": "hello\n"}),
    )
    .await;
    assert_eq!(written, "created `a/b/c.md` (6 bytes)");
    let again = text(
        &root,
        "write_file",
        json!({"path": "a/b/c.md", "content": ""}),
    )
    .await;
    assert_eq!(again, "replaced `a/b/c.md` (0 bytes)");
    assert_eq!(
        fs::read_to_string(root.path().join("a/b/c.md")).unwrap(),
        ""
    );
    assert_eq!(
        fs::read_dir(root.path().join("a/b")).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_written_file_keeps_its_mode_and_a_read_only_one_its_content() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = folder(&[("run.sh", "old"), ("fixed", "old")]);
    let mode = |path: &str| {
        fs::metadata(root.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    let set = |path: &str, mode| {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode)).unwrap()
    };
    set("run.sh", 0o750);
    set("fixed", 0o444);
    text(
        &root,
        "write_file",
        json!({"path": "run.sh", "content": "new"}),
    )
    .await;
    assert_eq!(mode("run.sh"), 0o750);
    assert_eq!(
        problem(
            &root,
            "write_file",
            json!({"path": "fixed", "content": "new"})
        )
        .await,
        (
            Some("tool"),
            "`fixed` is read-only and was left as it is".into()
        )
    );
    assert_eq!(
        fs::read_to_string(root.path().join("fixed")).unwrap(),
        "old"
    );
}

#[tokio::test]
async fn a_write_that_cannot_happen_is_not_asked_about() {
    let root = folder(&[("d/f", "x")]);
    let answers = Answers::allow();
    let workspace = Workspace::open(root.path()).unwrap();
    let gateway = Gateway::builder()
        .tools(builtins(&workspace))
        .policy(Policy::new(Mode::Interactive))
        .approver(answers.clone())
        .build()
        .unwrap();
    for path in ["d", ".", "d/f/g", "../x"] {
        let record = dispatch_one(
            &gateway,
            call("c1", "write_file", json!({"path": path, "content": "x"})),
        )
        .await;
        assert!(record.result.is_error(), "{path}");
    }
    assert_eq!(answers.count(), 0);
}

#[tokio::test]
async fn an_approval_shows_the_resolved_path_and_the_difference() {
    let root = folder(&[("a.md", "one\ntwo\n")]);
    let answers = Answers::always(Approval::Deny {
        reason: "no".into(),
    });
    let workspace = Workspace::open(root.path()).unwrap();
    let gateway = Gateway::builder()
        .tools(builtins(&workspace))
        .policy(Policy::new(Mode::Interactive))
        .approver(answers.clone())
        .build()
        .unwrap();
    for (path, content) in [("x/../a.md", "one\n2\u{202e}\n"), ("b.md", "new\n")] {
        dispatch_one(
            &gateway,
            call(
                "c1",
                "write_file",
                json!({"path": path, "content": content}),
            ),
        )
        .await;
    }
    let asked = answers.asked.lock().unwrap();
    let digest = "a0adebb0381f009f7976bddee91c5a526fcc51534cb18e99ba2f82d46fdfe3fc";
    assert_eq!(
        asked[0].action,
        format!("write_file \"a.md\" (9 bytes, replaces the file, sha256 {digest})")
    );
    assert_eq!(
        asked[0].details.as_deref(),
        Some("--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\\u{202E}\n")
    );
    assert!(
        asked[1]
            .action
            .starts_with("write_file \"b.md\" (4 bytes, new file, sha256 ")
    );
    assert_eq!(asked[1].details.as_deref(), Some("new\n"));
    assert_eq!(
        asked[0].reason,
        "ask write(a.md): default for writing in the workspace"
    );
    assert!(!root.path().join("b.md").exists());
}

#[tokio::test]
async fn a_read_after_a_write_of_the_same_file_sees_it() {
    let root = folder(&[]);
    let gateway = gateway(root.path(), &["allow write(**)"]);
    let calls = [
        call("c1", "write_file", json!({"path": "a", "content": "1"})),
        call("c2", "read_file", json!({"path": "a"})),
        call("c3", "write_file", json!({"path": "a", "content": "2"})),
        call("c4", "search_files", json!({"pattern": "2"})),
    ];
    let records = gateway
        .dispatch(&calls, &context(), &Recorder::default())
        .await
        .unwrap();
    let contents: Vec<_> = records
        .iter()
        .map(|record| record.result.content.as_str())
        .collect();
    assert_eq!(
        contents,
        [
            "created `a` (1 bytes)",
            "1",
            "replaced `a` (1 bytes)",
            "a:1: 2"
        ]
    );
}
