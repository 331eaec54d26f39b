//! Without a language model: the README's first command, and what comes of other tasks.

use crate::harness::{World, event_lines};

fn offline<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["--model", "offline"];
    all.extend(arguments);
    all
}

#[test]
fn the_first_command_of_the_readme_finds_opens_and_follows_a_skill() {
    let world = World::with_examples();
    let task = "Write the weekly review for this week";
    let readme = include_str!("../../../README.md");
    let command = format!("-- -C examples run --model offline \"{task}\"");
    assert!(
        readme.contains(&command),
        "the README shows another command"
    );

    let ran = world.run(&offline(&["run", "--json", task])).exits(0);
    let kept = |line: &&serde_json::Value| {
        let kind = line["type"].as_str().unwrap();
        kind.starts_with("tool.pending") || kind == "skill.opened" || kind == "turn.started"
    };
    let lines = ran.lines();
    let steps: Vec<_> = lines.iter().filter(kept).cloned().collect();
    insta::assert_snapshot!("offline_steps", event_lines(&world, &steps));
    let answer = ran.event("turn.finished")["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(answer.starts_with("No language model was used"), "{answer}");
    for part in [
        "1. Read `notes/week.md`",
        "Finished: refunds work",
        "All of `notes/goals.md`",
    ] {
        assert!(answer.contains(part), "no `{part}` in {answer}");
    }
}

#[test]
fn a_chinese_task_is_answered_in_chinese() {
    let world = World::with_examples();
    let ran = world
        .run(&offline(&["run", "把例会记录整理成会议纪要"]))
        .exits(0);
    assert!(ran.stdout.starts_with("没有使用语言模型"), "{ran:?}");
    assert!(ran.stdout.contains("meeting-minutes"), "{ran:?}");
    let _ = ran.says(&["opened skill meeting-minutes"]);
}

#[test]
fn a_task_that_no_skill_fits_is_told_so_with_the_nearest_skills() {
    let world = World::with_examples();
    let ran = world
        .run(&offline(&["run", "Prove the Riemann hypothesis"]))
        .exits(0);
    insta::assert_snapshot!("offline_no_match", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_question_gets_the_nearest_skill_and_nothing_is_opened() {
    let world = World::with_examples();
    let ran = world
        .run(&offline(&["ask", "How do I write a weekly review?"]))
        .exits(0);
    assert!(ran.stdout.contains("`weekly-review`"), "{ran:?}");
    assert_eq!(ran.stderr, "");
}

#[test]
fn sixty_skills_are_searched_instead_of_listed() {
    let world = World::new();
    for number in 0..60 {
        let name = format!("topic-{number:02}");
        world.skill(
            &name,
            &format!("Explains topic number {number}."),
            "Think.\n",
        );
    }
    world.skill(
        "invoice-reminder",
        "Writes a reminder for an unpaid invoice.",
        "1. Be kind.\n",
    );
    let task = "Write a reminder for the unpaid invoice";
    let prompt = world
        .run(&offline(&["prompt", "show", "--json", task]))
        .exits(0);
    let request = prompt.json()["request"].to_string();
    assert!(
        request.contains("list_skills") && !request.contains("Explains topic"),
        "{request}"
    );

    let ran = world.run(&offline(&["run", task])).exits(0);
    assert!(ran.stdout.contains("1. Be kind."), "{ran:?}");
    let _ = ran.says(&["list_skills", "opened skill invoice-reminder"]);

    let asked = world.run(&offline(&["ask", task])).exits(0);
    assert!(
        asked.stdout.contains("only found by searching"),
        "{asked:?}"
    );
}

#[test]
fn of_many_skills_that_match_one_word_the_first_is_followed_and_the_others_named() {
    let world = World::new();
    for number in 0..60 {
        let name = format!("topic-{number:02}");
        world.skill(&name, &format!("Explains topic {number}."), "Think.\n");
    }
    for name in ["invoice-archive", "invoice-check", "invoice-number"] {
        world.skill(name, "Handles an invoice for the books.", "1. Be kind.\n");
    }
    let ran = world.run(&offline(&["run", "invoice"])).exits(0);
    assert!(
        ran.stdout
            .contains("fit about as well: `invoice-check`, `invoice-number`."),
        "{ran:?}"
    );
    let _ = ran.says(&["opened skill invoice-archive"]);
}

#[test]
fn no_named_model_means_the_first_key_that_is_set() {
    let world = World::new();
    let mut command = world.command(&["doctor"]);
    let ran = world
        .finish(command.env("OPENROUTER_API_KEY", "sk-or-1"))
        .exits(0);
    let chosen = ran
        .stdout
        .lines()
        .find(|line| line.contains(" model "))
        .unwrap();
    assert!(
        chosen.contains("openrouter/") && chosen.contains("OPENROUTER_API_KEY is set"),
        "{chosen}"
    );
    assert!(!ran.stdout.contains("sk-or-1"), "{ran:?}");
}

#[test]
fn an_offline_session_is_gone_on_with() {
    let world = World::with_examples();
    let _ = world.run(&offline(&["ask", "weekly review?"])).exits(0);
    let session = world.last_session();
    let ran = world.run(&offline(&[
        "ask",
        "--json",
        "--resume",
        &session,
        "and release notes?",
    ]));
    assert_eq!(ran.exits(0).event("session.started")["resumed"], true);
    assert_eq!(world.last_session(), session);
}
