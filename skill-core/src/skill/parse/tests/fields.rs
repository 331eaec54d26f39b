//! What the keys mean.

use super::*;

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
    for name in ["../evil", "a/b", "a:b", "a\\b", ".."] {
        let parsed = package(format!("---\nname: {name}\ndescription: d\n---\nb\n"));
        assert_eq!(parsed.skill.id.as_str(), "demo", "{name}");
        assert_eq!(codes(&parsed), ["SK034"], "{name}");
    }
    for (name, hidden) in [("a\\u202Eb", "SK110"), ("a\\u200bb", "SK116")] {
        let parsed = package(format!("---\nname: \"{name}\"\ndescription: d\n---\nb\n"));
        assert_eq!(parsed.skill.id.as_str(), "demo", "{name}");
        assert_eq!(codes(&parsed), ["SK034", hidden], "{name}");
    }
}

#[test]
fn a_name_that_reads_as_the_id_of_another_s_skill_is_none() {
    for name in ["user/skill-creator", "Project/x", "builtin/a"] {
        let parsed = package(format!("---\nname: {name}\ndescription: d\n---\nb\n"));
        assert_eq!(
            (&*parsed.skill.name, codes(&parsed)),
            ("demo", vec!["SK034"]),
            "{name}"
        );
        assert_eq!(
            lite(&format!("---\nname: {name}\n---\nb\n")).skill.name,
            "weekly"
        );
    }
}

#[test]
fn a_folder_whose_name_cannot_be_an_id_gives_what_is_left_of_it() {
    for (folder, id) in [
        ("de\u{202e}mo", "de-mo"),
        ("de\u{200b}mo\u{e0041}", "de-mo"),
        ("<b>", "b"),
        ("user:pdf", "user-pdf"),
        ("\u{202e}", "unnamed"),
    ] {
        let parse = |keys: &str| {
            let origin = Origin::of(format!("skills/{folder}/SKILL.md"), Scope::User);
            parse_skill(
                format!("---\n{keys}description: d\n---\nb\n").as_bytes(),
                &origin,
            )
        };
        let parsed = parse("");
        assert_eq!(
            (parsed.skill.id.as_str(), &*parsed.skill.name),
            (id, id),
            "{folder}"
        );
        assert_eq!(codes(&parsed), ["SK030", "SK034"], "{folder}");
        let named = parse("name: own\n");
        assert_eq!(
            (named.skill.id.as_str(), codes(&named)),
            ("own", vec!["SK031"])
        );
        assert!(
            named.skill.aliases.iter().all(|alias| alias == id),
            "{folder}"
        );
    }
}

#[test]
fn a_name_of_its_own_answers_to_its_folder_too() {
    let parsed = package("---\nname: other\ndescription: d\n---\nb\n");
    assert_eq!(parsed.skill.id.as_str(), "other");
    assert_eq!(parsed.skill.aliases, ["demo"]);
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
fn version_and_author_are_read_below_metadata_where_the_file_has_no_key_of_its_own() {
    let about = |keys: &str| {
        let text = format!("---\nname: demo\ndescription: d\n{keys}\n---\nb\n");
        let skill = package(text).skill;
        (skill.version, skill.author, skill.tags)
    };
    let own = |text: &str| Some(text.to_owned());
    assert_eq!(
        about("metadata:\n  version: 1.10\n  author: team\n  tags: [a, b]"),
        (own("1.10"), own("team"), vec!["a".into(), "b".into()])
    );
    let both = "version: 2.0\nmetadata:\n  version: 1.10";
    assert_eq!(about(both).0, own("2.0"));
    for none in [
        "metadata:\n  version:",
        "metadata:\n  version: {a: b}",
        "metadata: x",
    ] {
        assert_eq!(about(none).0, None, "{none}");
    }
}

#[test]
fn metadata_says_always_where_no_key_of_its_own_says_otherwise() {
    let load = |keys: &str| {
        let text = format!("---\nname: demo\ndescription: d\n{keys}\n---\nb\n");
        package(text).skill.load
    };
    assert_eq!(load("metadata:\n  mode: always"), LoadMode::Always);
    for lazy in [
        "mode: lazy\nmetadata:\n  mode: always",
        "metadata:\n  mode: always on",
        "metadata:\n  mode: [always]",
        "metadata:\n\tmode: always",
        "metadata:\n  mode: always\nmetadata:\n  mode: always",
    ] {
        assert_eq!(load(lazy), LoadMode::Lazy, "{lazy}");
    }
}
