//! No broad rule lets a call write what steers agents and shells, by whatever name it goes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use tool_gateway::{Gateway, Mode, Workspace, builtins};

use crate::support::*;

/// A home folder; the workspace is it or lies in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn folder(&self, path: &str) -> PathBuf {
        let folder = self.path(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    }
}

fn gateway(workspace: &Path, protected: &[PathBuf]) -> Gateway {
    let workspace = Workspace::open(workspace).unwrap();
    let policy = policy(Mode::Headless, &["allow write(**)"]);
    Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy.protect_in(&workspace, protected))
        .build()
        .unwrap()
}

/// Tells whether a broad rule lets a call write `path`.
async fn writes(gateway: &Gateway, path: &str) -> bool {
    let call = call("c1", "write_file", json!({"path": path, "content": "x"}));
    let record = dispatch_one(gateway, call).await;
    assert_eq!(
        record.denied,
        record.result.is_error(),
        "{}",
        record.result.content
    );
    !record.denied
}

#[tokio::test]
async fn a_workspace_in_a_protected_folder_is_protected_as_a_whole() {
    let home = Home::new();
    for folder in [
        ".git",
        "repo/.git/hooks",
        ".tekne",
        ".claude/skills",
        ".config/fish/conf.d",
        ".ssh",
    ] {
        let gateway = gateway(&home.folder(folder), &[]);
        assert!(!writes(&gateway, "x").await, "{folder}");
        assert!(!writes(&gateway, "deep/x").await, "{folder}");
    }
    let gateway = gateway(&home.folder(".claude/worktrees/fix"), &[]);
    assert!(writes(&gateway, "x").await);
}

#[tokio::test]
async fn a_protected_path_that_begins_above_the_workspace_is_protected() {
    let home = Home::new();
    let config = gateway(&home.folder(".config"), &[]);
    assert!(!writes(&config, "tekne/config.yaml").await);
    assert!(!writes(&config, "git/config").await);
    assert!(writes(&config, "nvim/init.lua").await);
    let share = gateway(&home.folder(".local/share"), &[]);
    assert!(!writes(&share, "tekne/trust.json").await);
}

#[tokio::test]
async fn a_skill_root_that_is_a_link_is_protected_by_both_its_names() {
    let home = Home::new();
    home.folder("ws/common/deploy");
    home.folder("ws/.claude");
    symlink("../common", home.path("ws/.claude/skills")).unwrap();
    symlink(".claude", home.path("ws/innocent")).unwrap();
    let gateway = gateway(&home.path("ws"), &[]);
    for path in [
        ".claude/skills/deploy/SKILL.md",
        "common/deploy/SKILL.md",
        "innocent/skills/deploy/SKILL.md",
        "innocent/settings.json",
    ] {
        assert!(!writes(&gateway, path).await, "{path}");
    }
    assert!(writes(&gateway, "other/SKILL.md").await);
}

#[tokio::test]
async fn a_protected_file_below_that_is_a_link_is_judged_as_it_is_written() {
    let home = Home::new();
    home.folder("deep/.claude");
    home.folder("plain");
    symlink("../../plain", home.path("deep/.claude/skills")).unwrap();
    symlink("deep/.claude/skills", home.path("chain")).unwrap();
    let gateway = gateway(home.0.path(), &[]);
    assert!(!writes(&gateway, "deep/.claude/skills/x").await);
    assert!(!writes(&gateway, "chain/x").await);
}

#[tokio::test]
async fn what_a_start_file_of_the_home_links_to_is_protected_in_the_repository_of_dotfiles() {
    let home = Home::new();
    home.folder("dotfiles/tekne");
    home.folder(".config");
    fs::write(home.path("dotfiles/rc"), "old").unwrap();
    symlink("dotfiles/rc", home.path(".bashrc")).unwrap();
    symlink("../dotfiles/tekne", home.path(".config/tekne")).unwrap();
    let gateway = gateway(&home.path("dotfiles"), &[]);
    assert!(!writes(&gateway, "rc").await);
    assert!(!writes(&gateway, "tekne/config.yaml").await);
    assert!(writes(&gateway, "README.md").await);
}

#[tokio::test]
async fn paths_of_the_program_are_protected_wherever_they_lie() {
    let home = Home::new();
    home.folder("ws/conf");
    home.folder("ws/data");
    fs::write(home.path("ws/real.yaml"), "{}").unwrap();
    symlink("real.yaml", home.path("ws/c.yaml")).unwrap();
    symlink("ws/data", home.path("data")).unwrap();
    let protected = [
        home.path("ws/conf"),
        PathBuf::from("c.yaml"),
        home.path("data/tekne"),
        home.path("elsewhere"),
    ];
    let inside = gateway(&home.path("ws"), &protected);
    for path in ["conf/config.yaml", "c.yaml", "real.yaml", "data/tekne/x"] {
        assert!(!writes(&inside, path).await, "{path}");
    }
    assert!(writes(&inside, "data/other").await);
    let below = gateway(&home.path("ws/conf"), &protected);
    assert!(!writes(&below, "x").await);
}

#[tokio::test]
async fn a_rule_about_the_name_of_a_link_counts_like_one_about_what_it_leads_to() {
    let home = Home::new();
    home.folder("data");
    fs::write(home.path("data/x"), "SECRET").unwrap();
    symlink("data", home.path("secret")).unwrap();
    let workspace = Workspace::open(home.0.path()).unwrap();
    let gateway = Gateway::builder()
        .tools(builtins(&workspace))
        .policy(policy(Mode::Headless, &["deny read(secret/**)"]))
        .build()
        .unwrap();
    let read = |path: &str| call("c1", "read_file", json!({"path": path}));
    assert!(dispatch_one(&gateway, read("secret/x")).await.denied);
    assert!(!dispatch_one(&gateway, read("data/x")).await.denied);
}

#[tokio::test]
async fn a_path_longer_than_any_is_refused_unread() {
    let home = Home::new();
    let gateway = gateway(home.0.path(), &[]);
    for name in ["read_file", "list_dir"] {
        let long = call("c1", name, json!({"path": "a/../".repeat(100_000)}));
        let record = dispatch_one(&gateway, long).await;
        let expected = format!("`{}…` is too long for a path", "a/../".repeat(20));
        assert_eq!(record.result.content, expected);
    }
}
