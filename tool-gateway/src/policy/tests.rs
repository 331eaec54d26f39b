//! The lattice, the default table, and who may loosen what.

use proptest::prelude::*;

use super::*;

const ALL_SOURCES: [Source; 6] = [
    Source::Managed,
    Source::User,
    Source::Project,
    Source::Assistant,
    Source::Skill,
    Source::Flag,
];

fn policy(mode: Mode, rules: &[(Source, &str)]) -> Policy {
    Policy::merge(
        mode,
        rules
            .iter()
            .map(|(source, text)| (*source, text.parse().unwrap())),
    )
    .0
}

fn effect(mode: Mode, rules: &[(Source, &str)], access: Access) -> Effect {
    policy(mode, rules).judge("t", &[access]).effect
}

#[test]
fn the_default_table_is_the_documented_one() {
    use Effect::{Allow, Ask, Deny};
    let run = Access::Run(vec!["ls".into()]);
    let mcp = Access::Mcp {
        server: "s".into(),
        tool: "t".into(),
    };
    let http = Access::Http {
        method: "GET".into(),
        host: "h".into(),
        path: "/".into(),
    };
    let table = [
        (Access::read("a"), Allow, Allow),
        (Access::read(".git/config"), Allow, Allow),
        (Access::OpenSkill, Allow, Allow),
        (Access::write("a"), Ask, Deny),
        (Access::delete("a"), Ask, Deny),
        (run, Ask, Deny),
        (mcp, Ask, Deny),
        (http, Ask, Deny),
        (Access::Skill("x".into()), Ask, Deny),
        (Access::Tool("x".into()), Ask, Deny),
        (Access::read("/etc/passwd"), Ask, Deny),
        (Access::write("../x"), Ask, Deny),
        (Access::write(".git/config"), Ask, Deny),
    ];
    for (access, interactive, headless) in table {
        assert_eq!(
            effect(Mode::Interactive, &[], access.clone()),
            interactive,
            "{access}"
        );
        assert_eq!(
            effect(Mode::Headless, &[], access.clone()),
            headless,
            "{access}"
        );
    }
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_source_and_order() {
    use Effect::{Allow, Ask, Deny};
    let access = || Access::write("a");
    let (allow, ask, deny) = (
        (Source::Flag, "allow write(**)"),
        (Source::Project, "ask write(*)"),
        (Source::Skill, "deny write(a)"),
    );
    for (rules, expected) in [
        (vec![allow], Allow),
        (vec![allow, ask], Ask),
        (vec![ask, allow], Ask),
        (vec![allow, deny], Deny),
        (vec![deny, ask, allow], Deny),
        (vec![ask, deny], Deny),
    ] {
        assert_eq!(
            effect(Mode::Interactive, &rules, access()),
            expected,
            "{rules:?}"
        );
    }
}

#[test]
fn a_rule_that_asks_is_a_no_where_nobody_can_be_asked() {
    let policy = policy(Mode::Headless, &[(Source::Project, "ask read(**)")]);
    let decision = policy.judge("read_file", &[Access::read("a")]);
    assert_eq!(decision.effect, Effect::Deny);
    assert_eq!(
        decision.explain(),
        "deny read(a): rule `ask read(**)` (project), and nobody can be asked"
    );
}

#[test]
fn a_project_or_a_skill_that_allows_is_reported_and_ignored() {
    for source in [Source::Project, Source::Skill] {
        let rules = [
            (source, "allow write(**)".parse().unwrap()),
            (source, "deny read(x)".parse().unwrap()),
        ];
        let (policy, ignored) = Policy::merge(Mode::Headless, rules);
        assert_eq!(
            ignored
                .iter()
                .map(|rule| rule.rule.to_string())
                .collect::<Vec<_>>(),
            ["allow write(**)"]
        );
        assert_eq!(
            policy.judge("t", &[Access::write("a")]).effect,
            Effect::Deny
        );
        assert_eq!(policy.judge("t", &[Access::read("x")]).effect, Effect::Deny);
    }
}

#[test]
fn no_broad_rule_opens_a_protected_or_outside_path() {
    for path in [
        ".git/config",
        ".GIT/config",
        ".tekne/skills/x/SKILL.md",
        ".mcp.json",
        "../x",
        "/etc/x",
    ] {
        for rule in [
            "allow write(**)",
            "allow write(*/**)",
            "allow write(.git/**)",
            "allow write(.tekne/**)",
        ] {
            let rules = [(Source::Managed, rule), (Source::Flag, rule)];
            assert_eq!(
                effect(Mode::Interactive, &rules, Access::write(path)),
                Effect::Ask,
                "{rule} {path}"
            );
            assert_eq!(
                effect(Mode::Headless, &rules, Access::write(path)),
                Effect::Deny,
                "{rule} {path}"
            );
        }
    }
}

#[test]
fn a_rule_that_names_a_protected_path_exactly_opens_it_where_somebody_is_there() {
    let rules = [(Source::User, "allow write(.git/config)")];
    assert_eq!(
        effect(Mode::Interactive, &rules, Access::write(".git/config")),
        Effect::Allow
    );
    assert_eq!(
        effect(Mode::Interactive, &rules, Access::write(".GIT/config")),
        Effect::Ask
    );
    assert_eq!(
        effect(Mode::Headless, &rules, Access::write(".git/config")),
        Effect::Deny
    );
    let both = [
        (Source::User, "allow write(**)"),
        (Source::User, "allow write(.git/config)"),
    ];
    assert_eq!(
        effect(Mode::Interactive, &both, Access::write(".git/config")),
        Effect::Allow
    );
}

#[test]
fn an_added_skill_root_is_protected() {
    let policy = policy(Mode::Interactive, &[(Source::User, "allow write(**)")])
        .protect(["skills", "./YOLO/skills/"]);
    for path in ["skills/a.skill.md", "Skills/x", "YOLO/skills/y.md"] {
        assert_eq!(
            policy.judge("t", &[Access::write(path)]).effect,
            Effect::Ask,
            "{path}"
        );
    }
    assert_eq!(
        policy.judge("t", &[Access::write("YOLO/a.md")]).effect,
        Effect::Allow
    );
}

#[test]
fn a_rule_about_a_tools_name_tightens_its_capabilities_and_never_grants_them() {
    let judge = |rule: &str, access: &[Access]| {
        policy(Mode::Interactive, &[(Source::User, rule)])
            .judge("write_file", access)
            .effect
    };
    assert_eq!(
        judge("allow tool(write_file)", &[Access::write("a")]),
        Effect::Ask
    );
    assert_eq!(
        judge("deny tool(write_file)", &[Access::read("a")]),
        Effect::Deny
    );
    assert_eq!(
        judge("ask tool(write_*)", &[Access::read("a")]),
        Effect::Ask
    );
    assert_eq!(judge("allow tool(write_file)", &[]), Effect::Allow);
    assert_eq!(judge("allow tool(other)", &[]), Effect::Ask);
}

#[test]
fn the_strictest_capability_of_a_call_decides_and_is_named() {
    let policy = policy(Mode::Interactive, &[(Source::User, "deny delete(keep/**)")]);
    let decision = policy.judge("move", &[Access::write("b"), Access::delete("keep/a")]);
    assert_eq!(decision.effect, Effect::Deny);
    assert_eq!(
        decision.explain(),
        "deny delete(keep/a): rule `deny delete(keep/**)` (user)"
    );
    let asked = policy.judge("write_file", &[Access::write("b")]);
    assert_eq!(
        asked.explain(),
        "ask write(b): default for writing in the workspace"
    );
}

const TEXTS: [&str; 8] = [
    "allow write(**)",
    "ask write(**)",
    "deny write(**)",
    "allow write(a/*)",
    "ask write(a/**)",
    "deny write(a/b)",
    "allow read(**)",
    "deny read(.git/**)",
];

fn some_rules() -> impl Strategy<Value = Vec<(Source, Rule)>> {
    let rule = (
        prop::sample::select(&ALL_SOURCES[..]),
        prop::sample::select(&TEXTS[..]),
    );
    prop::collection::vec(
        rule.prop_map(|(source, text)| (source, text.parse().unwrap())),
        0..8,
    )
}

fn some_access() -> impl Strategy<Value = Access> {
    let path = prop::sample::select(vec!["a/b", "a", "c", ".git/config", "../x", "A/B"]);
    (path, any::<bool>()).prop_map(|(path, write)| {
        if write {
            Access::write(path)
        } else {
            Access::read(path)
        }
    })
}

fn some_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Interactive, Mode::Headless])
}

proptest! {
    #[test]
    fn order_never_matters(mode in some_mode(), rules in some_rules(), access in some_access(), turn in 0usize..8) {
        let before = Policy::merge(mode, rules.clone()).0.effect_of(&access);
        let mut turned = rules;
        if !turned.is_empty() {
            let by = turn % turned.len();
            turned.rotate_left(by);
            turned.reverse();
        }
        prop_assert_eq!(before, Policy::merge(mode, turned).0.effect_of(&access));
    }

    #[test]
    fn a_rule_that_asks_or_denies_never_loosens(
        mode in some_mode(), rules in some_rules(), access in some_access(),
        source in prop::sample::select(&ALL_SOURCES[..]),
        added in prop::sample::select(&["ask write(**)", "deny write(a/**)", "deny read(**)", "ask read(a/*)"][..]),
    ) {
        let before = Policy::merge(mode, rules.clone()).0.effect_of(&access);
        let mut more = rules;
        more.push((source, added.parse().unwrap()));
        let after = Policy::merge(mode, more).0.effect_of(&access);
        prop_assert!(after >= before, "{before:?} -> {after:?}");
    }

    #[test]
    fn a_project_or_a_skill_never_loosens(
        mode in some_mode(), rules in some_rules(), access in some_access(),
        source in prop::sample::select(&[Source::Project, Source::Skill][..]),
        added in prop::sample::select(&TEXTS[..]),
    ) {
        let before = Policy::merge(mode, rules.clone()).0.effect_of(&access);
        let mut more = rules;
        more.push((source, added.parse().unwrap()));
        let after = Policy::merge(mode, more).0.effect_of(&access);
        prop_assert!(after >= before, "{before:?} -> {after:?}");
    }

    #[test]
    fn a_call_is_as_strict_as_its_strictest_capability(
        mode in some_mode(), rules in some_rules(), a in some_access(), b in some_access(),
    ) {
        let policy = Policy::merge(mode, rules).0;
        let both = policy.judge("t", &[a.clone(), b.clone()]).effect;
        prop_assert_eq!(both, policy.effect_of(&a).max(policy.effect_of(&b)));
    }
}
