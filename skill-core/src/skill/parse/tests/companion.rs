//! The policy that another dialect keeps beside a skill.

use super::*;

fn beside(keys: &str, yaml: Option<&str>) -> ParsedSkill {
    let text = format!("---\nname: demo\ndescription: d\n{keys}---\nbody\n");
    let companion = Companion {
        path: "skills/demo/agents/openai.yaml".into(),
        bytes: yaml.map(|yaml| yaml.as_bytes().to_vec()),
    };
    let origin = Origin::of("skills/demo/SKILL.md", Scope::User);
    parse_with(text.as_bytes(), &origin, Some(&companion))
}

#[test]
fn the_most_restrictive_dialect_wins() {
    let model = |keys: &str, yaml: &str| beside(keys, Some(yaml)).skill.invocation.model;
    let allow = "policy:\n  allow_implicit_invocation: true\n";
    let forbid = "interface: {display_name: Demo}\npolicy: {allow_implicit_invocation: false}\n";
    assert!(model("", allow));
    assert!(!model("", forbid));
    assert!(!model("disable-model-invocation: true\n", allow));
    assert!(!model("disable-model-invocation: false\n", forbid));
    for silent in [
        "",
        "interface: {a: b}\n",
        "policy:\n",
        "policy: {other: 1}\n",
    ] {
        assert!(model("", silent), "{silent}");
    }
    assert!(beside("", Some(forbid)).skill.invocation.user);
}

#[test]
fn a_policy_that_cannot_be_read_hides_the_skill_from_the_model() {
    let broken = [
        Some("policy: {allow_implicit_invocation: maybe}"),
        Some("policy: [a]"),
        Some("policy: {"),
        Some("- a"),
        Some("policy: {allow_implicit_invocation: true, allow_implicit_invocation: true}"),
        Some("policy: {<<: {allow_implicit_invocation: false}}"),
        Some("<<: {policy: {allow_implicit_invocation: false}}"),
        Some("x: &x policy\n*x : {allow_implicit_invocation: false}"),
        Some("x: &x allow_implicit_invocation\npolicy: {*x : false}"),
        Some("? [policy]\n: {allow_implicit_invocation: false}"),
        None,
    ];
    for yaml in broken {
        let parsed = beside("", yaml);
        assert_eq!(codes(&parsed), ["SK101"], "{yaml:?}");
        assert!(!parsed.skill.invocation.model, "{yaml:?}");
        let finding = &parsed.diagnostics[0];
        assert!(finding.path.ends_with("agents/openai.yaml"));
    }
}

#[test]
fn a_policy_that_changes_changes_the_digest() {
    let digest = |yaml| beside("", Some(yaml)).skill.content_digest;
    let forbid = "policy: {allow_implicit_invocation: false}\n";
    assert_ne!(digest(""), digest(forbid));
}

#[test]
fn requirements_are_read_from_the_metadata() {
    let parsed = package(
        "---\nname: demo\ndescription: d\nmetadata: {\"openclaw\": {\"os\": [\"linux\"], \"requires\": {\"bins\": [\"jq\"], \"env\": [\"TOKEN\"]}}}\n---\nb\n",
    );
    let requires = parsed.skill.requires.as_deref().expect("some");
    assert_eq!(
        (&requires.programs[..], &requires.env[..], &requires.os[..]),
        (
            &["jq".to_owned()][..],
            &["TOKEN".to_owned()][..],
            &["linux".to_owned()][..]
        )
    );
    let odd = package(
        "---\nname: demo\ndescription: d\nmetadata: {openclaw: {requires: {bins: {a: b}}}}\n---\nb\n",
    );
    assert_eq!(codes(&odd), ["SK050", "SK101"]);
}

#[test]
fn globs_of_paths_are_bounded() {
    let parse = |paths: &str| {
        package(format!(
            "---\nname: demo\ndescription: d\npaths: {paths}\n---\nb\n"
        ))
    };
    let parsed = parse("\"src/**/*.{ts,tsx}, docs/*.md\"");
    assert_eq!(parsed.skill.paths, ["src/**/*.{ts,tsx}", "docs/*.md"]);
    assert!(parsed.skill.invocation.model);
    let bomb = "{a,b,c,d}".repeat(20);
    let parsed = parse(&format!("\"{bomb}\""));
    assert_eq!(codes(&parsed), ["SK052", "SK101"]);
    assert!(!parsed.skill.invocation.model);
}
