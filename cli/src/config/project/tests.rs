//! Projects: what has effect and what is left out.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::document::parse;
use super::super::merge::merge;
use super::super::origin::Layer;
use super::super::schema::json_schema;
use super::*;

fn tree(layer: Layer, text: &str) -> Node {
    parse(text, layer, &Arc::from(Path::new(layer.as_str()))).unwrap()
}

fn check(user: &str, project: &str) -> (Value, Vec<String>) {
    let user = tree(Layer::User, user);
    let restricted = restrict(
        tree(Layer::Project, project),
        &user,
        Some(Path::new("u.yaml")),
        false,
    );
    let merged = merge([user, restricted.layer]).to_json();
    (
        merged,
        restricted
            .notices
            .into_iter()
            .map(|notice| notice.message)
            .collect(),
    )
}

fn ignored(user: &str, project: &str) -> String {
    let (merged, notices) = check(user, project);
    let (alone, _) = check(user, "");
    assert_eq!(without_empty(merged), without_empty(alone), "{project}");
    assert_eq!(notices.len(), 1, "{project}: {notices:?}");
    notices.into_iter().next().unwrap()
}

fn without_empty(value: Value) -> Value {
    let Value::Object(map) = value else {
        return value;
    };
    let map = map
        .into_iter()
        .map(|(key, value)| (key, without_empty(value)));
    Value::Object(
        map.filter(|(_, v)| *v != json!({}) && *v != json!([]))
            .collect(),
    )
}

#[test]
fn what_loosens_starts_or_points_elsewhere_is_ignored() {
    for (user, project) in [
        (
            "",
            "providers: {openai: {base_url: http://evil.example/v1}}",
        ),
        ("", "mcp_servers: {x: {command: ./evil}}"),
        ("", "tools: {policy: [allow run(**)]}"),
        ("limits: {usd: 1}", "limits: {usd: 2}"),
        ("limits: {wall: 10m}", "limits: {wall: 1h}"),
        ("context: {window: 10}", "context: {window: 11}"),
        (
            "context: {caps: {history: 5}}",
            "context: {caps: {history: 6}}",
        ),
        ("trust: {skills: pinned}", "trust: {skills: open}"),
        ("", "skills: {roots: [{path: /home/other}]}"),
        ("", "skills: {roots: [{path: a/../../x}]}"),
        ("", "skills: {roots: [{path: ~/x}]}"),
        ("", "skills: {roots: [{path: x, scope: managed}]}"),
        ("skills: {include: [a*]}", "skills: {include: ['*']}"),
        ("skills: {prefer: user}", "skills: {prefer: project}"),
        (
            "assistants: {x: {profile: quick-ask}}",
            "assistants: {x: {profile: agent}}",
        ),
        ("", "assistants: {x: {groups: [staff]}}"),
        ("", "assistants: {x: {roles: [admin]}}"),
        (
            "assistants: {x: {skills: {s: {enabled: false}}}}",
            "assistants: {x: {skills: {s: {enabled: true}}}}",
        ),
        (
            "assistants: {x: {budget: {tokens: 5}}}",
            "assistants: {x: {budget: {tokens: 6}}}",
        ),
    ] {
        ignored(user, project);
    }
}

#[test]
fn what_tightens_has_effect() {
    for (user, project) in [
        (
            "limits: {max_steps: 50}",
            "limits: {max_steps: 10, wall: 1m}",
        ),
        (
            "",
            "tools: {policy: [deny write(**), ask read(**)], allow: [read_file]}",
        ),
        ("", "trust: {skills: pinned}"),
        (
            "",
            "skills: {disabled: [a], exclude: [b*], name_only: [c*], prefer: user}",
        ),
        (
            "",
            "skills: {include: [a*], roots: [{path: docs/skills, lite: true}]}",
        ),
        (
            "",
            "assistants: {x: {system: Be brief., profile: agent, skills: {s: {load: always}}}}",
        ),
        (
            "assistants: {x: {max_loaded: 3}}",
            "assistants: {x: {max_loaded: 2}}",
        ),
        ("", "model: offline"),
    ] {
        let (merged, notices) = check(user, project);
        assert_eq!(notices, Vec::<String>::new(), "{project}");
        let project = project.replace("lite: true", "lite: true, scope: project");
        let expected = merge([tree(Layer::User, user), tree(Layer::Project, &project)]);
        assert_eq!(merged, expected.to_json(), "{project}");
    }
}

#[test]
fn folders_that_a_project_names_hold_the_projects_skills() {
    for said in ["", ", scope: null", ", scope: project"] {
        let project = format!("skills: {{roots: [{{path: a{said}}}]}}");
        let (merged, notices) = check("", &project);
        assert_eq!(notices, Vec::<String>::new(), "{project}");
        assert_eq!(
            merged["skills"]["roots"][0]["scope"], "project",
            "{project}"
        );
    }
    // Trust lets one in that lies outside; it is the project's all the same.
    let (merged, ..) = trusted("", "skills: {roots: [{path: /home/other}]}");
    assert_eq!(merged["skills"]["roots"][0]["scope"], "project");
}

#[test]
fn a_notice_names_the_key_the_reason_and_what_holds_instead() {
    assert_eq!(
        ignored("limits:\n  max_steps: 50\n", "limits: {max_steps: 99}"),
        "`limits.max_steps: 99` is ignored: a project can't raise a limit \
         (it stays 50, from user:2)"
    );
    assert_eq!(
        ignored("", "tools: {policy: [allow run(**)]}"),
        "`tools.policy[0]: allow run(**)` is ignored: a project can't allow anything"
    );
}

#[test]
fn one_bad_rule_does_not_take_the_others_along() {
    let (merged, notices) = check("", "tools: {policy: [allow run(**), deny run(rm)]}");
    assert_eq!(merged, json!({"tools": {"policy": ["deny run(rm)"]}}));
    assert_eq!(notices.len(), 1);
}

#[test]
fn a_key_that_nobody_decided_about_is_ignored() {
    let judge = |key: &str| {
        let steps = vec![Step::Key(key.to_owned())];
        let below = tree(Layer::User, "");
        let judge = Judge {
            below: &below,
            user_file: None,
            trusted: true,
            notices: Vec::new(),
            loosens: Vec::new(),
            steps,
        };
        matches!(
            judge.verdict(&tree(Layer::Project, "{}")),
            Verdict::Never(_)
        )
    };
    assert!(judge("new_key"));
    let schema = json_schema();
    for key in schema
        .pointer("/properties")
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
    {
        assert!(!judge(key), "`{key}` has no line in the verdict");
    }
}

fn trusted(user: &str, project: &str) -> (Value, usize, Vec<String>) {
    let user = tree(Layer::User, user);
    let restricted = restrict(tree(Layer::Project, project), &user, None, true);
    let keys = restricted.loosens.into_iter().map(|one| one.key).collect();
    let merged = merge([user, restricted.layer]).to_json();
    (merged, restricted.notices.len(), keys)
}

#[test]
fn what_loosens_has_effect_once_the_file_is_trusted_and_is_named() {
    for (user, project, key) in [
        (
            "",
            "tools: {policy: [deny run(rm), allow run(**)]}",
            "tools.policy[1]",
        ),
        (
            "",
            "providers: {openai: {base_url: http://127.0.0.1/v1}}",
            "providers.openai",
        ),
        ("limits: {usd: 1}", "limits: {usd: 2}", "limits.usd"),
        (
            "",
            "skills: {roots: [{path: /home/other}]}",
            "skills.roots[0]",
        ),
        (
            "",
            "assistants: {x: {groups: [staff]}}",
            "assistants.x.groups",
        ),
    ] {
        let (merged, notices, keys) = trusted(user, project);
        let project = project.replace("/home/other", "/home/other, scope: project");
        let expected = merge([tree(Layer::User, user), tree(Layer::Project, &project)]);
        assert_eq!((merged, notices), (expected.to_json(), 0), "{project}");
        assert_eq!(keys, [key]);
    }
    assert_eq!(trusted("", "tools: {policy: [deny run(rm)]}").2, [""; 0]);
}

#[test]
fn no_trust_lets_a_project_open_itself_or_speak_for_others() {
    for (user, project) in [
        ("trust: {skills: pinned}", "trust: {skills: open}"),
        ("", "skills: {roots: [{path: x, scope: managed}]}"),
    ] {
        let (merged, notices, keys) = trusted(user, project);
        let alone = without_empty(tree(Layer::User, user).to_json());
        assert_eq!(
            (without_empty(merged), notices, keys.len()),
            (alone, 1, 0),
            "{project}"
        );
    }
}
