//! The file tools on real folders.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Success};
use tempfile::TempDir;
use tool_gateway::{
    Approval, CallRecord, Gateway, MAX_OUTPUT_BYTES, Mode, Policy, Workspace, builtins,
};

use crate::support::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        put(root.path(), path, content);
    }
    root
}

fn put(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn gateway(root: &Path, rules: &[&str]) -> Gateway {
    let workspace = Workspace::open(root).unwrap();
    Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy(Mode::Headless, rules))
        .build()
        .unwrap()
}

async fn run(root: &TempDir, name: &str, arguments: Value) -> CallRecord {
    dispatch_one(
        &gateway(root.path(), &["allow write(**)"]),
        call("c1", name, arguments),
    )
    .await
}

/// Runs a call that must succeed and returns its text.
async fn text(root: &TempDir, name: &str, arguments: Value) -> String {
    let record = run(root, name, arguments).await;
    assert_eq!(record.result.status, Success, "{}", record.result.content);
    record.result.content
}

async fn problem(root: &TempDir, name: &str, arguments: Value) -> (Option<&'static str>, String) {
    let record = run(root, name, arguments).await;
    assert_eq!(record.result.status, Error, "{}", record.result.content);
    (record.error_kind, record.result.content)
}

#[test]
fn a_workspace_must_be_a_folder_that_exists() {
    let root = folder(&[("file", "x")]);
    let open = |path: &str| {
        Workspace::open(&root.path().join(path))
            .unwrap_err()
            .to_string()
    };
    let shown = |path: &str| root.path().join(path).display().to_string();
    assert_eq!(
        open("file"),
        format!("`{}` is a file, not a folder", shown("file"))
    );
    assert_eq!(open("none"), format!("nothing at `{}`", shown("none")));
}

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    for content in [
        "one\ntwo\n",
        "no line end",
        "\r\nmixed\rends\n\n",
        "中文 é 😀\n",
    ] {
        let root = folder(&[("a/b.txt", content)]);
        assert_eq!(
            text(&root, "read_file", json!({"path": "a/b.txt"})).await,
            content
        );
        assert_eq!(
            text(&root, "read_file", json!({"path": "./a//x/../b.txt"})).await,
            content
        );
        let absolute = root.path().join("a/b.txt");
        assert_eq!(
            text(&root, "read_file", json!({"path": absolute})).await,
            content
        );
    }
}

#[tokio::test]
async fn some_lines_of_a_file_are_read_and_how_to_read_on_is_said() {
    let root = folder(&[("a", "one\ntwo\nthree\nfour")]);
    for (arguments, expected) in [
        (json!({"path": "a", "offset": 3}), "three\nfour"),
        (
            json!({"path": "a", "limit": 2}),
            "one\ntwo\n[lines 1 to 2; the file goes on: read on with offset 3]",
        ),
        (
            json!({"path": "a", "offset": 2, "limit": 2}),
            "two\nthree\n[lines 2 to 3; the file goes on: read on with offset 4]",
        ),
        (json!({"path": "a", "offset": 4, "limit": 9}), "four"),
        (
            json!({"path": "a", "offset": 9}),
            "[the file has 4 lines; there is no line 9]",
        ),
    ] {
        assert_eq!(text(&root, "read_file", arguments).await, expected);
    }
    let empty = folder(&[("a", "")]);
    assert_eq!(
        text(&empty, "read_file", json!({"path": "a"})).await,
        "[the file is empty]"
    );
}

#[tokio::test]
async fn reading_on_reaches_every_line_of_a_long_file_once() {
    let lines: Vec<String> = (0..20_000).map(|n| format!("line {n} é")).collect();
    let root = folder(&[("long", &lines.join("\n"))]);
    let (mut offset, mut seen) = (1, Vec::new());
    loop {
        let page = text(
            &root,
            "read_file",
            json!({"path": "long", "offset": offset}),
        )
        .await;
        assert!(page.len() <= MAX_OUTPUT_BYTES);
        assert!(!page.contains("[cut: "));
        let (body, next) = match page.rsplit_once("\n[lines ") {
            Some((body, note)) => (body, note.split("offset ").nth(1)),
            None => (page.as_str(), None),
        };
        seen.extend(body.lines().map(str::to_owned));
        match next {
            Some(next) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn a_line_longer_than_a_page_is_cut_between_characters_and_the_next_one_reached() {
    let root = folder(&[("a", &format!("{}\nnext\n", "中".repeat(50_000)))]);
    let page = text(&root, "read_file", json!({"path": "a"})).await;
    assert!(page.len() <= MAX_OUTPUT_BYTES);
    assert!(page.ends_with(
        "\n[line 1 is longer than 61440 bytes and was cut; lines 1 to 1; the file goes on: read on with offset 2]"
    ));
    assert!(page.split('\n').next().unwrap().chars().all(|c| c == '中'));
    assert_eq!(
        text(&root, "read_file", json!({"path": "a", "offset": 2})).await,
        "next\n"
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_as_such_and_binary_files_refused() {
    let root = folder(&[]);
    put(root.path(), "latin", b"caf\xe9\n");
    put(root.path(), "image.png", b"\x89PNG\x00\x01");
    assert_eq!(
        text(&root, "read_file", json!({"path": "latin"})).await,
        "caf\u{FFFD}\n[not UTF-8: bytes that are no text are shown as \u{FFFD}]"
    );
    assert_eq!(
        problem(&root, "read_file", json!({"path": "image.png"})).await,
        (
            Some("tool"),
            "`image.png` is a binary file; only text can be read".into()
        )
    );
}

#[tokio::test]
async fn a_missing_file_is_named_with_the_nearest_one() {
    let root = folder(&[("notes/meeting.md", "x"), ("notes/other.md", "x")]);
    for (path, message) in [
        (
            "notes/meetings.md",
            "nothing at `notes/meetings.md`; did you mean `notes/meeting.md`?",
        ),
        (
            "nots/meeting.md",
            "nothing at `nots/meeting.md`; did you mean `notes`?",
        ),
        ("zzz/y", "nothing at `zzz/y`"),
    ] {
        let expected = (Some("not_found"), message.to_owned());
        assert_eq!(
            problem(&root, "read_file", json!({"path": path})).await,
            expected
        );
    }
}

#[tokio::test]
async fn a_folder_is_not_read_and_a_file_not_listed() {
    let root = folder(&[("d/f", "x")]);
    let read = problem(&root, "read_file", json!({"path": "d"})).await;
    assert_eq!(read, (Some("tool"), "`d` is a folder, not a file".into()));
    let list = problem(&root, "list_dir", json!({"path": "d/f"})).await;
    assert_eq!(list, (Some("tool"), "`d/f` is a file, not a folder".into()));
    let below = problem(&root, "read_file", json!({"path": "d/f/g"})).await;
    assert_eq!(
        below,
        (Some("tool"), "`d/f/g` is a file, not a folder".into())
    );
}

#[tokio::test]
async fn a_folder_is_listed_sorted_with_folders_marked() {
    let root = folder(&[("b.txt", ""), ("a/x", ""), ("B.txt", ""), (".hidden", "")]);
    assert_eq!(
        text(&root, "list_dir", json!({})).await,
        ".hidden\nB.txt\na/\nb.txt"
    );
    assert_eq!(text(&root, "list_dir", json!({"path": "a"})).await, "x");
    fs::create_dir(root.path().join("empty")).unwrap();
    assert_eq!(
        text(&root, "list_dir", json!({"path": "empty"})).await,
        "[the folder is empty]"
    );
}

#[tokio::test]
async fn a_folder_with_very_many_names_is_listed_in_part() {
    let root = folder(&[]);
    for n in 0..1200 {
        fs::write(root.path().join(format!("f{n:04}")), "").unwrap();
    }
    let listed = text(&root, "list_dir", json!({})).await;
    let last = "[200 more names; list a folder below, or use search_files with a glob]";
    assert_eq!(
        (listed.lines().count(), listed.lines().last()),
        (1001, Some(last))
    );
}

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
    assert_eq!(long, format!("b:1: {}…", "长".repeat(100)));
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

#[test]
fn the_tools_that_the_model_sees_are_strict_and_stable() {
    let root = folder(&[]);
    let gateway = gateway(root.path(), &[]);
    let names: Vec<&str> = gateway
        .definitions()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "open_skill",
            "list_skills",
            "read_file",
            "list_dir",
            "search_files",
            "write_file"
        ]
    );
    for definition in gateway.definitions() {
        assert_eq!(
            definition.parameters["type"], "object",
            "{}",
            definition.name
        );
        assert_eq!(
            definition.parameters["additionalProperties"], false,
            "{}",
            definition.name
        );
        assert!(definition.parameters.get("$schema").is_none());
    }
    assert_eq!(
        gateway.definitions()[2].parameters,
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path relative to the workspace root."},
                "offset": {
                    "description": "First line to read, counted from 1.",
                    "type": ["integer", "null"], "minimum": 1
                },
                "limit": {
                    "description": "How many lines to read at most.",
                    "type": ["integer", "null"], "minimum": 1
                }
            },
            "required": ["path"],
            "additionalProperties": false
        })
    );
    let again = Arc::new(builtins(&Workspace::open(root.path()).unwrap()));
    assert!(
        again
            .iter()
            .zip(gateway.definitions())
            .all(|(tool, shown)| tool.definition() == shown)
    );
}
