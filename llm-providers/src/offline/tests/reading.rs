//! Which files are read, and what is said of those that are not.

use skill_core::CallStatus;

use super::{MINUTES, OPEN_MINUTES, Scene, opened};

#[test]
fn files_that_cannot_be_read_are_named_with_the_reason() {
    let scene = Scene::agent("Write the minutes of the meeting in notes/raw.md")
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", MINUTES))],
        )
        .answered(
            &[
                r#"read_file {"path":"notes/raw.md"}"#,
                r#"read_file {"path":"plan.md"}"#,
            ],
            &[
                (
                    CallStatus::Rejected,
                    "denied: reading is not allowed here\nmore",
                ),
                (CallStatus::Error, "nothing at `plan.md`\nmore"),
            ],
        )
        .answered(
            &[r#"open_skill {"id":"meeting-minutes","resource":"plan.md"}"#],
            &[(CallStatus::Error, "")],
        );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used: this is the skill `meeting-minutes` as it is written, and what the files named hold.

    Steps of `meeting-minutes`:
    1. Read the raw notes.
    2. List every decision with its owner.
    3. Compare with `plan.md`.

    `notes/raw.md` could not be read: denied: reading is not allowed here
    `plan.md` could not be read: nothing at `plan.md`
    ");
}

#[test]
fn no_more_than_five_files_are_read_those_of_the_task_first() {
    let body = "1. See x.md and y.md and a.md.";
    let task = "Meeting minutes from d.md, c.md, b.md and a.md";
    let read = |path: &str| format!(r#"read_file {{"path":"{path}"}}"#);
    let expected = ["d.md", "c.md", "b.md", "a.md", "x.md"].map(read);
    let scene = Scene::agent(task)
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", body))],
        )
        .answered(
            &expected.each_ref().map(String::as_str),
            &[(CallStatus::Success, "x"); 5],
        );
    let last = scene.says().lines().last().unwrap_or_default().to_owned();
    insta::assert_snapshot!(last, @"Not read, as five files are the most that are read: `y.md`.");
}

#[test]
fn documents_beside_the_skill_are_read_with_it_and_else_looked_for_in_the_workspace() {
    let body = "1. See [the guide](references/guide.md) and `assets/form.md`.\n\
                2. Save the minutes to `out/minutes.md`.";
    let guide = "<resource skill=\"meeting-minutes\" path=\"references/guide.md\" digest=\"0a\">\n\
                 Begin with the date.\n</resource:0a>";
    let scene = Scene::agent("Write the meeting minutes")
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", body))],
        )
        .answered(
            &[
                r#"open_skill {"id":"meeting-minutes","resource":"references/guide.md"}"#,
                r#"open_skill {"id":"meeting-minutes","resource":"assets/form.md"}"#,
            ],
            &[
                (CallStatus::Success, guide),
                (CallStatus::Error, "no such file"),
            ],
        )
        .answered(
            &[r#"read_file {"path":"assets/form.md"}"#],
            &[(CallStatus::Success, "Date:\nPresent:\n")],
        );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used: this is the skill `meeting-minutes` as it is written, and what the files named hold.

    Steps of `meeting-minutes`:
    1. See [the guide](references/guide.md) and `assets/form.md`.
    2. Save the minutes to `out/minutes.md`.

    All of `references/guide.md`:
    > Begin with the date.

    All of `assets/form.md`:
    > Date:
    > Present:
    ");
}

#[test]
fn room_is_kept_to_look_for_a_bare_name_in_both_places() {
    let body = "1. See a.md, b.md, c.md and d.md.";
    let read = |path: &str| format!(r#"read_file {{"path":"{path}"}}"#);
    let open = |path: &str| format!(r#"open_skill {{"id":"meeting-minutes","resource":"{path}"}}"#);
    let missing = [(CallStatus::Error, "nothing there"); 3];
    Scene::agent("Write the meeting minutes")
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", body))],
        )
        .answered(&[&read("a.md"), &read("b.md"), &read("c.md")], &missing)
        .answered(
            &[&open("a.md"), &open("b.md")],
            &[(CallStatus::Success, "x"); 2],
        )
        .says();
}

#[test]
fn a_task_may_name_any_file_and_each_is_answered_for() {
    let task = "Meeting minutes from notes/photo.png, ../../etc/passwd and gone.md";
    let scene = Scene::agent(task)
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", "1. Sit.\n"))],
        )
        .answered(
            &[
                r#"read_file {"path":"notes/photo.png"}"#,
                r#"read_file {"path":"../../etc/passwd"}"#,
                r#"read_file {"path":"gone.md"}"#,
            ],
            &[
                (CallStatus::Error, "`notes/photo.png` is a binary file"),
                (CallStatus::Rejected, "it lies outside"),
                (CallStatus::Error, "nothing at `gone.md`"),
            ],
        );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used: this is the skill `meeting-minutes` as it is written, and what the files named hold.

    Steps of `meeting-minutes`:
    1. Sit.

    `notes/photo.png` could not be read: `notes/photo.png` is a binary file
    `../../etc/passwd` could not be read: it lies outside
    `gone.md` could not be read: nothing at `gone.md`
    ");
}

#[test]
fn files_are_answered_for_where_nothing_is_followed_too() {
    let unread = |scene: Scene| scene.says().lines().last().unwrap_or_default().to_owned();
    insta::assert_snapshot!(unread(Scene::agent("Bake a cake from cake.md")), @"Not read, as there is no skill to follow: `cake.md`.");
    insta::assert_snapshot!(unread(Scene::new("meeting minutes from a.md and b.png?")), @"Not read, as there are no tools here: `a.md`, `b.png`.");
    insta::assert_snapshot!(unread(Scene::agent("按照 蛋糕.md 做一个蛋糕")), @"没有可遵循的技能，因此未读取：`蛋糕.md`。");
}

#[test]
fn without_a_file_tool_the_steps_are_the_answer() {
    let scene = Scene::new("Write the minutes of the meeting in notes/raw.md")
        .tools(&["open_skill"])
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", "1. Sit.\n"))],
        );
    assert!(
        scene
            .says()
            .ends_with("1. Sit.\n\n`notes/raw.md` could not be read: there is no tool for it here"),
        "{}",
        scene.says()
    );
}
