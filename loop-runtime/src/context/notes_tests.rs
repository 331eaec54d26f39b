//! Tests of recall: what is found, what is read, what is forgotten.

use std::cell::RefCell;

use super::*;

fn stamp(path: &str, changed: u64) -> FileStamp {
    FileStamp {
        path: path.into(),
        size: 1,
        modified_ns: changed.into(),
    }
}

fn index(files: &[(&str, &str)]) -> Index {
    let mut index = Index::default();
    let stamps: Vec<FileStamp> = files.iter().map(|(path, _)| stamp(path, 1)).collect();
    index.refresh(&stamps, |path| {
        let found = files.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| (*text).to_owned())
    });
    index
}

fn names(found: &[ContextFragment]) -> Vec<&str> {
    found
        .iter()
        .map(|fragment| fragment.name.as_str())
        .collect()
}

#[test]
fn the_passage_that_is_about_the_task_comes_first_with_its_heading() {
    let index = index(&[
        (
            "a.md",
            "# Lunch\n\nSoup and bread.\n\n# Importer\n\nThe importer reads CSV files.\n",
        ),
        (
            "b.md",
            "The importer is mentioned here, and files too, among much else about lunch.\n",
        ),
    ]);
    let found = index.find("which files does the importer read?", None);
    assert_eq!(
        names(&found),
        ["passage of a.md, Importer", "passage of b.md"]
    );
    assert!(found[0].text.contains("reads CSV"));
    assert_eq!(found[0].kind, FragmentKind::Recalled);
}

#[test]
fn chinese_notes_are_found_without_blanks_between_words() {
    let index = index(&[("a.md", "周报每周五生成。\n"), ("b.md", "天气很好。\n")]);
    let found = index.find("什么时候生成周报？", None);
    assert_eq!(names(&found), ["passage of a.md"]);
}

#[test]
fn one_common_word_is_no_match_and_the_current_file_is_left_out() {
    let index = index(&[("a.md", "The importer reads files.\n")]);
    assert!(index.find("importer", None).is_empty());
    assert!(index.find("importer files", Some("a.md")).is_empty());
}

#[test]
fn only_what_changed_is_read_again_and_what_is_gone_is_gone_at_once() {
    let read = RefCell::new(Vec::new());
    let mut index = Index::default();
    let text = |path: &str| {
        read.borrow_mut().push(path.to_owned());
        Some("importer files".to_owned())
    };
    index.refresh(&[stamp("a.md", 1), stamp("b.md", 1)], text);
    index.refresh(&[stamp("a.md", 1), stamp("b.md", 2)], text);
    assert_eq!(*read.borrow(), ["a.md", "b.md", "b.md"]);
    index.refresh(&[stamp("b.md", 2)], text);
    assert_eq!(
        names(&index.find("importer files", None)),
        ["passage of b.md"]
    );
    assert_eq!(read.borrow().len(), 3);
}

#[test]
fn a_passage_has_a_bound_and_never_ends_inside_a_character() {
    let found = passages(&"周报".repeat(2_000));
    assert!(found.iter().all(|passage| passage.text.len() <= LONGEST));
    assert!(!found.is_empty());
}
