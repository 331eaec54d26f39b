//! What is protected, in every spelling and from every place.

use super::*;
use crate::access::Access;
use crate::policy::table::row;

fn protected(access: &Access) -> bool {
    let mut protected = Protected::default();
    protected.add("./Skills/");
    protected.add("lib/skills");
    row(access, &protected).guarded
}

#[test]
fn what_steers_agents_and_shells_is_protected_in_every_spelling() {
    for path in [
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".git /x",
        ".g\u{200d}it/x",
        ".git::$INDEX_ALLOCATION/x",
        ".tekne/config.yaml",
        ".Tekne/skills/x/SKILL.md",
        ".mcp.json",
        ".MCP.JSON",
        "home/.bashrc",
        ".zshenv",
        ".agents/skills/x/SKILL.md",
        ".Claude/Skills/x",
        "skills/x/SKILL.md",
        "SKILLS/x",
        "lib/skills/y",
        ".git",
    ] {
        assert!(protected(&Access::write(path)), "{path}");
        assert!(protected(&Access::delete(path)), "{path}");
        assert!(!protected(&Access::read(path)), "{path}");
    }
    for path in [
        ".gitignore",
        "src/skills.rs",
        "x/skills/y",
        ".github/workflows/ci.yml",
        "git/config",
    ] {
        assert!(!protected(&Access::write(path)), "{path}");
    }
}

#[test]
fn deleting_a_folder_that_holds_something_protected_is_guarded() {
    for path in [".", ".claude", ".agents", "lib", "a/.claude"] {
        assert!(protected(&Access::delete(path)), "{path}");
    }
    assert!(!protected(&Access::delete("src")));
}

#[test]
fn what_steers_the_user_is_protected_below_a_home_folder() {
    for path in [
        ".config/tekne/config.yaml",
        ".config/tekne/skills/x/SKILL.md",
        ".local/share/tekne/trust.json",
        ".local/share/tekne/journal.db",
        ".bash_aliases",
        ".bashrc.d/10-path.sh",
        ".zshrc.local",
        ".config/fish/functions/ls.fish",
        ".config/fish/conf.d/a.fish",
        ".config/git/config",
        ".gitconfig",
        ".gitconfig-work",
        ".ssh/authorized_keys",
        ".ssh/config",
        ".xprofile",
        ".xsessionrc",
        ".profile",
        ".config/autostart/x.desktop",
        ".config/systemd/user/x.service",
        ".config/environment.d/x.conf",
        ".pam_environment",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks/x.sh",
        ".claude.json",
        ".codex/config.toml",
        "home/ada/.Config/Tekne/config.yaml",
    ] {
        assert!(protected(&Access::write(path)), "{path}");
        assert!(protected(&Access::delete(path)), "{path}");
    }
    for path in [".config", ".local", ".local/share", "home/.config"] {
        assert!(protected(&Access::delete(path)), "{path}");
    }
    for path in [
        ".config/nvim/init.lua",
        ".local/share/notes/a.md",
        "config/tekne/x",
        ".claude/worktrees/fix/src/main.rs",
        "profile.md",
        ".gitattributes",
    ] {
        assert!(!protected(&Access::write(path)), "{path}");
    }
    assert!(protected(&Access::write(
        ".claude/worktrees/fix/.claude/settings.json"
    )));
}

#[test]
fn a_protected_root_that_is_the_workspace_protects_all_of_it() {
    let mut all = Protected::default();
    all.add(".");
    assert!(row(&Access::write("a/b"), &all).guarded);
    assert!(!row(&Access::read("a/b"), &all).guarded);
}
