//! Merging: who wins, and who may not.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::document::parse;
use super::*;

fn layer(layer: Layer, text: &str) -> Node {
    parse(text, layer, &Arc::from(Path::new(layer.as_str()))).unwrap()
}

fn merged(layers: &[(Layer, &str)]) -> Node {
    merge(layers.iter().map(|(name, text)| layer(*name, text)))
}

fn value(layers: &[(Layer, &str)], pointer: &str) -> Value {
    merged(layers)
        .to_json()
        .pointer(pointer)
        .cloned()
        .unwrap_or_default()
}

use Layer::{File, Managed, Project, User};

#[test]
fn the_upper_value_stands_and_the_rest_of_a_map_stays() {
    let layers = [
        (User, "limits: {max_steps: 5, tokens: 9}\nmodel: a/b"),
        (Project, "limits: {max_steps: 3}"),
    ];
    assert_eq!(
        merged(&layers).to_json(),
        json!({"limits": {"max_steps": 3, "tokens": 9}, "model": "a/b"})
    );
}

#[test]
fn rules_and_disabled_skills_of_all_layers_count() {
    let layers = [
        (
            Managed,
            "tools: {policy: [deny delete(**)]}\nskills: {disabled: [a]}",
        ),
        (
            User,
            "tools: {policy: [allow write(**)]}\nskills: {disabled: [b, a]}",
        ),
    ];
    assert_eq!(
        value(&layers, "/tools/policy"),
        json!(["deny delete(**)", "allow write(**)"])
    );
    assert_eq!(value(&layers, "/skills/disabled"), json!(["a", "b"]));
}

#[test]
fn the_roots_of_the_upper_layer_come_first() {
    let layers = [
        (User, "skills: {roots: [{path: u}]}"),
        (File, "skills: {roots: [{path: f}]}"),
    ];
    assert_eq!(
        value(&layers, "/skills/roots"),
        json!([{"path": "f"}, {"path": "u"}])
    );
}

#[test]
fn a_user_may_replace_their_own_list_of_tools() {
    let layers = [
        (User, "tools: {allow: [a]}"),
        (File, "tools: {allow: [a, b]}"),
    ];
    assert_eq!(value(&layers, "/tools/allow"), json!(["a", "b"]));
}

#[test]
fn a_project_can_only_narrow_the_list_of_tools() {
    let narrow = (Project, "tools: {allow: [b, c]}");
    assert_eq!(
        value(&[(User, "tools: {allow: [a, b]}"), narrow], "/tools/allow"),
        json!(["b"])
    );
    assert_eq!(value(&[narrow], "/tools/allow"), json!(["b", "c"]));
    let assistants = [
        (User, "assistants: {x: {tools: [a]}}"),
        (Project, "assistants: {x: {tools: [b]}}"),
    ];
    assert_eq!(value(&assistants, "/assistants/x/tools"), json!([]));
}

#[test]
fn nobody_widens_what_the_owner_of_the_machine_allows() {
    let managed = (Managed, "tools: {allow: [a, b, c]}");
    let layers = [
        managed,
        (User, "tools: {allow: [b, d]}"),
        (File, "tools: {allow: [b, c, d]}"),
    ];
    assert_eq!(value(&layers, "/tools/allow"), json!(["b"]));
    let emptied = [
        managed,
        (User, "tools: {allow: [d]}"),
        (File, "tools: {allow: [d]}"),
    ];
    assert_eq!(value(&emptied, "/tools/allow"), json!([]));
}

#[test]
fn every_value_knows_where_it_was_written() {
    let merged = merged(&[
        (User, "limits:\n  max_steps: 5\n  tokens: 9\n"),
        (
            Project,
            "limits:\n  max_steps: 3\nskills:\n  disabled:\n    - a\n",
        ),
    ]);
    let origins = origins(&merged);
    let shown: Vec<String> = origins
        .iter()
        .map(|(key, origin)| format!("{key} {origin}"))
        .collect();
    assert_eq!(
        shown,
        [
            "limits.max_steps project:2",
            "limits.tokens user:3",
            "skills.disabled[0] project:5"
        ]
    );
}
