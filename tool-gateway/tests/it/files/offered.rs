//! The folder the tools work in, and their definitions.

use std::sync::Arc;

use serde_json::json;
use tool_gateway::{Workspace, builtins};

use super::{folder, gateway};

#[test]
fn a_workspace_must_be_a_folder_that_exists() {
    let root = folder(&[("file", "x")]);
    let open = |path: &str| {
        Workspace::open(&root.path().join(path))
            .unwrap_err()
            .to_string()
    };
    let shown = |path: &str| root.path().join(path).display().to_string();
    assert_eq!(
        open("file"),
        format!("`{}` is a file, not a folder", shown("file"))
    );
    assert_eq!(open("none"), format!("nothing at `{}`", shown("none")));
}

#[test]
fn the_tools_that_the_model_sees_are_strict_and_stable() {
    let root = folder(&[]);
    let gateway = gateway(root.path(), &[]);
    let names: Vec<&str> = gateway
        .definitions()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "open_skill",
            "list_skills",
            "read_file",
            "list_dir",
            "search_files",
            "write_file",
            "edit_file",
            "move"
        ]
    );
    for definition in gateway.definitions() {
        assert_eq!(
            definition.parameters["type"], "object",
            "{}",
            definition.name
        );
        assert_eq!(
            definition.parameters["additionalProperties"], false,
            "{}",
            definition.name
        );
        assert!(definition.parameters.get("$schema").is_none());
    }
    assert_eq!(
        gateway.definitions()[2].parameters,
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path relative to the workspace root."},
                "offset": {
                    "description": "First line to read, counted from 1.",
                    "type": ["integer", "null"], "minimum": 1
                },
                "limit": {
                    "description": "How many lines to read at most.",
                    "type": ["integer", "null"], "minimum": 1
                }
            },
            "required": ["path"],
            "additionalProperties": false
        })
    );
    let again = Arc::new(builtins(&Workspace::open(root.path()).unwrap()));
    assert!(
        again
            .iter()
            .zip(gateway.definitions())
            .all(|(tool, shown)| tool.definition() == shown)
    );
}
