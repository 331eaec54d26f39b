//! How an open skill is followed.

use futures_util::StreamExt as _;
use skill_core::{CallStatus, CompletionEvent, Provider as _};

use super::{MINUTES, OPEN_MINUTES, Scene, calls, opened};
use crate::offline::{OfflineProvider, reply};

#[test]
fn a_skill_is_opened_followed_and_its_files_read() {
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
                    CallStatus::Success,
                    "Weather was fine.\nDecision: ship on Monday, owner Ada.\nLunch.",
                ),
                (CallStatus::Success, "Nothing here\nis related"),
            ],
        );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used: this is the skill `meeting-minutes` as it is written, and what the files named hold.

    Steps of `meeting-minutes`:
    1. Read the raw notes.
    2. List every decision with its owner.
    3. Compare with `plan.md`.

    All of `notes/raw.md`:
    > Weather was fine.
    > Decision: ship on Monday, owner Ada.
    > Lunch.

    All of `plan.md`:
    > Nothing here
    > is related
    ");
}

#[test]
fn a_chinese_task_is_answered_in_chinese() {
    let body = "# 周报\n\n1. 汇总本周工单。\n2. 写出结论。\n";
    let scene = Scene::agent("请根据 notes/week.md 写一份周报")
        .answered(
            &[r#"open_skill {"id":"report.weekly"}"#],
            &[(CallStatus::Success, &opened("report.weekly", body))],
        )
        .answered(
            &[r#"read_file {"path":"notes/week.md"}"#],
            &[(
                CallStatus::Success,
                "天气不错\n本周工单 12 件\n结论：按时\n",
            )],
        );
    insta::assert_snapshot!(scene.says(), @"
    没有使用语言模型：以下是技能 `report.weekly` 的原文步骤，以及所提到的文件中的内容。

    `report.weekly` 的步骤：
    1. 汇总本周工单。
    2. 写出结论。

    `notes/week.md` 的全文：
    > 天气不错
    > 本周工单 12 件
    > 结论：按时
    ");
}

#[test]
fn a_skill_without_a_text_is_said_to_have_none() {
    for (task, sentence) in [
        (
            "Write the meeting minutes",
            "The skill `meeting-minutes` has no text",
        ),
        (
            "写 meeting-minutes，整理会议记录",
            "技能 `meeting-minutes` 没有正文",
        ),
    ] {
        let scene = Scene::agent(task).answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", "\n"))],
        );
        assert!(scene.says().contains(sentence), "{}", scene.says());
    }
}

#[test]
fn a_denied_skill_is_reported_and_not_asked_for_again() {
    let scene = Scene::agent("Write the meeting minutes").answered(
        &[OPEN_MINUTES],
        &[(CallStatus::Rejected, "denied by the policy")],
    );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used, and the skill `meeting-minutes` could not be opened: denied by the policy

    - meeting-minutes: Turn raw meeting notes into minutes with decisions and owners.
    ");
}

#[test]
fn a_receipt_without_the_text_is_no_text() {
    let scene = Scene::agent("Write the meeting minutes").answered(
        &[OPEN_MINUTES],
        &[(CallStatus::Success, "loaded: meeting-minutes")],
    );
    assert!(
        scene
            .says()
            .contains("could not be opened: its text is not in this conversation")
    );
}

#[test]
fn a_skill_that_is_open_from_before_is_not_opened_again() {
    let scene = Scene::agent("Write the meeting minutes")
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", "1. Sit.\n"))],
        )
        .then("Now the minutes of the other meeting");
    assert!(scene.says().contains("1. Sit."));
}

#[test]
fn a_skill_that_is_always_on_is_followed_without_opening() {
    let mut scene = Scene::agent("check this against the house-style");
    scene.0.system.insert(
        1,
        format!("# Always on\n{}", opened("house-style", "- Be brief.\n")),
    );
    assert!(scene.says().contains("1. Be brief."));
}

#[test]
fn ids_of_calls_do_not_repeat_within_a_conversation() {
    let scene = Scene::agent("Write the meeting minutes from a.md").answered(
        &[OPEN_MINUTES],
        &[(CallStatus::Success, &opened("meeting-minutes", "1. Sit.\n"))],
    );
    let ids: Vec<String> = calls(&scene.0).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["offline_1"]);
}

#[tokio::test]
async fn the_stream_ends_with_a_terminal_event() {
    let request = Scene::agent("hello").0;
    let stream = OfflineProvider.stream(request.clone()).await.unwrap();
    let events: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(
        events.last(),
        Some(CompletionEvent::Finished { .. })
    ));
    assert_eq!(events, reply(&request));
}
