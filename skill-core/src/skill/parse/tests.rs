//! What comes of skill files, sound and damaged.

use super::*;
use crate::LoadMode;

fn package(text: impl AsRef<[u8]>) -> ParsedSkill {
    parse_skill(
        text.as_ref(),
        &Origin::of("skills/demo/SKILL.md", Scope::User),
    )
}

fn lite(text: &str) -> ParsedSkill {
    parse_skill(text.as_bytes(), &Origin::of("notes/weekly.md", Scope::User))
}

fn codes(parsed: &ParsedSkill) -> Vec<&'static str> {
    let mut codes: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Checks the description and the codes that `keys` below `name: demo` lead to.
fn check(keys: &str, description: &str, expected: &[&str]) {
    let parsed = package(format!("---\nname: demo\n{keys}\n---\n\n# Body\n"));
    assert_eq!(parsed.skill.description, description, "{keys}");
    assert_eq!(codes(&parsed), expected, "{keys}");
    assert_eq!(parsed.skill.name, "demo", "{keys}");
    assert_eq!(parsed.body, "# Body", "{keys}");
}

/// Checks the name and the codes that a line leads to.
fn check_name(line: &str, name: &str, expected: &[&str]) {
    let parsed = package(format!("---\n{line}\ndescription: d\n---\nbody\n"));
    assert_eq!(parsed.skill.name, name, "{line}");
    assert_eq!(codes(&parsed), expected, "{line}");
}

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
fn a_missing_description_leaves_the_skill_unlisted() {
    for keys in [
        "license: MIT",
        "description: \"\"",
        "description:",
        "description: ~",
    ] {
        check(keys, "", &["SK040"]);
        let parsed = package(format!("---\nname: demo\n{keys}\n---\nb\n"));
        assert!(!parsed.skill.listed);
        assert!(!parsed.is_refused());
    }
}

#[test]
fn lengths_over_the_standard_are_loaded_whole() {
    let long = "x".repeat(1025);
    check(&format!("description: {long}"), &long, &["SK041"]);
    let long = "x".repeat(65);
    check_name(&format!("name: {long}"), &long, &["SK031", "SK032"]);
}

#[test]
fn names_are_judged_letter_by_letter() {
    check_name("name: demo", "demo", &[]);
    check_name("name: My Skill", "My Skill", &["SK031", "SK033"]);
    check_name("name: other", "other", &["SK031"]);
    check_name("name: de--mo", "de--mo", &["SK031", "SK035"]);
    check_name("name: 技能", "技能", &["SK031", "SK036"]);
    check_name("name: ../evil", "demo", &["SK034"]);
    check_name("name: plugin:act", "plugin:act", &["SK034"]);
    check_name("license: MIT", "demo", &["SK030"]);
    check_name("name: null", "demo", &["SK030"]);
    check_name("name: !!str 123", "123", &["SK031"]);
    check_name(
        "name: !!python/object/apply:os.system [\"true\"]",
        "demo",
        &["SK030", "SK053"],
    );
}

#[test]
fn an_unsafe_name_never_becomes_an_id() {
    for name in [
        "../evil",
        "a/b",
        "a:b",
        "a\\b",
        "..",
        "\"a\\u202Eb\"",
        "\"a\\u200bb\"",
    ] {
        let parsed = package(format!("---\nname: {name}\ndescription: d\n---\nb\n"));
        assert_eq!(parsed.skill.id.as_str(), "demo", "{name}");
        assert_eq!(codes(&parsed), ["SK034"], "{name}");
    }
}

#[test]
fn a_name_of_its_own_answers_to_its_folder_too() {
    let parsed = package("---\nname: other\ndescription: d\n---\nb\n");
    assert_eq!(parsed.skill.id.as_str(), "other");
    assert_eq!(parsed.skill.aliases, ["demo"]);
}

#[test]
fn bytes_are_decoded_whatever_wrote_them() {
    let text = "---\nname: demo\ndescription: dé\n---\nb\n";
    let utf16: Vec<u16> = text.encode_utf16().collect();
    let little = utf16.iter().flat_map(|unit| unit.to_le_bytes());
    let big = utf16.iter().flat_map(|unit| unit.to_be_bytes());
    let cases: [(Vec<u8>, &[&str]); 6] = [
        (text.replace('\n', "\r\n").into(), &[]),
        (text.replace('\n', "\r").into(), &["SK004"]),
        (format!("\u{feff}{text}").into(), &["SK001"]),
        (format!("\u{feff}\u{feff}{text}").into(), &["SK001"]),
        ([0xff, 0xfe].into_iter().chain(little).collect(), &["SK002"]),
        ([0xfe, 0xff].into_iter().chain(big).collect(), &["SK002"]),
    ];
    let plain = package(text);
    for (bytes, expected) in cases {
        let parsed = package(bytes);
        assert_eq!(codes(&parsed), expected);
        assert_eq!(parsed.skill, plain.skill);
        assert_eq!(parsed.body, "b");
    }
    let latin = package(b"---\nname: demo\ndescription: caf\xe9\n---\nb\n");
    assert_eq!(latin.skill.description, "caf\u{fffd}");
    let finding = &latin.diagnostics[0];
    assert_eq!(
        (finding.code, finding.line, finding.column),
        ("SK003", Some(3), Some(17))
    );
}

#[test]
fn fences_are_found_in_every_dress() {
    let keys = "name: demo\ndescription: d";
    let cases = [
        (format!("\n\n---\n{keys}\n---\n# Body\n"), "SK012"),
        (
            format!("<!-- made -->\n---\n{keys}\n---\n# Body\n"),
            "SK012",
        ),
        (format!("%YAML 1.2\n---\n{keys}\n---\n# Body\n"), "SK012"),
        (
            format!("```yaml\n---\n{keys}\n---\n```\n\n# Body\n"),
            "SK012",
        ),
        (format!("---  \n{keys}\n---\t\n# Body\n"), "SK013"),
        (format!("---\n{keys}\n...\n# Body\n"), "SK015"),
        (format!("----\n{keys}\n----\n# Body\n"), "SK015"),
        (format!(" ---\n{keys}\n ---\n# Body\n"), "SK015"),
        (format!("---\n{keys}\n---# Body\n"), "SK015"),
        (
            "---\n  name: demo\n  description: d\n  ---\n# Body\n".to_owned(),
            "SK015",
        ),
        (
            "--- name: demo description: d ---\n# Body\n".to_owned(),
            "SK015",
        ),
    ];
    for (text, code) in cases {
        let parsed = package(&text);
        assert_eq!(codes(&parsed), [code], "{text}");
        assert_eq!(parsed.skill.description, "d", "{text}");
        assert_eq!(parsed.body, "# Body", "{text}");
    }
}

#[test]
fn rules_and_tables_of_the_body_are_no_fences() {
    let parsed = package("---\nname: demo\ndescription: d\n---\n# Body\n\n---\n\n|---|\n");
    assert_eq!(parsed.body, "# Body\n\n---\n\n|---|");
    assert_eq!(codes(&parsed), [""; 0]);
}

#[test]
fn a_second_frontmatter_is_body_and_reported() {
    let parsed = package("---\nname: demo\ndescription: d\n---\nname: b\n---\n# Body\n");
    assert_eq!(codes(&parsed), ["SK014"]);
    assert_eq!(parsed.skill.name, "demo");
}

#[test]
fn a_package_without_frontmatter_is_refused_but_described() {
    let parsed = package("# Just body\n");
    assert_eq!(codes(&parsed), ["SK010"]);
    assert_eq!(parsed.skill.name, "demo");
    assert_eq!(parsed.body, "# Just body");
    let parsed = package("name: x\ndescription: d\n\n---\n# Body\n");
    assert_eq!(codes(&parsed), ["SK010"]);
    assert_eq!(
        (parsed.skill.name.as_str(), parsed.body.as_str()),
        ("x", "# Body")
    );
}

#[test]
fn an_unclosed_frontmatter_is_refused_but_described() {
    for text in [
        "---\nname: x\ndescription: d\n# Body\n",
        "---\nname: x\ndescription: d\n\n# Body\n",
        "---\nname: x\ndescription: **d\n\n# Body\nprose\n\n---\n",
    ] {
        let parsed = package(text);
        assert!(parsed.is_refused(), "{text}");
        assert!(codes(&parsed).contains(&"SK011"), "{text}");
        assert_eq!(parsed.skill.name, "x", "{text}");
        assert!(parsed.body.starts_with("# Body"), "{text}");
    }
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
fn aliases_are_never_expanded() {
    let mut keys = vec![
        "description: d".to_owned(),
        "a: &a [x, x, x, x, x, x, x, x]".to_owned(),
    ];
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        keys.push(format!(
            "{to}: &{to} [*{from}, *{from}, *{from}, *{from}, *{from}, *{from}]"
        ));
    }
    check(&keys.join("\n"), "d", &["SK024", "SK052"]);
    check(
        "description: &x d\nmetadata:\n  title: *x",
        "d",
        &["SK024", "SK050"],
    );
}

#[test]
fn nesting_without_end_costs_its_own_key_only() {
    let deep = "[".repeat(100_000);
    check(
        &format!("description: d\nmetadata: {deep}"),
        "d",
        &["SK020"],
    );
    let steps: String = (0..2_000)
        .map(|depth| format!("{:depth$}- \n", ""))
        .collect();
    check(
        &format!("description: d\nmetadata:\n{steps}"),
        "d",
        &["SK020"],
    );
}

#[test]
fn tools_are_split_outside_of_parentheses() {
    let tools = |value: &str| {
        let text = format!("---\nname: demo\ndescription: d\nallowed-tools: {value}\n---\nb\n");
        let parsed = package(text);
        (parsed.skill.allowed_tools.clone(), codes(&parsed))
    };
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let git = list(&["Read", "Bash(git status)", "Grep"]);
    assert_eq!(tools("Read Bash(git status) Grep"), (git.clone(), vec![]));
    assert_eq!(tools("Read, Bash(git status), Grep"), (git.clone(), vec![]));
    assert_eq!(
        tools("[Read, Bash(git status), Grep]"),
        (git, vec!["SK051"])
    );
    assert_eq!(
        tools("Read, Bash(a:*, b:*)").0,
        list(&["Read", "Bash(a:*, b:*)"])
    );
    assert_eq!(tools(""), (vec![], vec![]));
}

#[test]
fn a_damaged_granting_field_grants_nothing() {
    let parsed = package("---\nname: demo\ndescription: d\nallowed-tools: *\n---\nb\n");
    assert!(parsed.skill.allowed_tools.is_empty());
    assert!(codes(&parsed).contains(&"SK053"));
    let parsed = package("---\nname: demo\ndescription: d\nalways: true: yes\n---\nb\n");
    assert_eq!(parsed.skill.load, LoadMode::Lazy);
}

#[test]
fn groups_are_read_in_every_notation() {
    for groups in ["\n- work", "\n  - work", " [work]", " \"work\"", " work"] {
        let parsed = package(format!(
            "---\nname: demo\ndescription: d\ngroups:{groups}\n---\nb\n"
        ));
        assert_eq!(parsed.skill.groups, ["work"], "{groups}");
        assert!(parsed.skill.invocation.model, "{groups}");
    }
}

#[test]
fn a_damaged_restricting_field_hides_the_skill_from_the_model() {
    for line in [
        "groups: {a: 1}",
        "groups: [a, [b]]",
        "groups: [\"\"]",
        "groups: [a",
        "groups:\n\t- a",
        "groups: a\ngroups: b",
        "roles: {x: y}",
        "paths: *.rs",
        "restrict-tools: {a: b}",
        "disallowed-tools: [a] [b]",
        "disable-model-invocation: maybe",
        "disable-model-invocation:",
        "disable_model_invocation: treu",
        "hooks: [a] b",
        "policy: {",
    ] {
        let parsed = package(format!("---\nname: demo\ndescription: d\n{line}\n---\nb\n"));
        assert!(codes(&parsed).contains(&"SK101"), "{line}");
        assert!(!parsed.skill.invocation.model, "{line}");
        assert!(parsed.skill.invocation.user, "{line}");
        assert!(!parsed.is_refused(), "{line}");
    }
}

#[test]
fn invocation_flags_are_read_in_every_spelling() {
    let flags = |line: &str| {
        let parsed = package(format!("---\nname: demo\ndescription: d\n{line}\n---\nb\n"));
        (parsed.skill.invocation.model, parsed.skill.invocation.user)
    };
    assert_eq!(flags("disable-model-invocation: true"), (false, true));
    assert_eq!(flags("disableModelInvocation: YES"), (false, true));
    assert_eq!(flags("disable_model_invocation: off"), (true, true));
    assert_eq!(flags("user-invocable: no"), (true, false));
    assert_eq!(flags("userInvocable: perhaps"), (false, false));
}

#[test]
fn always_is_believed_only_where_it_is_said() {
    let load = |line: &str| lite(&format!("---\n{line}\n---\nb\n")).skill.load;
    for line in [
        "mode: 'ALWAYS '",
        "always: yes",
        "always: true",
        "always: 1",
    ] {
        assert_eq!(load(line), LoadMode::Always, "{line}");
    }
    for line in [
        "mode: yes",
        "mode: 1",
        "always: no",
        "always:",
        "mode: lazy",
    ] {
        assert_eq!(load(line), LoadMode::Lazy, "{line}");
    }
}

#[test]
fn a_lite_file_is_a_skill_without_any_frontmatter() {
    let parsed = lite("Do it every week.\n");
    assert_eq!(parsed.skill.id.as_str(), "weekly");
    assert_eq!(parsed.skill.name, "weekly");
    assert_eq!(parsed.skill.description, "No description provided.");
    assert_eq!(parsed.skill.load, LoadMode::Lazy);
    assert_eq!(codes(&parsed), [""; 0]);
    assert!(parsed.skill.listed);
    let parsed = lite("---\n---\n\n# Body");
    assert_eq!(
        (parsed.skill.id.as_str(), parsed.body.as_str()),
        ("weekly", "# Body")
    );
    let parsed = lite("---\nid: plan\n---\nb");
    assert_eq!(
        (parsed.skill.id.as_str(), parsed.skill.name.as_str()),
        ("plan", "plan")
    );
}

#[test]
fn an_unclosed_lite_file_is_all_body() {
    let text = "---\nname: x\ntext goes on\n";
    let parsed = lite(text);
    assert_eq!(parsed.skill.name, "weekly");
    assert_eq!(parsed.body, text.trim_end());
    assert!(!parsed.is_refused());
}

#[test]
fn the_digest_follows_fields_and_body_and_nothing_else() {
    let digest = |text: &str, path: &str| {
        parse_skill(text.as_bytes(), &Origin::of(path, Scope::User))
            .skill
            .content_digest
    };
    let text = "---\nname: demo\ndescription: d\n---\nbody\n";
    let plain = digest(text, "a/demo/SKILL.md");
    assert_eq!(
        plain,
        digest(&text.replace('\n', "\r\n"), "b/demo/SKILL.md")
    );
    assert_eq!(
        plain,
        digest(
            &text.replace("name: demo", "name: 'demo' # x"),
            "demo/SKILL.md"
        )
    );
    assert_eq!(plain.len(), 64);
    for changed in [
        text.replace("body", "other"),
        text.replace(": d\n", ": e\n"),
        text.replace("---\nbody", "always: true\n---\nbody"),
        text.replace("---\nbody", "unknown: true\n---\nbody"),
    ] {
        assert_ne!(plain, digest(&changed, "a/demo/SKILL.md"), "{changed}");
    }
}

#[test]
fn a_hostile_file_does_not_drown_its_reader() {
    let keys = "x: [\n".repeat(10_000);
    let parsed = package(format!("---\nname: demo\ndescription: d\n{keys}---\nb\n"));
    assert!(parsed.diagnostics.len() < 300);
    let more = parsed
        .diagnostics
        .iter()
        .filter(|one| one.message.contains("left out"));
    assert_eq!(more.count(), 1);
}

proptest::proptest! {
    #[test]
    fn any_text_comes_to_a_record(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "---", "\n", "\n---\n", "name: ", "description: ", "groups:", " ", "\t", "- ", ": ", "#",
            "\"", "'", "[", "]", "{", "}", "|", ">", "&a ", "*a", "!t ", "? ", "```", "...", "x", "é",
            "\u{feff}", "\r", "\0", "%", "：", "<<<<<<< a", "\\u0041",
        ]),
        0..40,
    )) {
        let text: String = pieces.concat();
        for path in ["demo/SKILL.md", "x.skill.md", "x.md"] {
            let parsed = parse_skill(text.as_bytes(), &Origin::of(path, Scope::User));
            assert!(!parsed.skill.id.as_str().is_empty());
            let lines = text.replace("\r\n", "\n").replace('\r', "\n").lines().count().max(1);
            for finding in parsed.diagnostics {
                assert!(finding.line.is_none_or(|line| line as usize <= lines + 3), "{finding:?}");
            }
        }
    }

    #[test]
    fn any_bytes_come_to_a_record(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = parse_skill(&bytes, &Origin::of("demo/SKILL.md", Scope::User));
    }
}
