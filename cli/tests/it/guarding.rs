//! A model never writes what decides about it, even where the home is the workspace.

use serde_json::{Value, json};

use crate::harness::{Ran, World};
use crate::server::{Answer, Server};

/// Runs a task in which the model writes these files, all of them covered by a broad rule.
fn run(world: &World, folder: &str, paths: &[&str], options: &[&str]) -> Ran {
    let write = |path: &&str| {
        let arguments = json!({"path": path, "content": "owned\n"});
        ("write_file", arguments)
    };
    let calls = paths.iter().map(write).collect();
    let server = Server::start(vec![Answer::Calls(calls), Answer::Text("done")]);
    let model = ["--model", "mock/m", "--base-url", &server.base_url];
    let folder = world.path(folder).display().to_string();
    let place = ["-C", &folder, "--json", "run", "--yes", "write(**)"];
    world.run(&[options, &model, &place, &["Do it"]].concat())
}

fn denied(ran: &Ran) -> Value {
    ran.event("turn.finished")["denied"].clone()
}

#[test]
fn nothing_that_steers_the_program_or_a_shell_is_written_below_a_home() {
    let world = World::new();
    let paths = [
        ".config/tekne/config.yaml",
        ".config/tekne/skills/x/SKILL.md",
        ".local/share/tekne/trust.json",
        ".local/share/tekne/journal.db",
        ".bash_aliases",
        ".config/fish/functions/ls.fish",
        ".config/git/config",
        ".gitconfig",
        ".ssh/authorized_keys",
        ".xprofile",
        ".profile",
        ".claude/settings.json",
        ".mcp.json",
    ];
    let ran = run(&world, "home", &paths, &[]).exits(0);
    assert_eq!(denied(&ran), paths.len());
    let ran = run(&world, "home", &["notes/a.md"], &[]).exits(0);
    assert_eq!(denied(&ran), 0);
}

#[test]
fn a_configuration_named_on_the_command_line_is_not_written() {
    let world = World::new();
    world.write("real.yaml", "tools: {policy: [deny write(secret/**)]}\n");
    std::os::unix::fs::symlink("real.yaml", world.work().join("c.yaml")).unwrap();
    let ran = run(
        &world,
        "work",
        &["c.yaml", "real.yaml"],
        &["--config", "c.yaml"],
    );
    assert_eq!(denied(&ran.exits(0)), 2);
}

#[test]
fn skills_that_a_link_leads_to_are_not_written_by_their_other_name() {
    let world = World::new();
    world.write("common/one/SKILL.md", "x");
    world.write(
        "extra/two/SKILL.md",
        "---\nname: two\ndescription: d\n---\nx",
    );
    world.write(".claude/settings.json", "{}");
    std::os::unix::fs::symlink("../common", world.work().join(".claude/skills")).unwrap();
    std::os::unix::fs::symlink("extra", world.work().join("alias")).unwrap();
    world.configure("skills: {roots: [{path: ~/../work/alias}]}\n");
    let paths = [
        ".claude/skills/one/SKILL.md",
        "common/one/SKILL.md",
        "alias/two/SKILL.md",
        "extra/two/SKILL.md",
    ];
    let ran = run(&world, "work", &paths, &[]).exits(0);
    assert_eq!(denied(&ran), 4, "{ran:?}");
}

#[test]
fn a_run_inside_a_protected_folder_writes_nothing() {
    let world = World::new();
    for folder in ["work/.git", "work/.claude/skills", "home/.config/tekne"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
        let ran = run(&world, folder, &["x", "hooks/x"], &[]).exits(0);
        assert_eq!(denied(&ran), 2, "{folder}");
    }
}
