//! Which skill is taken, where the index lists it and where it is searched for.

use skill_core::CallStatus;

use super::{OPEN_MINUTES, Scene, opened};

#[test]
fn no_match_names_the_nearest_three() {
    insta::assert_snapshot!(Scene::agent("What is the weather in Paris?").says(), @"
    No language model was used, and no skill fits this task.

    The nearest skills:
    - report.weekly: 当用户要求生成周报时使用。不适用于日报。
    - meeting-minutes: Turn raw meeting notes into minutes with decisions and owners.
    - changelog: Write release notes from the commits since the last tag.
    ");
}

#[test]
fn no_skill_at_all_is_said_in_the_language_of_the_task() {
    let scene = |task: &str| {
        let mut scene = Scene::agent(task);
        scene.0.system.clear();
        scene.says()
    };
    assert_eq!(
        scene("hello there"),
        "No language model was used, and there is no skill to follow."
    );
    assert_eq!(scene("你好"), "没有使用语言模型，也没有可用的技能。");
}

#[test]
fn without_tools_the_nearest_skill_is_described() {
    insta::assert_snapshot!(Scene::new("How do I write meeting minutes?").says(), @r"
    No language model was used. The skill nearest to this is `meeting-minutes`:

    - meeting-minutes: Turn raw meeting notes into minutes with decisions and owners.
    ");
}

#[test]
fn a_long_catalogue_is_asked_with_the_words_of_the_task() {
    let scene = Scene::new("Write the minutes of the meeting")
        .tools(&["open_skill", "list_skills", "read_file"])
        .without_index()
        .answered(
            &[r#"list_skills {"query":"minute meet"}"#],
            &[(
                CallStatus::Success,
                "- meeting-minutes: Turn meeting notes into minutes.\n",
            )],
        )
        .answered(
            &[OPEN_MINUTES],
            &[(CallStatus::Success, &opened("meeting-minutes", "1. Sit.\n"))],
        );
    assert!(scene.says().contains("1. Sit."));
}

#[test]
fn a_catalogue_without_these_words_is_asked_once_more_for_the_nearest() {
    let scene = Scene::new("Bake a cake")
        .tools(&["open_skill", "list_skills"])
        .without_index()
        .answered(
            &[r#"list_skills {"query":"Bake cake"}"#],
            &[(CallStatus::Success, "no skills")],
        )
        .answered(
            &["list_skills {}"],
            &[(
                CallStatus::Success,
                "- changelog: Release notes.\n- cookery: Cooks dinner.\n- 日报: 写日报。\n[skills 1 to 2 of 2]",
            )],
        );
    insta::assert_snapshot!(scene.says(), @"
    No language model was used, and no skill fits this task.

    The nearest skills:
    - cookery: Cooks dinner.
    - changelog: Release notes.
    ");
}

#[test]
fn a_search_goes_on_for_as_long_as_there_are_pages_and_all_of_them_are_weighed() {
    let page = |lines: &str, footer: &str| format!("{lines}\n[skills {footer}]");
    let first = page(
        "- write-poem: Write poems.",
        "1 to 1 of 3; go on with offset 1",
    );
    let second = page(
        "- write-song: Write songs.\n- protocols: Write the minutes of a meeting.",
        "2 to 3 of 3",
    );
    Scene::new("Write the minutes of the meeting")
        .tools(&["open_skill", "list_skills"])
        .without_index()
        .answered(
            &[r#"list_skills {"query":"minute meet"}"#],
            &[(CallStatus::Success, &first)],
        )
        .answered(
            &[r#"list_skills {"query":"minute meet","offset":1}"#],
            &[(CallStatus::Success, &second)],
        )
        .answered(
            &[r#"open_skill {"id":"protocols"}"#],
            &[(CallStatus::Success, &opened("protocols", "1. Sit.\n"))],
        )
        .says();
}

#[test]
fn of_skills_that_tie_the_first_is_opened_and_the_others_are_named() {
    let ids = ["archive", "check", "number", "reminder"];
    let list = ids.map(|id| format!("- invoice-{id}: Handles an invoice for the books.\n"));
    for (task, words, sentence) in [
        (
            "invoice",
            "invoice",
            "These skills fit about as well: `invoice-check`, `invoice-number`, `invoice-reminder`.",
        ),
        (
            "处理这张 invoice",
            "invoice",
            "以下技能同样适合：`invoice-check`、`invoice-number`、`invoice-reminder`。",
        ),
    ] {
        let scene = Scene::new(task)
            .tools(&["open_skill", "list_skills"])
            .without_index()
            .answered(
                &[&format!(r#"list_skills {{"query":"{words}"}}"#)],
                &[(CallStatus::Success, &list.concat())],
            )
            .answered(
                &[r#"open_skill {"id":"invoice-archive"}"#],
                &[(CallStatus::Success, &opened("invoice-archive", "1. Sit.\n"))],
            );
        assert!(scene.says().contains(sentence), "{}", scene.says());
    }
}

#[test]
fn without_tools_a_catalogue_that_is_only_searched_is_called_so() {
    let ask = |task: &str| {
        let mut scene = Scene::new(task);
        scene.0.system.pop();
        scene.says()
    };
    insta::assert_snapshot!(ask("invoice"), @"No language model was used, and no skill is listed in this request. Where there are many skills they are only found by searching, which `run` can do and `ask` cannot.");
    insta::assert_snapshot!(ask("发票"), @"没有使用语言模型，这次请求中也没有列出技能。技能很多时只能通过搜索找到：`run` 可以搜索，`ask` 不能。");
}

#[test]
fn what_the_index_leaves_out_is_searched_for() {
    let mut scene = Scene::new("Water the plants").tools(&["open_skill", "list_skills"]);
    scene.0.system.push("# Notes".into());
    scene
        .answered(
            &[r#"list_skills {"query":"Water plant"}"#],
            &[(CallStatus::Success, "- garden: Waters plants.")],
        )
        .answered(
            &[r#"open_skill {"id":"garden"}"#],
            &[(CallStatus::Success, &opened("garden", "1. Sit.\n"))],
        )
        .says();
}

#[test]
fn a_denied_listing_ends_in_an_answer() {
    let scene = Scene::new("Bake a cake")
        .tools(&["open_skill", "list_skills"])
        .without_index()
        .answered(
            &[r#"list_skills {"query":"Bake cake"}"#],
            &[(CallStatus::Rejected, "denied")],
        )
        .answered(&["list_skills {}"], &[(CallStatus::Rejected, "denied")]);
    assert_eq!(
        scene.says(),
        "No language model was used, and there is no skill to follow."
    );
}
