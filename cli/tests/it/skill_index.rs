//! What a request says about skills, and what the commands say about that.

use serde_json::{Value, json};

use crate::harness::World;
use crate::server::{Answer, Server};
use crate::skill_files::why;
use crate::skill_views::findings;

#[test]
fn why_with_a_task_prints_the_very_block_that_a_model_gets() {
    let world = World::new();
    world.skill("plain", "Says how.", "x\n");
    let server = Server::start(vec![Answer::Text("done")]);
    let model = ["--model", "mock/m", "--base-url", server.base_url.as_str()];
    let ran = world.run(&[&model[..], &["run", "A task"]].concat());
    let _ = ran.exits(0);
    let request = server.requests()[0].clone();
    let ran = world
        .run(
            &[
                &model[..],
                &["skills", "why", "--prompt", "A task", "--json"],
            ]
            .concat(),
        )
        .exits(0);
    let shown = ran.json();
    let block = shown["block"].as_str().unwrap();
    assert!(
        block.starts_with("# Skills\n") && block.contains("- plain: Says how."),
        "{block}"
    );
    let system = request["messages"][0]["content"].to_string();
    let quoted = Value::from(block).to_string();
    assert!(system.contains(quoted.trim_matches('"')), "{system}");
    assert!(
        shown["tools"]
            .as_array()
            .unwrap()
            .contains(&json!("open_skill"))
    );
}

#[test]
fn a_skill_for_certain_files_is_there_while_the_session_is_about_one() {
    let world = World::new();
    world.configure("model: offline\n");
    world.write(
        ".tekne/skills/rust/SKILL.md",
        "---\nname: rust\ndescription: How we write Rust.\npaths: \"src/**/*.rs\"\n---\nx\n",
    );
    world.write("src/Notes", "x");
    let listed = |arguments: &[&str]| {
        let shown = world.run(&[&["prompt", "show", "--json"], arguments].concat());
        let system = shown.exits(0).json()["request"]["system"].to_string();
        system.contains("- rust: How we write Rust.")
    };
    assert!(listed(&["Mend @src/deep/main.rs"]));
    assert!(listed(&["请修改src/lib.rs的注释"]));
    assert!(listed(&["Mend `src/my file.rs`, please"]));
    for task in [
        "Mend it",
        "Mend docs/main.rs",
        "Mend src/Notes",
        "Mend ../src/main.rs",
    ] {
        assert!(!listed(&[task]), "{task}");
    }
    // What a session was about before, it goes on to be about.
    let _ = world.run(&["run", "What is in src/lib.rs?"]).exits(0);
    assert!(listed(&["--resume", "last", "Go on"]));
    // From a folder of the project, names are told from there.
    world.write(".git/HEAD", "");
    let within = |task: &str| {
        let shown = world.run(&["-C", "src", "prompt", "show", "--json", task]);
        shown.exits(0).stdout.contains("- rust: How we write Rust.")
    };
    assert!(within("Mend main.rs") && !within("Mend main.py"));
}

#[test]
fn why_knows_the_very_line_of_a_skill_and_its_place() {
    let world = World::new();
    world.skill("a-long-name", "Holds an a, too.", "x");
    world.skill("a", "Bread & <butter>.", "x");
    world.skill("short", "Not shown.", "x");
    world.configure("skills: {name_only: [short]}\nassistants: {default: {skills: {a-long-name: {load: always}}}}\n");
    let ran = world.run(&["skills", "why", "a"]).exits(0);
    // No model is looked for to say so.
    assert_eq!(ran.stderr, "", "{ran:?}");
    for said in [
        "a: listed\n  the index shows it whole: - a: Bread &amp; &lt;butter&gt;.\n",
        "  position in the index: 2 of 4\n",
    ] {
        assert!(ran.stdout.contains(said), "{ran:?}");
    }
    let (status, reason) = why(&world, "short");
    assert_eq!(
        (status.as_str(), reason.as_str()),
        (
            "shortened",
            "skill `short` is listed by name only, as a setting wants: - short"
        )
    );
    // One preset brings a skill that is off elsewhere.
    assert_eq!(why(&world, "output-format").0, "hidden");
    let ran = world.run(&[
        "--preset",
        "yolo",
        "skills",
        "why",
        "output-format",
        "--json",
    ]);
    assert_eq!(ran.exits(0).json()["status"], "listed");
    let ran = world.run(&["--preset", "yolo", "skills", "why", "a-long-name", "--json"]);
    assert_eq!(
        ran.exits(0).json()["reason"],
        "its text stands in every request"
    );
}

#[test]
fn what_the_index_has_no_room_for_is_a_finding() {
    let world = World::new();
    world.configure("model: offline\n");
    for name in ["one", "two", "three"] {
        world.skill(name, &"Use it when it is long. ".repeat(250), "x");
    }
    world.skill("small", "Fits.", "x");
    let codes = |arguments: &[&str]| {
        let warned = world.run(arguments).exits(0).json();
        findings(&warned["warnings"])
    };
    let shortened = ["SK080 one", "SK080 three", "SK080 two"];
    let all = codes(&["skills", "warnings", "-v", "--json"]);
    let cut: Vec<&String> = all.iter().filter(|one| one.starts_with("SK08")).collect();
    assert_eq!(cut, shortened);
    let _ = world
        .run(&["skills", "list"])
        .exits(0)
        .says(&["skills and the index: 3 shortened in the index;"]);
    let checked = world.run(&["skills", "check", "--json"]).exits(0).json();
    assert_eq!(findings(&checked["view"]), shortened);
    // With fifty there is no index, so nothing of it is short.
    for number in 0..50 {
        world.skill(&format!("more-{number}"), "d", "x");
    }
    let all = codes(&["skills", "warnings", "-v", "--json"]);
    assert!(!all.iter().any(|one| one.starts_with("SK08")), "{all:?}");
    assert_eq!(why(&world, "one").0, "unlisted");
}
