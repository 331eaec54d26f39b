//! What a search looks at and shows.

use serde_json::{Value, json};

use super::{folder, gateway, problem, put, text};
use crate::support::*;

#[tokio::test]
async fn matches_are_shown_with_path_and_line_in_a_fixed_order() {
    let root = folder(&[
        ("b.md", "the answer\nno\nThe answer again\n"),
        ("a/c.rs", "// answer\r\n"),
        ("a.md", "nothing"),
    ]);
    assert_eq!(
        text(&root, "search_files", json!({"pattern": "answer"})).await,
        "a/c.rs:1: // answer\nb.md:1: the answer\nb.md:3: The answer again"
    );
    for (arguments, expected) in [
        (
            json!({"pattern": "^the", "path": "b.md"}),
            "b.md:1: the answer",
        ),
        (
            json!({"pattern": "(?i)^the", "glob": "*.md"}),
            "b.md:1: the answer\nb.md:3: The answer again",
        ),
        (
            json!({"pattern": "answer", "glob": "a/**"}),
            "a/c.rs:1: // answer",
        ),
        (
            json!({"pattern": "answer", "path": "a"}),
            "a/c.rs:1: // answer",
        ),
        (json!({"pattern": "zebra"}), "[no match in 3 files]"),
    ] {
        assert_eq!(
            text(&root, "search_files", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn ignored_and_binary_files_and_the_git_folder_are_not_searched() {
    let root = folder(&[
        (".gitignore", "target/\n*.log\n"),
        ("target/x.rs", "needle"),
        ("y.log", "needle"),
        (".git/config", "needle"),
        (".github/ci.yml", "needle"),
        ("z.rs", "needle"),
    ]);
    put(root.path(), "binary", b"needle\x00needle");
    // The byte that shows it comes long after the first lines were searched.
    let late = [&b"needle\n".repeat(10)[..], &vec![b'\n'; 1 << 20], b"\0"].concat();
    put(root.path(), "late", &late);
    assert_eq!(
        text(&root, "search_files", json!({"pattern": "needle"})).await,
        ".github/ci.yml:1: needle\nz.rs:1: needle"
    );
    assert_eq!(
        text(
            &root,
            "search_files",
            json!({"pattern": "needle", "glob": "*.log"})
        )
        .await,
        "[no match in 0 files]"
    );
}

#[tokio::test]
async fn a_search_is_bounded_in_lines_and_in_their_length() {
    let root = folder(&[
        ("a", &"x\n".repeat(500)),
        ("b", &format!("{}end", "长".repeat(1000))),
    ]);
    let many = text(&root, "search_files", json!({"pattern": "x"})).await;
    let last = "[cut at 200 lines; narrow the pattern, the path or the glob]";
    assert_eq!(
        (many.lines().count(), many.lines().last()),
        (201, Some(last))
    );
    let long = text(&root, "search_files", json!({"pattern": "end"})).await;
    assert_eq!(long, format!("b:1: …{}end", "长".repeat(34)));
}

#[tokio::test]
async fn a_pattern_or_glob_that_cannot_be_read_says_where() {
    let root = folder(&[("a", "x")]);
    for (arguments, message) in [
        (
            json!({"pattern": "fo(o"}),
            "the pattern is not a regular expression: unclosed group at column 3",
        ),
        (
            json!({"pattern": "a{2,1}"}),
            "the pattern is not a regular expression: invalid repetition count range, the start must be <= the end at column 2",
        ),
    ] {
        let expected = (Some("invalid_arguments"), message.to_owned());
        assert_eq!(problem(&root, "search_files", arguments).await, expected);
    }
    let (kind, message) =
        problem(&root, "search_files", json!({"pattern": "a", "glob": "[x"})).await;
    assert_eq!(kind, Some("invalid_arguments"));
    assert!(message.starts_with("the glob is not valid: "), "{message}");
    assert_eq!(
        problem(&root, "search_files", json!({"pattern": "a", "path": "aa"})).await,
        (
            Some("not_found"),
            "nothing at `aa`; did you mean `a`?".into()
        )
    );
}

#[tokio::test]
async fn what_a_rule_denies_is_neither_read_nor_listed_nor_searched() {
    let root = folder(&[("secret/key", "needle"), ("open", "needle")]);
    let gateway = gateway(root.path(), &["deny read(secret/**)", "deny read(*.pem)"]);
    put(root.path(), "a.pem", "needle");
    let run = async |name: &str, arguments: Value| {
        dispatch_one(&gateway, call("c1", name, arguments)).await
    };
    assert_eq!(
        run("read_file", json!({"path": "secret/key"}))
            .await
            .error_kind,
        Some("denied")
    );
    assert_eq!(
        run("read_file", json!({"path": "SECRET/key"}))
            .await
            .error_kind,
        Some("denied")
    );
    assert_eq!(
        run("list_dir", json!({"path": "secret"})).await.error_kind,
        Some("denied")
    );
    assert_eq!(run("list_dir", json!({})).await.result.content, "open");
    let found = run("search_files", json!({"pattern": "needle"}))
        .await
        .result
        .content;
    assert_eq!(found, "open:1: needle");
}
