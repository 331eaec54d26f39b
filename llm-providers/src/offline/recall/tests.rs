//! Which skill a task reaches, and which come near.

use super::{Listing, Ranking, purpose};
use crate::offline::index::Entry;

fn entries() -> Vec<Entry> {
    [
        (
            "changelog",
            "Write release notes from the commits since the last tag.",
        ),
        (
            "meeting-minutes",
            "Turn raw meeting notes into minutes with decisions and owners. Not for interviews.",
        ),
        ("pdf-forms", "Fill in PDF forms from a table of values."),
        (
            "report.weekly",
            "当用户要求生成周报时使用。不适用于日报或月报。",
        ),
        (
            "translate",
            "Translate a text between Chinese and English, keeping terms from the glossary.",
        ),
        ("会议纪要", "把会议记录整理成纪要，列出结论和负责人。"),
    ]
    .map(|(id, description)| Entry {
        id: id.into(),
        description: description.into(),
        always: false,
    })
    .into()
}

fn best(task: &str) -> Option<String> {
    let entries = entries();
    Ranking::new(&entries, task, Listing::Whole)
        .best()
        .map(|entry| entry.id.clone())
}

#[test]
fn tasks_reach_the_skill_that_shares_their_words() {
    for (task, id) in [
        (
            "Write the minutes of yesterday's meeting from notes/raw.md",
            "meeting-minutes",
        ),
        (
            "what changed since the last release? make release notes",
            "changelog",
        ),
        ("fill this PDF form for me", "pdf-forms"),
        ("translate the letter into English", "translate"),
        ("帮我写一份本周的工单周报", "report.weekly"),
        ("请把今天的会议记录整理一下", "会议纪要"),
    ] {
        assert_eq!(best(task).as_deref(), Some(id), "{task}");
    }
}

#[test]
fn tasks_without_shared_meaning_reach_none() {
    for task in [
        "hello",
        "what is the weather in Paris?",
        "Write a poem about the sea",
        "今天天气怎么样",
        "",
        "?!",
    ] {
        assert_eq!(best(task), None, "{task}");
    }
}

#[test]
fn what_a_skill_is_not_for_does_not_attract_it() {
    assert_eq!(best("写日报"), None);
    assert_eq!(best("prepare interviews"), None);
    assert_eq!(
        purpose("For weeks, not for days. Fast."),
        "For weeks,  Fast."
    );
}

#[test]
fn a_skill_called_by_its_id_comes_first() {
    assert_eq!(
        best("use pdf-forms on the meeting notes").as_deref(),
        Some("pdf-forms")
    );
    assert_eq!(best("run report.weekly.").as_deref(), Some("report.weekly"));
    assert_eq!(best("do `translate` now").as_deref(), Some("translate"));
}

#[test]
fn the_nearest_are_named_even_when_none_fits() {
    let entries = entries();
    let ranking = Ranking::new(
        &entries,
        "notes about poems, pears, plums, peaches and cherries",
        Listing::Whole,
    );
    assert_eq!(ranking.best(), None);
    let nearest: Vec<&str> = ranking
        .nearest(3)
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    assert_eq!(nearest.first(), Some(&"changelog"));
    assert_eq!(nearest.len(), 3);
}

fn skills(of: &[(&str, &str)]) -> Vec<Entry> {
    let entry = |(id, description): &(&str, &str)| Entry {
        id: id.trim_start_matches('!').to_owned(),
        description: (*description).to_owned(),
        always: id.starts_with('!'),
    };
    of.iter().map(entry).collect()
}

fn ids(entries: &[&Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

#[test]
fn without_a_word_in_common_the_nearest_are_those_of_like_characters() {
    let entries = skills(&[
        ("aaa", "数羊。"),
        ("photo", "Edits photographs."),
        ("zoo", "Feeds animals in the park."),
    ]);
    let ranking = Ranking::new(&entries, "photography", Listing::Whole);
    assert_eq!(ranking.best(), None);
    assert_eq!(ids(&ranking.nearest(3)), ["photo", "zoo"]);
}

#[test]
fn what_is_always_on_is_chosen_only_where_nothing_else_fits() {
    let entries = skills(&[
        ("!house-style", "How release notes are written."),
        ("changelog", "Write release notes."),
    ]);
    let best = |task| {
        let ranking = Ranking::new(&entries, task, Listing::Whole);
        ranking.best().map(|entry| entry.id.clone())
    };
    assert_eq!(
        best("release notes in house-style").as_deref(),
        Some("changelog")
    );
    assert_eq!(
        best("check the house-style").as_deref(),
        Some("house-style")
    );
    let ranking = Ranking::new(&entries, "how", Listing::Whole);
    assert_eq!(ids(&ranking.nearest(3)), [""; 0]);
}

#[test]
fn a_word_that_all_found_skills_have_is_still_a_reason() {
    let entries = skills(&[
        ("d", "Pays an invoice."),
        ("b", "Files an invoice."),
        ("c", "Sends an invoice."),
        (
            "a",
            "Reads an invoice, a long one, of many pages, and says what is in it.",
        ),
    ]);
    let best = |listing| {
        let ranking = Ranking::new(&entries, "the invoice of Acme", listing);
        ranking.best().map(|entry| entry.id.clone())
    };
    assert_eq!(best(Listing::Whole), None);
    assert_eq!(best(Listing::Found).as_deref(), Some("b"));
}

#[test]
fn skills_that_fit_about_as_well_as_the_best_are_its_rivals() {
    let entries = skills(&[
        ("d", "Pays an invoice."),
        ("b", "Files an invoice."),
        ("c", "Sends an invoice."),
        (
            "a",
            "Reads a letter, a long one, of many pages, and says whose invoice is in it.",
        ),
        ("e", "Waters plants."),
    ]);
    let ranking = Ranking::new(&entries, "invoice", Listing::Whole);
    assert_eq!(ranking.best().map(|entry| entry.id.as_str()), Some("b"));
    assert_eq!(ids(&ranking.rivals()), ["c", "d"]);
}

#[test]
fn the_name_of_a_file_alone_is_no_reason_but_adds_to_others() {
    let entries = skills(&[
        (
            "board-prep",
            "Prepares for a meeting of the board, with notes.",
        ),
        ("meeting-minutes", "Turns raw meeting notes into minutes."),
        ("zoo", "Feeds animals."),
        ("报价单", "整理客户报价。"),
    ]);
    let best = |task| {
        let ranking = Ranking::new(&entries, task, Listing::Whole);
        ranking.best().map(|entry| entry.id.clone())
    };
    assert_eq!(best("summarise notes/animals.md"), None);
    assert_eq!(best("总结 材料/报价.md"), None);
    assert_eq!(
        best("minutes of notes/meeting.md").as_deref(),
        Some("meeting-minutes")
    );
    assert_eq!(best("客户 材料/报价.md").as_deref(), Some("报价单"));
}
