//! What a search reads, how long it may take over it, and that it says what it left out.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode as FileMode, mkfifoat};
use serde_json::{Value, json};
use tempfile::TempDir;
use tool_gateway::{CallRecord, Mode, Workspace, builtins};

use crate::support::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

async fn run(root: &Path, name: &str, arguments: Value) -> CallRecord {
    let workspace = Workspace::open(root).unwrap();
    let gateway = tool_gateway::Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy(Mode::Headless, &[]))
        .build()
        .unwrap();
    dispatch_one(&gateway, call("c1", name, arguments)).await
}

async fn search(root: &Path, arguments: Value) -> String {
    let record = run(root, "search_files", arguments).await;
    assert!(!record.result.is_error(), "{}", record.result.content);
    record.result.content
}

async fn needles(root: &Path) -> String {
    search(root, json!({"pattern": "needle"})).await
}

#[tokio::test]
async fn rules_that_are_no_regular_file_are_not_read_and_hold_nothing_up() {
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        let root = folder(&[("a", "needle"), (".git/info/x", "")]);
        let path = root.path().join(name);
        let expected = format!("a:1: needle\n[`{name}` was not used: it is no regular file]");
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(needles(root.path()).await, expected);
        fs::remove_file(&path).unwrap();
        mkfifoat(CWD, &path, FileMode::RUSR | FileMode::WUSR).unwrap();
        assert_eq!(needles(root.path()).await, expected);
    }
}

#[tokio::test]
async fn rules_beyond_the_bounds_are_not_used_and_that_is_said() {
    let line = "**/*a*b*c*d*e*f*g*h\n";
    let root = folder(&[("a", "needle"), (".gitignore", &line.repeat(500_000))]);
    let started = Instant::now();
    assert_eq!(
        needles(root.path()).await,
        "a:1: needle\n[`.gitignore` was not used: it is longer than 64 KiB]"
    );
    assert!(started.elapsed() < Duration::from_secs(5));

    let rules = line.repeat(3_000);
    let deep: Vec<String> = (1..=5)
        .map(|depth| "d/".repeat(depth) + ".ignore")
        .collect();
    let files: Vec<(&str, &str)> = deep.iter().map(|path| (path.as_str(), &*rules)).collect();
    let root = folder(&files);
    fs::write(root.path().join("d/d/d/d/d/a"), "needle").unwrap();
    let found = needles(root.path()).await;
    assert!(
        found.contains(
            "[`d/d/d/.ignore` was not used: the folders above it have more than 128 KiB of rules]"
        ),
        "{found}"
    );

    let root = folder(&[("a", "needle"), ("b", "needle"), (".gitignore", "")]);
    let long = format!("b\n{}\n", "[a-z]".repeat(10_000));
    fs::write(root.path().join(".gitignore"), long).unwrap();
    assert_eq!(
        needles(root.path()).await,
        "a:1: needle\n[`.gitignore` was not used whole: some of its rules cannot be read]"
    );
}

#[tokio::test]
async fn rules_of_folders_hold_below_them_and_the_nearest_decides() {
    let root = folder(&[
        (".gitignore", "*.log\n/top\nbuild/\n!keep.log\n"),
        (".ignore", "secret\n"),
        (".git/info/exclude", "private\n"),
        ("a.log", "needle"),
        ("keep.log", "needle"),
        ("top", "needle"),
        ("sub/top", "needle"),
        ("build/x", "needle"),
        ("sub/build/x", "needle"),
        ("sub/.gitignore", "!*.log\n/own\n"),
        ("sub/b.log", "needle"),
        ("sub/own", "needle"),
        ("sub/deep/own", "needle"),
        ("secret", "needle"),
        ("sub/secret", "needle"),
        ("private", "needle"),
        ("vendored/.git/config", ""),
        ("vendored/c.log", "needle"),
        ("vendored/secret", "needle"),
    ]);
    let found = needles(root.path()).await;
    let files: Vec<&str> = found
        .lines()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            "keep.log",
            "sub/b.log",
            "sub/deep/own",
            "sub/top",
            "vendored/c.log"
        ]
    );
}

#[tokio::test]
async fn what_is_named_is_searched_even_where_it_is_ignored() {
    let root = folder(&[
        (".gitignore", "target/\n*.tmp\n"),
        ("target/x", "needle"),
        ("target/y.tmp", "needle"),
    ]);
    let named = async |path: &str| {
        let arguments = json!({"pattern": "needle", "path": path});
        search(root.path(), arguments).await
    };
    assert_eq!(named("target").await, "target/x:1: needle");
    assert_eq!(named("target/y.tmp").await, "target/y.tmp:1: needle");
}

#[tokio::test]
async fn rules_of_the_repository_around_the_workspace_hold_and_no_others() {
    let root = folder(&[
        (".gitignore", "inner\n"),
        ("repo/.git/info/exclude", "excluded\n"),
        ("repo/.gitignore", "/pkg/web/dist\nnode_modules/\n"),
        ("repo/pkg/web/dist/x", "needle"),
        ("repo/pkg/web/node_modules/x", "needle"),
        ("repo/pkg/web/excluded", "needle"),
        ("repo/pkg/web/inner", "needle"),
    ]);
    assert_eq!(
        needles(&root.path().join("repo/pkg/web")).await,
        "inner:1: needle"
    );
}

#[tokio::test]
async fn a_file_that_could_not_be_searched_is_named() {
    let root = folder(&[("a", "hay"), ("b", "hay")]);
    fs::write(root.path().join("big"), "x".repeat(5 * 1024 * 1024)).unwrap();
    fs::write(root.path().join("binary"), "x\0").unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(root.path().join(name), "hay").unwrap();
    assert_eq!(
        needles(root.path()).await,
        "[no match in 2 files]\n\
         [`caf\u{FFFD}` was not searched: its name is not UTF-8]\n\
         [`big` was not searched: it has a line over 4 MiB]"
    );
}

#[tokio::test]
async fn very_many_notes_are_counted() {
    let root = tempfile::tempdir().unwrap();
    for index in 0..9 {
        let folder = root.path().join(format!("d{index}"));
        fs::create_dir(&folder).unwrap();
        symlink("x", folder.join(".ignore")).unwrap();
    }
    let found = needles(root.path()).await;
    assert_eq!(found.lines().count(), 7);
    assert!(
        found.ends_with("[4 more were left out for such reasons]"),
        "{found}"
    );
}

#[tokio::test]
async fn a_folder_that_lies_too_deep_is_named() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("d/".repeat(150));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("a"), "needle").unwrap();
    let path = "d/".repeat(101);
    assert_eq!(
        needles(root.path()).await,
        format!(
            "[no match in 0 files]\n[`{}` was not searched: it lies too deep]",
            path.trim_end_matches('/')
        )
    );
}

#[tokio::test]
async fn a_pattern_or_glob_that_is_too_large_is_refused_at_once() {
    let root = folder(&[("a", "x")]);
    let started = Instant::now();
    let long = |what: &str, bytes: usize, most: usize| {
        format!("the {what} has {bytes} bytes; at most {most} are taken")
    };
    for (arguments, expected) in [
        (
            json!({"pattern": "a|".repeat(500_000)}),
            long("pattern", 1_000_000, 4096),
        ),
        (
            json!({"pattern": "a", "glob": "*".repeat(100_000)}),
            long("glob", 100_000, 1024),
        ),
        (
            json!({"pattern": r"\pL{5000}"}),
            "the pattern cannot be used: ".to_owned(),
        ),
        (
            json!({"pattern": r"(\w{1000}){1000}"}),
            "the pattern cannot be used: ".to_owned(),
        ),
    ] {
        let record = run(root.path(), "search_files", arguments).await;
        assert_eq!(record.error_kind, Some("invalid_arguments"));
        let content = record.result.content;
        assert!(content.starts_with(&expected), "{content}");
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn no_glob_panics() {
    let root = folder(&[("a", "x")]);
    for glob in [
        "*".repeat(1024),
        "?".repeat(1024),
        "{".repeat(1024),
        "{a,".repeat(300) + "b" + &"}".repeat(100),
        "{a,b}".repeat(200),
        "**/".repeat(341),
        "[a-z]".repeat(200),
        format!("[{}]", "a-z".repeat(300)),
        "\\".repeat(1023),
    ] {
        let arguments = json!({"pattern": "x", "glob": glob});
        let record = run(root.path(), "search_files", arguments).await;
        assert_ne!(record.error_kind, Some("panic"), "{glob}");
    }
}

#[tokio::test]
async fn a_pattern_is_not_compiled_while_it_is_decided_about() {
    let root = folder(&[("a", "x")]);
    let workspace = Workspace::open(root.path()).unwrap();
    let gateway = tool_gateway::Gateway::builder()
        .tools(builtins(&workspace))
        .build()
        .unwrap();
    let hard = json!({"pattern": r"(\pL{50}){5}"});
    let started = Instant::now();
    for index in 0..100 {
        let call = call(&format!("c{index}"), "search_files", hard.clone());
        gateway.explain(&call, &context()).unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_match_far_into_a_long_line_is_shown() {
    let line = format!("{}needle{}", "长".repeat(10_000), "x".repeat(1000));
    let root = folder(&[("a", &line), ("b", "needle at the start")]);
    let shown = needles(root.path()).await;
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("a:1: …长长"), "{first}");
    assert!(first.contains("长needlexxx"), "{first}");
    assert!(first.ends_with("x…"), "{first}");
    assert!(!first.contains('\u{FFFD}'), "{first}");
    assert!(first.len() < 400);
    assert!(shown.ends_with("\nb:1: needle at the start"));
}

#[tokio::test]
async fn a_name_is_one_line_whatever_is_in_it() {
    let root = folder(&[
        ("a\nb: 1: fake", "needle"),
        ("x\u{1b}[2K\u{202e}y", "needle"),
    ]);
    fs::create_dir(root.path().join("d\r\u{ad}")).unwrap();
    assert_eq!(
        needles(root.path()).await,
        "a\\u{A}b: 1: fake:1: needle\nx\\u{1B}[2K\\u{202E}y:1: needle"
    );
    let listed = run(root.path(), "list_dir", json!({})).await;
    assert_eq!(
        listed.result.content,
        "a\\u{A}b: 1: fake\nd\\u{D}\\u{AD}/\nx\\u{1B}[2K\\u{202E}y"
    );
    let missing = run(root.path(), "read_file", json!({"path": "a\nb: 1: fak"})).await;
    assert_eq!(
        missing.result.content,
        "nothing at `a\\u{A}b: 1: fak`; did you mean `a\\u{A}b: 1: fake`?"
    );
}

#[tokio::test]
async fn a_line_that_does_not_fit_a_page_says_how_to_find_the_rest() {
    let root = folder(&[("a", &"x".repeat(100_000))]);
    let record = run(root.path(), "read_file", json!({"path": "a"})).await;
    let notice = record.result.content.lines().last().unwrap();
    assert_eq!(
        notice,
        "[line 1 is longer than 61440 bytes and was cut; no offset reads its rest, but search_files finds text in lines of up to 4 MiB and shows what stands around]"
    );
}
