//! Loading: files, layers, and what a user is told.

use std::fs;

use tempfile::TempDir;

use super::*;

/// A folder with the files of some layers in it.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    fn places(&self) -> Places {
        let path = |name: &str| Some(self.folder.path().join(name));
        Places {
            managed: path("etc.yaml"),
            user: path("user.yaml"),
            project: path("work/.tekne/config.yaml"),
            file: None,
            home: path("home"),
            trusted: None,
        }
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.places(), &[])
    }
}

fn error(text: &[u8]) -> ConfigError {
    let files = Files::new(&[]);
    fs::write(files.folder.path().join("user.yaml"), text).unwrap();
    files.load().unwrap_err()
}

#[test]
fn without_any_file_the_built_in_values_hold() {
    let loaded = Files::new(&[]).load().unwrap();
    assert_eq!(loaded.config.limits.max_steps.map(u32::from), Some(50));
    assert_eq!(
        loaded.origins.get("limits.max_steps"),
        Some(&Origin::BuiltIn)
    );
    assert!(loaded.files.len() == 3 && loaded.files.iter().all(|file| !file.found));
}

#[test]
fn an_empty_file_one_with_comments_and_one_with_a_byte_order_mark_are_fine() {
    for text in [
        "",
        "\n \n",
        "# nothing\n",
        "---\n",
        "\u{feff}model: offline\n",
        "skills:\n",
    ] {
        assert!(
            Files::new(&[("user.yaml", text)]).load().is_ok(),
            "{text:?}"
        );
    }
}

#[test]
fn the_project_stands_over_the_user_and_flags_over_both() {
    let files = Files::new(&[
        ("etc.yaml", "model: a/managed"),
        ("user.yaml", "model: a/user"),
        ("work/.tekne/config.yaml", "model: a/project"),
    ]);
    let shown = |overrides: &[Override]| {
        let loaded = load(&files.places(), overrides).unwrap();
        let origin = loaded.origins.get("model").unwrap().kind();
        format!("{} {origin}", loaded.config.model.unwrap())
    };
    assert_eq!(shown(&[]), "a/project project");
    let flag = Override {
        key: "model",
        value: "offline".into(),
        origin: Origin::Flag("--model"),
    };
    assert_eq!(shown(&[flag]), "offline flag");
}

#[test]
fn a_wrong_flag_is_named() {
    let flag = Override {
        key: "limits.max_steps",
        value: 0.into(),
        origin: Origin::Flag("--max-steps"),
    };
    let error = load(&Places::default(), &[flag]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--max-steps: `limits.max_steps` takes a whole number above zero, found the number `0`"
    );
}

#[test]
fn the_file_of_the_flag_must_exist_and_the_others_need_not() {
    let file = Some(PathBuf::from("/nowhere/at/all.yaml"));
    let error = load(
        &Places {
            file,
            ..Places::default()
        },
        &[],
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/nowhere/at/all.yaml: cannot read"),
        "{error}"
    );
}

#[test]
fn what_is_no_file_of_a_readable_size_is_refused() {
    let files = Files::new(&[("user.yaml/x", "")]);
    assert!(files.load().unwrap_err().message.ends_with("not a file"));
    let long = error(&vec![b'['; 1_000_000]);
    assert_eq!(long.message, "the configuration is longer than 256 KiB");
    let deep = error(&vec![b'['; 200_000]);
    assert!(
        deep.line == Some(1) && deep.message.starts_with("not valid YAML"),
        "{deep}"
    );
    let latin = error(b"model: offline\n# caf\xe9\n");
    assert_eq!((latin.line, latin.column), (Some(2), Some(6)));
}

#[test]
fn skill_roots_start_where_their_file_stands() {
    let files = Files::new(&[
        (
            "user.yaml",
            "skills: {roots: [{path: ~/mine}, {path: near}, {path: /far}]}",
        ),
        (
            "work/.tekne/config.yaml",
            "skills: {roots: [{path: docs/skills}]}",
        ),
    ]);
    let loaded = files.load().unwrap();
    let top = files.folder.path();
    let paths: Vec<PathBuf> = loaded
        .config
        .skills
        .roots
        .iter()
        .map(|root| PathBuf::from(&root.path))
        .collect();
    assert_eq!(
        paths,
        [
            top.join("work/docs/skills"),
            top.join("home/mine"),
            top.join("near"),
            "/far".into()
        ]
    );
}

#[test]
fn what_this_version_does_not_do_is_said_and_not_dropped() {
    let text = "mcp_servers: {hub: {command: hub}}\nrouter: {top_k: 3}\ntrust: {skills: open}\n\
                assistants: {a: {profile: routed}, b: {profile: agent}}";
    let loaded = Files::new(&[("user.yaml", text)]).load().unwrap();
    let keys: Vec<&str> = loaded
        .notices
        .iter()
        .map(|notice| notice.key.as_str())
        .collect();
    assert_eq!(keys, ["mcp_servers.hub", "router", "assistants.a.profile"]);
}

#[test]
fn values_that_are_wrong_together_name_the_place_of_one() {
    let context = error(b"context:\n  window: 10\n  reserve_output: 10\n");
    assert_eq!((context.line, context.column), (Some(3), Some(19)));
    let server = error(b"mcp_servers:\n  hub:\n    args: [x]\n");
    assert_eq!(
        server.message,
        "`mcp_servers.hub` has neither `command` nor `url`"
    );
    assert_eq!(server.line, Some(3));
}

#[test]
fn a_trusted_file_has_effect_until_it_changes_by_a_byte() {
    let text = "tools: {policy: [allow run(git status)]}\n";
    let files = Files::new(&[("work/.tekne/config.yaml", text)]);
    let rules = |trusted: Option<String>| {
        let places = Places {
            trusted,
            ..files.places()
        };
        let loaded = load(&places, &[]).unwrap();
        (
            loaded.config.tools.policy.len(),
            loaded.notices.len(),
            loaded.project.unwrap(),
        )
    };
    let (count, notices, project) = rules(None);
    assert_eq!((count, notices, project.loosens.len()), (0, 1, 1));
    let digest = Some(project.tree.digest);
    let (count, notices, project) = rules(digest.clone());
    assert_eq!((count, notices, project.loosens.len()), (1, 0, 1));
    let path = files.folder.path().join("work/.tekne/config.yaml");
    fs::write(path, format!("{text} ")).unwrap();
    let (count, notices, _) = rules(digest);
    assert_eq!((count, notices), (0, 1));
}
