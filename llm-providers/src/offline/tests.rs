//! The offline model's moves, one branch each, as transcripts of what it is told and says.

use futures_util::StreamExt as _;
use serde_json::json;
use skill_core::{
    CallStatus, CompletionEvent, CompletionRequest, ContentBlock, Message, ModelId, Provider, Role,
    ToolCall, ToolDefinition, ToolResult,
};

use super::{OfflineProvider, reply};

const INDEX: &str = "# Skills\nOpen one before you work.\n\
    - changelog: Write release notes from the commits since the last tag.\n\
    - house-style: How we write in this house. (always on)\n\
    - meeting-minutes: Turn raw meeting notes into minutes with decisions and owners.\n\
    - report.weekly: 当用户要求生成周报时使用。不适用于日报。";

const MINUTES: &str = "# Minutes\n\n1. Read the raw notes.\n2. List every decision with its owner.\n\
    3. Compare with `plan.md`.\n";

struct Scene(CompletionRequest);

impl Scene {
    fn new(task: &str) -> Self {
        Self(CompletionRequest {
            model: ModelId::new("offline"),
            system: vec!["You are an agent.".into(), INDEX.into()],
            messages: vec![Message::user(task)],
            tools: [].into(),
            max_output_tokens: None,
        })
    }

    fn tools(mut self, names: &[&str]) -> Self {
        self.0.tools = names
            .iter()
            .map(|name| ToolDefinition {
                name: (*name).into(),
                description: String::new(),
                parameters: json!({"type": "object"}),
            })
            .collect();
        self
    }

    fn agent(task: &str) -> Self {
        Self::new(task).tools(&["open_skill", "read_file", "list_dir", "write_file"])
    }

    fn without_index(mut self) -> Self {
        self.0.system = vec!["# Skills\nSkills are not listed here. Call `list_skills`.".into()];
        self
    }

    /// Takes the next move, which must be calls, and answers them in order.
    fn answered(mut self, expected: &[&str], answers: &[(CallStatus, &str)]) -> Self {
        let calls = calls(&self.0);
        let shown: Vec<String> = calls
            .iter()
            .map(|call| format!("{} {}", call.name, call.arguments))
            .collect();
        assert_eq!(shown, expected);
        assert_eq!(calls.len(), answers.len());
        let results = calls
            .iter()
            .zip(answers)
            .map(|(call, (status, content))| ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                status: *status,
                content: (*content).into(),
            });
        let results = Message::tool_results(results.collect());
        self.0.messages.push(Message {
            role: Role::Assistant,
            content: calls.into_iter().map(ContentBlock::ToolCall).collect(),
        });
        self.0.messages.push(results);
        self
    }

    fn then(mut self, task: &str) -> Self {
        let said = self.says();
        self.0
            .messages
            .extend([Message::assistant(said), Message::user(task)]);
        self
    }

    fn says(&self) -> String {
        assert_eq!(calls(&self.0), []);
        reply(&self.0)
            .into_iter()
            .filter_map(|event| match event {
                CompletionEvent::TextDelta(text) => Some(text),
                _ => None,
            })
            .collect()
    }
}

fn calls(request: &CompletionRequest) -> Vec<ToolCall> {
    reply(request)
        .into_iter()
        .filter_map(|event| match event {
            CompletionEvent::ToolCallDelta {
                id,
                name,
                arguments,
                ..
            } => Some(ToolCall {
                id: id.unwrap(),
                name: name.unwrap(),
                arguments,
            }),
            _ => None,
        })
        .collect()
}

fn opened(id: &str, body: &str) -> String {
    format!("<skill id=\"{id}\" version=\"1.0\" digest=\"0123abcd\">\n{body}</skill:0123abcd>")
}

const OPEN_MINUTES: &str = r#"open_skill {"id":"meeting-minutes"}"#;

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
    insta::assert_snapshot!(scene.says(), @r"
    No language model was used: this is the skill `meeting-minutes` as it is written, and what the files named hold.

    Steps of `meeting-minutes`:
    1. Read the raw notes.
    2. List every decision with its owner.
    3. Compare with `plan.md`.

    From `notes/raw.md`:
    > Decision: ship on Monday, owner Ada.

    Nothing in `plan.md` matches; it begins:
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

    `notes/week.md` 中的相关内容：
    > 本周工单 12 件
    > 结论：按时
    ");
}

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

    Nothing in `references/guide.md` matches; it begins:
    > Begin with the date.

    Nothing in `assets/form.md` matches; it begins:
    > Date:
    > Present:
    ");
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

#[test]
fn a_long_catalogue_is_asked_with_the_words_of_the_task() {
    let scene = Scene::new("Write the minutes of the meeting")
        .tools(&["open_skill", "list_skills", "read_file"])
        .without_index()
        .answered(
            &[r#"list_skills {"query":"Write minute meet"}"#],
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
            &[r#"list_skills {"query":"Write minute meet"}"#],
            &[(CallStatus::Success, &first)],
        )
        .answered(
            &[r#"list_skills {"query":"Write minute meet","offset":1}"#],
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
            "invoice 处理",
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
