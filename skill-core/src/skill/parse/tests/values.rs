//! Values of YAML, sound and broken.

use super::*;

#[test]
fn a_sound_file_has_no_findings() {
    check("description: d", "d", &[]);
    check("description: \"a --- b\"", "a --- b", &[]);
    check("description: 'foo bar---baz'", "foo bar---baz", &[]);
    check("description: 42", "42", &[]);
    check("description:\ttabbed", "tabbed", &[]);
    check("description: d\nmetadata:\n  version: 1.10", "d", &[]);
    check("description: d\nmetadata:", "d", &[]);
    check("\"description\": d", "d", &[]);
    check("? description\n: d", "d", &[]);
}

#[test]
fn block_texts_fold_as_yaml_says_and_are_trimmed() {
    check(
        "description: |-\n  A multi-line\n  description.",
        "A multi-line\ndescription.",
        &[],
    );
    check(
        "description: >\n  Folded one.\n  Folded two.\n",
        "Folded one. Folded two.",
        &[],
    );
    check("description: |\n  one\n  ---\n  two", "one\n---\ntwo", &[]);
}

#[test]
fn scalars_keep_their_source_text() {
    for text in [
        "yes",
        "no",
        "true",
        "007",
        "1.0",
        "1e3",
        "3000",
        "2025-01-31",
        "12:30:00",
    ] {
        let parsed = package(format!("---\nname: {text}\ndescription: {text}\n---\nb\n"));
        assert_eq!(parsed.skill.name, text);
        assert_eq!(parsed.skill.description, text);
    }
    let parsed = package("---\nname: demo\ndescription: d\nmetadata:\n  v: 1.10\n---\nb\n");
    assert_eq!(parsed.skill.metadata["v"], "1.10");
}

#[test]
fn one_broken_value_is_taken_as_text_and_the_rest_stays() {
    let cases = [
        (
            "description: Use when: the user asks",
            "Use when: the user asks",
        ),
        ("description: `foo` helper", "`foo` helper"),
        ("description: *important* thing", "*important* thing"),
        ("description: **Bold**: text", "**Bold**: text"),
        ("description: @mention helper", "@mention helper"),
        ("description: %d formatting", "%d formatting"),
        ("description: !important skill", "!important skill"),
        ("description: &co helper", "&co helper"),
        ("description: >90% coverage", ">90% coverage"),
        ("description: | Use when needed.", "Use when needed."),
        ("description: - first", "- first"),
        ("description: [DEPRECATED] use b", "[DEPRECATED] use b"),
        ("description: {topic} expert", "{topic} expert"),
        ("description: \"foo\" and \"bar\"", "\"foo\" and \"bar\""),
        ("description: 'it's broken quote'", "'it's broken quote'"),
        ("description: \"path C:\\Users\\me\"", "path C:\\Users\\me"),
        (
            "description: \"say \u{201c}x\u{201d} or\"y\"now\"",
            "say \u{201c}x\u{201d} or\"y\"now",
        ),
        ("description: \"\\ud83d\\ude80 go\"", "🚀 go"),
        (
            "description: first: part\n  second: part",
            "first: part second: part",
        ),
        (
            "description: first line\nsecond line",
            "first line second line",
        ),
        ("description: use for\n- one\n- two", "use for - one - two"),
        ("description: |\nnot indented", "not indented"),
        ("description：全角冒号", "全角冒号"),
        ("description:\u{a0}hard space", "hard space"),
    ];
    for (keys, description) in cases {
        check(keys, description, &["SK021"]);
    }
}

#[test]
fn a_finding_says_where_what_and_how_to_mend_it() {
    let parsed = package("---\nname: demo\ndescription: Use when: PDFs\n---\nb\n");
    let expected = Diagnostic {
        code: "SK021",
        severity: Severity::Warning,
        path: "skills/demo/SKILL.md".into(),
        line: Some(3),
        column: Some(14),
        message: "`description` is no YAML as it stands; it was taken as text".to_owned(),
        text: Some("description: Use when: PDFs".to_owned()),
        fix: Some("description: \"Use when: PDFs\"".to_owned()),
    };
    assert_eq!(parsed.diagnostics, [expected]);
}

#[test]
fn a_broken_field_nobody_needs_costs_only_itself() {
    check("description: d\nlicense: [MIT] or so", "d", &["SK021"]);
    check("description: d\nmetadata:\n\tauthor: x", "d", &["SK021"]);
    check(
        "description: d\nmetadata: {\"a\": {\"b\": [1}",
        "d",
        &["SK020"],
    );
    check("description: d\nmetadata:\n  a: b: c", "d", &["SK020"]);
    check("description: d\nlicense: \"never closed", "d", &["SK021"]);
    let parsed = package("---\nname: demo\ndescription: d\nfoo: [x] — e.g. \"y\"\n---\nb\n");
    assert_eq!(parsed.skill.other["foo"], "[x] — e.g. \"y\"");
}

#[test]
fn an_unclosed_quote_does_not_take_in_the_keys_below() {
    let text = "---\nname: demo\ndescription: \"never\ndisable-model-invocation: true\nlicense: \"MIT\"\n---\nb\n";
    let parsed = package(text);
    assert_eq!(parsed.skill.description, "never");
    assert!(!parsed.skill.invocation.model);
    assert_eq!(parsed.skill.license.as_deref(), Some("MIT"));
}

#[test]
fn marks_of_a_merge_are_left_out() {
    let keys = "description: d\n<<<<<<< ours\nlicense: a\n=======\nlicense: b\n>>>>>>> theirs";
    check(keys, "d", &["SK020", "SK022"]);
}

#[test]
fn a_comment_that_cuts_a_text_keeps_its_meaning_and_is_reported() {
    check(
        "description: Fix issue #12 and C # code",
        "Fix issue",
        &["SK023"],
    );
    let parsed = package("---\nname: demo #1\ndescription: d\n---\nb\n");
    let finding = &parsed.diagnostics[0];
    assert_eq!(parsed.skill.name, "demo");
    assert_eq!(finding.text.as_deref(), Some("demo #1"));
    assert_eq!(finding.fix.as_deref(), Some("name: \"demo #1\""));
}

#[test]
fn a_description_of_another_type_is_kept_as_text() {
    check("description:\n  - a\n  - b", "[\"a\",\"b\"]", &["SK053"]);
    check(
        "description: [TODO: say, when]",
        "[TODO: say, when]",
        &["SK053"],
    );
}

#[test]
fn comments_between_keys_are_no_headings() {
    let keys = "# one\ndescription: Use when: x\n\n# two\ntags:\n# three\n- a\n# end";
    check(keys, "Use when: x", &["SK021", "SK052"]);
}

#[test]
fn a_frontmatter_that_is_no_map_declares_nothing() {
    for yaml in ["- a\n- b", "just text"] {
        let parsed = package(format!("---\n{yaml}\n---\nb\n"));
        assert_eq!(codes(&parsed), ["SK020", "SK030", "SK040"], "{yaml}");
        assert_eq!(parsed.skill.name, "demo");
    }
    for yaml in ["", "# todo\n"] {
        let parsed = package(format!("---\n{yaml}---\n\n# Body"));
        assert_eq!(codes(&parsed), ["SK030", "SK040"]);
        assert_eq!(parsed.body, "# Body");
    }
}

#[test]
fn keys_of_another_case_are_not_the_keys() {
    let parsed = package("---\nName: demo\nDescription: caps\n---\nb\n");
    assert_eq!(codes(&parsed), ["SK030", "SK040", "SK052"]);
    assert_eq!(parsed.skill.description, "");
    assert_eq!(parsed.skill.other["Description"], "caps");
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    check(
        "description: first\ndescription: second",
        "second",
        &["SK022"],
    );
}

#[test]
fn a_requirement_that_cannot_be_read_closes() {
    for requires in [
        "  openclaw:\n    requires:\n      bins: [jq",
        "  openclaw:\n    requires: jq",
        "  author: Jim: the man\n  openclaw:\n    requires: {bins: [jq]}",
        "  openclaw:\n    requires:\n      bins: {a: b}",
    ] {
        let parsed = package(format!(
            "---\nname: demo\ndescription: d\nmetadata:\n{requires}\n---\nb\n"
        ));
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|one| one.code).collect();
        assert!(codes.contains(&"SK101"), "{requires}: {codes:?}");
        assert!(!parsed.skill.invocation.model, "{requires}");
    }
}
