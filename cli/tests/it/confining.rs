//! What a project's files must not do to what lies outside of it, and to what a person is shown.

use std::os::unix::fs::symlink;

use crate::harness::World;

/// A skill that acts, so that `trust` shows it.
const ACTS: &str = "---\nname: acts\ndescription: d\nallowed-tools: Read\n---\nbody\n";

#[test]
fn a_file_name_cannot_forge_a_line_of_what_is_to_be_trusted() {
    let world = World::new();
    world.write(".tekne/skills/acts/SKILL.md", ACTS);
    let forged = "x\nskill other: trusted\n  digest 0";
    world.write(&format!(".tekne/skills/acts/{forged}"), "x");
    world.write(&format!(".tekne/skills/{forged}/SKILL.md"), ACTS);
    for command in [
        vec!["trust"],
        vec!["skills", "lock"],
        vec!["skills", "check"],
    ] {
        let ran = world.run(&command);
        let mut lines = ran.stdout.lines().chain(ran.stderr.lines());
        assert!(
            !lines.any(|line| line.contains("other: trusted") && !line.contains("\\n")),
            "{ran:?}"
        );
    }
    assert!(
        world
            .run(&["trust"])
            .stdout
            .contains("x\\nskill other: trusted")
    );
    // A link is named where its target is, and both may lie.
    let world = World::new();
    world.write(".git/HEAD", "");
    world.write(".tekne/skills/acts/SKILL.md", ACTS);
    let target = world.path("home").join(forged);
    std::fs::create_dir_all(&target).unwrap();
    symlink(target, world.work().join(".tekne/skills/out")).unwrap();
    for command in [vec!["trust"], vec!["skills", "list"]] {
        let ran = world.run(&command);
        let mut lines = ran.stdout.lines().chain(ran.stderr.lines());
        assert!(
            !lines.any(|line| line.starts_with("skill other")),
            "{ran:?}"
        );
    }
}

#[test]
fn what_init_and_new_did_not_write_waits() {
    let world = World::new();
    world.write(".tekne/skills/first-skill/scripts/run.sh", "evil");
    world.write(".tekne/skills/mine/scripts/run.sh", "evil");
    let _ = world.run(&["init"]).exits(0);
    let _ = world.run(&["skills", "new", "mine"]).exits(0);
    let ran = world.run(&["trust", "--json"]).exits(4);
    let items = ran.json()["items"].as_array().unwrap().clone();
    let states: Vec<_> = items.iter().map(|item| item["state"].as_str()).collect();
    assert_eq!(states, [Some("changed"), Some("changed")]);
    assert_eq!(items[0]["changes"][0]["path"], "scripts/run.sh");
}

#[test]
fn init_and_new_write_nothing_through_a_link_out_of_the_project() {
    for (link, command) in [
        (".tekne", vec!["init"]),
        (".tekne/skills", vec!["init"]),
        (".tekne/skills/mine", vec!["skills", "new", "mine"]),
    ] {
        let world = World::new();
        let outside = world.path("outside");
        std::fs::create_dir(&outside).unwrap();
        let link = world.work().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        let _ = world.run(&command).exits(2).says(&["leads elsewhere"]);
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}

#[test]
fn locking_takes_nothing_of_what_a_link_leads_out_of_the_project_to() {
    let world = World::new();
    world.write(".git/HEAD", "");
    world.write(".tekne/skills/acts/SKILL.md", ACTS);
    let secret = world.path("secret");
    symlink(&secret, world.work().join(".tekne/skills/acts/notes.md")).unwrap();
    let lock = |text: &str| {
        std::fs::write(&secret, text).unwrap();
        let _ = world.run(&["skills", "lock"]).exits(0);
        world.read("skills.lock").unwrap()
    };
    assert_eq!(lock("one secret"), lock("another one"));
    let kept = world.path("home/.local/share/tekne/approved");
    for file in std::fs::read_dir(kept).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn a_pipe_in_the_place_of_the_lock_holds_nothing_up() {
    let world = World::new();
    world.write(".tekne/skills/acts/SKILL.md", ACTS);
    let path = world.work().join("skills.lock");
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
    let ran = world.run(&["skills", "list"]).exits(0);
    assert!(!ran.stdout.contains("acts"), "{ran:?}");
}

#[test]
fn a_version_cannot_write_to_the_terminal() {
    let world = World::new();
    let text = ACTS.replace(
        "name: acts",
        "name: acts\nversion: \"1\\e[2J\\nnote: forged\"",
    );
    world.write("made/acts/SKILL.md", text);
    let ran = world.run(&["skills", "register", "made/acts"]).exits(0);
    assert!(!ran.stderr.contains(['\u{1b}']), "{ran:?}");
    assert!(
        !ran.stderr
            .lines()
            .any(|line| line.starts_with("note: forged")),
        "{ran:?}"
    );
}

#[test]
fn mending_follows_no_link_out_of_the_project_and_mends_a_file_once() {
    let world = World::new();
    world.write(".git/HEAD", "");
    let broken = "---\nname: a\ndescription: Use when: asked\n---\nbody\n";
    let outside = world.path("outside");
    std::fs::create_dir(&outside).unwrap();
    for name in ["own", "named"] {
        world.write(&format!(".tekne/skills/{name}/SKILL.md"), broken);
    }
    let skills = world.work().join(".tekne/skills");
    std::fs::write(outside.join("SKILL.md"), broken).unwrap();
    std::fs::create_dir(skills.join("out")).unwrap();
    symlink(outside.join("SKILL.md"), skills.join("out/SKILL.md")).unwrap();
    std::fs::create_dir(skills.join("twice")).unwrap();
    symlink("../own/SKILL.md", skills.join("twice/SKILL.md")).unwrap();
    std::fs::hard_link(skills.join("named/SKILL.md"), world.path("other")).unwrap();
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let fix = ["skills", "check", "--fix", "--yes", ".tekne/skills"];
    let ran = world
        .run(&fix)
        .says(&["a link leads to", "it has other names"]);
    assert_eq!(read(&outside.join("SKILL.md")), broken, "{ran:?}");
    assert_eq!(read(&world.path("other")), broken);
    assert!(
        read(&skills.join("own/SKILL.md")).contains("\"Use when: asked\""),
        "{ran:?}"
    );
    assert!(skills.join("twice/SKILL.md").is_symlink());
}
