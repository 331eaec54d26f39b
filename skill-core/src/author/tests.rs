//! What is written reads back, here and elsewhere; what is mended changes nothing else.

use std::collections::BTreeMap;

use proptest::prelude::*;
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::*;
use crate::skill::{LoadMode, Origin, ParsedSkill, Scope, parse_skill};

fn draft(id: &str, description: &str) -> SkillDraft {
    SkillDraft {
        id: id.to_owned(),
        description: description.to_owned(),
        body: "# Steps\n\n1. Do it.\n".to_owned(),
        ..SkillDraft::default()
    }
}

fn read(text: &str, id: &str) -> ParsedSkill {
    parse_skill(
        text.as_bytes(),
        &Origin::of(format!("{id}/SKILL.md"), Scope::User),
    )
}

/// The keys that the standard's validator knows; any other fails it.
const ALLOWED: &[&str] = &[
    "name",
    "description",
    "license",
    "allowed-tools",
    "metadata",
    "compatibility",
];

/// Reads a file as the standard's reference reader does, and holds it against what its validator
/// asks: cut at `---`, no flow collections, no anchors, no duplicate keys, every scalar a text; no
/// key, name or description but those that are allowed.
fn reference(text: &str) -> Option<BTreeMap<String, String>> {
    let fields = reference_fields(text)?;
    let name = fields.get("name")?;
    let letters = |letter: char| letter.is_alphanumeric() || letter == '-';
    let is_name = name.chars().count() <= 64
        && *name == name.to_lowercase()
        && name.chars().all(letters)
        && !(name.starts_with('-') || name.ends_with('-') || name.contains("--"));
    let description = fields.get("description")?;
    let is_described = !description.is_empty() && description.chars().count() <= 1024;
    (is_name && is_described).then_some(fields)
}

fn reference_fields(text: &str) -> Option<BTreeMap<String, String>> {
    let mut parts = text.splitn(3, "---");
    if !parts.next()?.is_empty() {
        return None;
    }
    let yaml = parts.next()?;
    parts.next()?;
    let (mut fields, mut key, mut inside) = (BTreeMap::new(), None, false);
    for event in Parser::new_from_str(yaml) {
        match event.ok()?.0 {
            // Only the top level is compared; what is nested comes last.
            Event::MappingStart(0, None) if inside => {
                return (key.as_deref() == Some("metadata")).then_some(fields);
            }
            Event::MappingStart(0, None) => inside = true,
            Event::Scalar(value, style, 0, None) => {
                if style == ScalarStyle::Plain && value.contains(['{', '[']) {
                    return None;
                }
                match key.take() {
                    None if !ALLOWED.contains(&&*value) => return None,
                    None => key = Some(value.into_owned()),
                    Some(key) => {
                        if fields.insert(key, value.trim().to_owned()).is_some() {
                            return None;
                        }
                    }
                }
            }
            Event::SequenceStart(..)
            | Event::Alias(_)
            | Event::MappingStart(..)
            | Event::Scalar(..) => return None,
            _ => {}
        }
    }
    Some(fields)
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    name: String,
    description: String,
    #[serde(default)]
    metadata: Option<BTreeMap<String, String>>,
}

fn strict(text: &str) -> Strict {
    let yaml = text.strip_prefix("---\n").unwrap();
    let (yaml, _) = yaml.split_once("\n---\n").unwrap();
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

#[test]
fn descriptions_that_break_hand_written_files_read_back_everywhere() {
    for description in [
        "Use this skill when: x, y",
        "[action] — e.g. \"list\"",
        "yes",
        "1.10",
        "null",
        "~",
        "it's # not a comment",
        "{a: b}",
        "- item",
        "& anchor *alias !tag %directive @at `tick`",
        "a --- b ---- c -----",
        "---",
        "line one\nline two\n\n  indented",
        "tab\there",
        "back\\slash \"quotes\" 'single'",
        "emoji 🙂 周报 café e\u{301}",
        "next\u{2028}line",
        "ends with colon:",
    ] {
        let text = draft("weekly-report", description).to_text().unwrap();
        let parsed = read(&text, "weekly-report");
        assert_eq!(parsed.skill.description, description);
        assert_eq!(parsed.diagnostics, [], "{description}");
        assert_eq!(strict(&text).description, description);
        let reference = reference(&text).unwrap();
        assert_eq!(reference["description"], description);
        assert_eq!(reference["name"], "weekly-report");
    }
}

#[test]
fn names_that_look_like_other_values_stay_names() {
    for name in [
        "null", "true", "no", "y", "123", "1e3", "0x1f", "技能", "café", "a",
    ] {
        let text = draft(name, "d").to_text().unwrap();
        assert_eq!(read(&text, name).skill.id.as_str(), name);
        assert_eq!(strict(&text).name, name);
        assert_eq!(reference(&text).unwrap()["name"], name);
    }
}

#[test]
fn a_title_and_a_mode_are_written_where_the_standard_has_room_for_them() {
    let mut draft = draft("house-rules", "d");
    draft.title = Some("House: rules".to_owned());
    draft.load = LoadMode::Always;
    let text = draft.to_text().unwrap();
    let parsed = read(&text, "house-rules");
    assert_eq!(parsed.skill.load, LoadMode::Always);
    assert_eq!(parsed.skill.metadata["title"], "House: rules");
    let metadata = strict(&text).metadata.unwrap();
    assert_eq!(
        (&*metadata["mode"], &*metadata["title"]),
        ("always", "House: rules")
    );
    assert!(reference(&text).is_some(), "{text}");
    let own_key = text.replace("metadata:\n  mode: always\n", "mode: always\nmetadata:\n");
    assert!(reference(&own_key).is_none(), "{own_key}");
}

#[test]
fn a_draft_outside_the_standard_is_refused_with_every_reason() {
    let bad = SkillDraft {
        id: "-Bad--Name".to_owned(),
        description: " ".to_owned(),
        body: "---\nname: x\n---\n".to_owned(),
        ..SkillDraft::default()
    };
    let problems = bad.to_text().unwrap_err().problems;
    assert_eq!(problems.len(), 4, "{problems:?}");
    for name in ["", "PDF", "a b", "a/b", "..", "a.b", "ﬁx", &"x".repeat(65)] {
        assert!(draft(name, "d").to_text().is_err(), "{name}");
    }
    assert!(draft("a", &"x".repeat(1025)).to_text().is_err());
    assert!(draft(&"x".repeat(64), &"周".repeat(1024)).to_text().is_ok());
}

fn check_mend(before: &str, after: &str) {
    let origin = Origin::of("pdf/SKILL.md", Scope::User);
    let mended = mend(before.as_bytes(), &origin);
    assert_eq!(String::from_utf8(mended.bytes).unwrap(), after);
    assert_eq!(mended.left, []);
}

#[test]
fn mending_quotes_the_repaired_value_and_touches_nothing_else() {
    check_mend(
        "---\nname: pdf   # kept\ndescription: Use when: PDFs\nlicense: MIT\n---\n\n# Body: x\n",
        "---\nname: pdf   # kept\ndescription: \"Use when: PDFs\"\nlicense: MIT\n---\n\n# Body: x\n",
    );
    // Windows line ends, a byte-order mark and blanks at the end of lines stay.
    check_mend(
        "\u{feff}---\r\nname: pdf\r\ndescription: Use when: PDFs  \r\nx: [a\r\n---\r\nbody \r\n",
        "\u{feff}---\r\nname: pdf\r\ndescription: \"Use when: PDFs\"\r\nx: \"[a\"\r\n---\r\nbody \r\n",
    );
    // A value over several lines becomes one line.
    check_mend(
        "---\nname: pdf\ndescription: Use when: PDFs\n  and more: things\nlicense: MIT\n---\nbody\n",
        "---\nname: pdf\ndescription: \"Use when: PDFs and more: things\"\nlicense: MIT\n---\nbody\n",
    );
}

#[test]
fn a_value_that_may_be_meant_otherwise_is_left_to_its_author() {
    for (keys, advice) in [
        (
            "name: pdf\n description: d: e",
            "as far left as the other keys",
        ),
        (
            "name: pdf\ndescription: Use when: x  # a note",
            "with what stands behind ` #`",
        ),
        (
            "name: pdf\ndescription: d: e\n  license: MIT",
            "begin the line with `license:`",
        ),
        (
            "name: pdf\ndescription: d\ntags: [a, b",
            "close the bracket",
        ),
    ] {
        let text = format!("---\n{keys}\n---\nb\n");
        let origin = Origin::of("pdf/SKILL.md", Scope::User);
        let mended = mend(text.as_bytes(), &origin);
        assert_eq!(mended.bytes, text.as_bytes(), "{keys}");
        let left: Vec<&str> = mended
            .left
            .iter()
            .filter_map(|one| one.fix.as_deref())
            .collect();
        assert!(
            left.iter().any(|fix| fix.contains(advice)),
            "{keys}: {left:?}"
        );
    }
}

#[test]
fn many_values_are_mended_at_once_and_a_bad_change_costs_only_itself() {
    // The brackets are left to their author; every other value is written in quotes.
    let line = |at: usize, value: &str| format!("k{at}: {value}\n");
    let value = |at: usize| if at % 50 == 7 { "[a: b" } else { "a: b" };
    let keys: String = (0..200).map(|at| line(at, value(at))).collect();
    let quoted = |at: usize| {
        if at % 50 == 7 {
            "\"[a: b\""
        } else {
            "\"a: b\""
        }
    };
    let mended_keys: String = (0..200).map(|at| line(at, quoted(at))).collect();
    check_mend(
        &format!("---\nname: pdf\ndescription: d\n{keys}---\nbody\n"),
        &format!("---\nname: pdf\ndescription: d\n{mended_keys}---\nbody\n"),
    );
    let text = format!(
        "---\nname: pdf\ndescription: d\n{keys}tags: [a, b\nmetadata:\n\tx: y\n---\nbody\n"
    );
    let mended = mend(text.as_bytes(), &Origin::of("pdf/SKILL.md", Scope::User));
    assert_eq!((mended.mends.len(), mended.left.len()), (201, 1));
}

#[test]
fn a_file_that_is_too_long_to_be_read_whole_is_not_mended() {
    let text = format!(
        "---\nname: pdf\ndescription: d: e\n---\n{}",
        "x".repeat(300_000)
    );
    let mended = mend(text.as_bytes(), &Origin::of("pdf/SKILL.md", Scope::User));
    assert_eq!(mended.bytes, text.as_bytes());
    assert_eq!(mended.left.first().map(|one| one.code), Some("SK103"));
}

#[test]
fn a_sound_file_is_left_as_it_is() {
    let text = "---\nname: pdf\ndescription: d\n---\nbody\n";
    let mended = mend(text.as_bytes(), &Origin::of("pdf/SKILL.md", Scope::User));
    assert_eq!((mended.bytes, mended.mends.len()), (text.into(), 0));
}

#[test]
fn text_that_hides_something_is_not_written() {
    for hidden in ["a\u{202e}b", "a\u{e0041}\u{e0042}"] {
        assert!(draft("pdf", hidden).to_text().is_err(), "{hidden:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_name_and_description_read_back_equal_by_three_readers(
        name in "[a-z0-9àçéñ周报]{1,8}(-[a-z0-9é]{1,8}){0,3}",
        description in "\\PC{0,80}[a-z:#\"'\\-\\[\\]{}&*!|>%@`\\\\\n\t ]{0,40}\\PC{0,20}",
    ) {
        let description = description.trim();
        prop_assume!(!description.is_empty());
        let text = match draft(&name, description).to_text() {
            Ok(text) => text,
            // Letters that cannot be seen are refused when they are written, as when they are read.
            Err(error) => {
                let unseen = |problem: &String| problem.starts_with("SK11");
                prop_assert!(error.problems.iter().all(unseen), "{error}");
                return Ok(());
            }
        };
        let parsed = read(&text, &name);
        prop_assert_eq!(parsed.skill.id.as_str(), &name);
        prop_assert_eq!(&parsed.skill.description, description);
        let strict = strict(&text);
        prop_assert_eq!(&strict.name, &name);
        prop_assert_eq!(&strict.description, description);
        let reference = reference(&text).unwrap();
        prop_assert_eq!(&reference["name"], &name);
        prop_assert_eq!(&reference["description"], description);
    }

    #[test]
    fn any_text_in_quotes_is_that_text(text in "(?s).{0,60}") {
        let yaml = format!("key: {}\n", quoted_text(&text));
        let read: BTreeMap<String, String> = serde_saphyr::from_str(&yaml).unwrap();
        prop_assert_eq!(&read["key"], &text);
        prop_assert!(!yaml.contains("---"));
    }

    #[test]
    fn mending_never_changes_what_is_read(
        description in "[a-z:#\"'\\-\\[\\]{}&*!|>%@` ]{1,40}",
        more in "[a-z:\\[{\"' ]{0,20}",
    ) {
        let text = format!("---\nname: pdf\ndescription: {description}\nhint: {more}\n---\nbody\n");
        let origin = Origin::of("pdf/SKILL.md", Scope::User);
        let mended = mend(text.as_bytes(), &origin);
        let (before, after) = (parse_skill(text.as_bytes(), &origin), parse_skill(&mended.bytes, &origin));
        prop_assert_eq!(before.skill, after.skill);
        prop_assert_eq!(before.body, after.body);
    }
}
