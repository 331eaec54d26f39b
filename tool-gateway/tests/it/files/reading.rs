//! What is read and listed, and how to read on.

use std::fs;

use serde_json::json;
use tool_gateway::MAX_OUTPUT_BYTES;

use super::{folder, problem, put, text};

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
        "\n[line 1 is longer than 61440 bytes and was cut; no offset reads its rest, but search_files finds text in lines of up to 4 MiB and shows what stands around; lines 1 to 1; the file goes on: read on with offset 2]"
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
