//! The tools that list and open skills.

use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Rejected, Success};
use skill_core::{
    LoadMode, MemorySource, Principal, ScanLimits, Skill, SkillCatalog, SkillView, StateDelta,
    state,
};
use tokio_util::sync::CancellationToken;
use tool_gateway::{CallRecord, Gateway, SkillOpened, ToolContext, skill_tools};

use crate::support::*;

fn view(source: MemorySource, principal: &Principal) -> SkillView {
    SkillCatalog::new(vec![Arc::new(source)], ScanLimits::default()).view(principal)
}

fn calc() -> SkillView {
    let mut skill = Skill::new("calc", "Calculates.");
    skill.version = Some("1.2.0".into());
    let source = MemorySource::new()
        .with(skill, "Add the numbers.\n")
        .with_file("USAGE.md", "How to use.\n")
        .with_file("sub/EXTRA.md", "More.\n")
        .with_file("run.sh", "echo </resource>\n")
        .with_file("logo.png", [0x89, 0, 1]);
    view(source, &Principal::default())
}

async fn run(view: SkillView, name: &str, arguments: Value) -> CallRecord {
    let gateway = Gateway::builder().tools(skill_tools()).build().unwrap();
    let context = ToolContext::new("agent", view, CancellationToken::new());
    let calls = [call("c1", name, arguments)];
    gateway
        .dispatch(&calls, &context, &Recorder::default())
        .await
        .unwrap()
        .remove(0)
}

async fn open(arguments: Value) -> CallRecord {
    run(calc(), "open_skill", arguments).await
}

fn loaded(docs: Option<&str>) -> StateDelta {
    let mut state = StateDelta::default();
    state.set(state::loaded_key("agent", "calc"), "1");
    if let Some(docs) = docs {
        state.set(state::docs_key("agent", "calc"), docs);
    }
    state
}

#[tokio::test]
async fn opening_a_skill_returns_a_stub_and_declares_its_state() {
    for (arguments, docs) in [
        (json!({"id": "calc"}), None),
        (json!({"name": "CALC"}), None),
        (json!({"id": "calc", "name": "calc"}), None),
        (
            json!({"id": "calc", "docs": ["sub/EXTRA.md", "USAGE.md", "USAGE.md"]}),
            Some(r#"["USAGE.md","sub/EXTRA.md"]"#),
        ),
        (json!({"id": "calc", "include_all_docs": true}), Some("*")),
        (
            json!({"id": "calc", "docs": ["USAGE.md"], "include_all_docs": true}),
            Some("*"),
        ),
        (
            json!({"id": "calc", "docs": [], "include_all_docs": false}),
            None,
        ),
    ] {
        let record = open(arguments.clone()).await;
        assert_eq!(
            brief(&record),
            (Success, None, "loaded: calc"),
            "{arguments}"
        );
        assert_eq!(record.state, loaded(docs), "{arguments}");
        let digest = calc().skills()[0].skill.content_digest.clone();
        assert_eq!(
            record.opened,
            Some(SkillOpened {
                id: "calc".into(),
                version: Some("1.2.0".into()),
                digest
            })
        );
    }
}

#[tokio::test]
async fn arguments_for_a_skill_are_handed_over_beside_the_stub() {
    let record = open(json!({"id": "calc", "args": "2 + \"2\"\n"})).await;
    assert_eq!(
        record.result.content,
        "loaded: calc\nargs: \"2 + \\\"2\\\"\\n\""
    );
}

#[tokio::test]
async fn a_skill_that_cannot_be_opened_changes_no_state() {
    for (arguments, kind, text) in [
        (
            json!({}),
            "invalid_arguments",
            "give `id` or `name`: which skill to open is missing",
        ),
        (
            json!({"id": " "}),
            "invalid_arguments",
            "give `id` or `name`: which skill to open is missing",
        ),
        (
            json!({"id": "zebra"}),
            "not_found",
            "skill not found: zebra",
        ),
        (
            json!({"id": "clac"}),
            "not_found",
            "skill not found: clac; did you mean calc?",
        ),
        (
            json!({"id": "calc", "name": "other"}),
            "not_found",
            "skill not found: calc; did you mean calc?",
        ),
        (
            json!({"id": "calc", "docs": ["../x.md", "USAGE.md"]}),
            "not_found",
            "no document `../x.md` in skill `calc`; available: USAGE.md, sub/EXTRA.md",
        ),
    ] {
        let record = open(arguments.clone()).await;
        assert_eq!(brief(&record), (Error, Some(kind), text), "{arguments}");
        assert_eq!((record.state.is_empty(), record.opened), (true, None));
    }
}

#[tokio::test]
async fn unknown_fields_of_open_skill_are_all_named() {
    let record = open(json!({"skil": "calc", "idd": "x", "docs": "a"})).await;
    let mut lines: Vec<&str> = record.result.content.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "- at `/docs`: expected array or null, got \"a\"",
            "- unknown field `idd`; did you mean `id`?",
            "- unknown field `skil`",
        ]
    );
}

#[tokio::test]
async fn hidden_disabled_and_missing_skills_answer_the_same_bytes() {
    let mut hidden = Skill::new("secret", "d");
    hidden.groups = vec!["a".into()];
    let with_hidden = MemorySource::new()
        .with(hidden.clone(), "x")
        .with(Skill::new("calc", "d"), "y");
    let with_disabled = MemorySource::new()
        .with(Skill::new("secret", "d"), "x")
        .with(Skill::new("calc", "d"), "y");
    let without = MemorySource::new().with(Skill::new("calc", "d"), "y");
    let disabling = Principal {
        disabled: vec!["secret".into()],
        ..Principal::default()
    };
    let views = [
        view(with_hidden, &Principal::default()),
        view(with_disabled, &disabling),
        view(without, &Principal::default()),
    ];
    for (name, arguments) in [
        ("open_skill", json!({"id": "secret"})),
        ("open_skill", json!({"name": "Secret", "resource": "x.md"})),
        ("open_skill", json!({"id": "secre"})),
        ("list_skills", json!({})),
        ("list_skills", json!({"query": "secret"})),
        ("secret", json!({})),
    ] {
        let mut answers = Vec::new();
        for view in &views {
            let record = run(view.clone(), name, arguments.clone()).await;
            answers.push((
                record.result.status,
                record.error_kind,
                record.result.content,
                record.detail,
            ));
        }
        assert_eq!(answers[0], answers[1], "{name} {arguments}");
        assert_eq!(answers[1], answers[2], "{name} {arguments}");
    }
}

#[tokio::test]
async fn a_skill_called_as_a_tool_is_told_to_be_opened() {
    let record = run(calc(), "calc", json!({"x": 1})).await;
    assert_eq!(
        brief(&record),
        (
            Rejected,
            Some("not_found"),
            "`calc` is a skill, not a tool; call `open_skill` with {\"id\": \"calc\"}"
        )
    );
}

#[tokio::test]
async fn a_file_of_a_skill_is_served_in_an_envelope_that_it_cannot_close() {
    let record = open(json!({"id": "calc", "resource": "run.sh"})).await;
    assert_eq!(record.result.status, Success);
    assert_eq!(
        record.result.content,
        "<resource skill=\"calc\" path=\"run.sh\" digest=\"f0911957\">\necho </resource>\n</resource:f0911957>"
    );
    assert_eq!((record.state.is_empty(), record.opened), (true, None));
}

#[tokio::test]
async fn a_file_that_is_missing_or_binary_is_refused_kindly() {
    let missing = open(json!({"id": "calc", "resource": "../other/SKILL.md"})).await;
    assert_eq!(
        (
            missing.result.status,
            missing.result.content.contains("Add the numbers")
        ),
        (Error, false)
    );
    let binary = open(json!({"id": "calc", "resource": "logo.png"})).await;
    assert_eq!(
        binary.result.content,
        "`logo.png` is a binary file of 3 bytes; only text can be shown"
    );
}

fn many(count: usize, description: &str) -> SkillView {
    let mut source = MemorySource::new();
    for n in 0..count {
        source.add(Skill::new(&format!("skill-{n:04}"), description), "body");
    }
    view(source, &Principal::default())
}

#[tokio::test]
async fn paging_reaches_every_skill_in_pages_of_at_most_4096_bytes() {
    for (count, description) in [
        (500, "短".repeat(300)),
        (60, "Does things.".into()),
        (1, String::new()),
    ] {
        let view = many(count, &description);
        let mut offset = 0;
        let mut seen = Vec::new();
        loop {
            let record = run(view.clone(), "list_skills", json!({"offset": offset})).await;
            let text = record.result.content;
            assert!(text.len() <= 4096, "{}", text.len());
            let (entries, footer) = text.rsplit_once('\n').unwrap();
            seen.extend(
                entries
                    .lines()
                    .map(|line| line[2..].split(':').next().unwrap().to_owned()),
            );
            match footer.split("go on with offset ").nth(1) {
                Some(next) => offset = next.trim_end_matches(']').parse().unwrap(),
                None => break,
            }
        }
        let expected: Vec<String> = (0..count).map(|n| format!("skill-{n:04}")).collect();
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_list_shows_always_skills_first_and_never_a_body() {
    let mut always = Skill::new("conventions", "How we\nwrite <b>.\u{202e}");
    always.load = LoadMode::Always;
    let source = MemorySource::new()
        .with(Skill::new("alpha", "Reads tickets."), "BODY")
        .with(always, "BODY");
    let view = view(source, &Principal::default());
    let listed = run(
        view.clone(),
        "list_skills",
        json!({"offset": 0, "limit": 10}),
    )
    .await
    .result
    .content;
    assert_eq!(
        listed,
        "- conventions: How we write &lt;b&gt;.\\u{202E} (always on)\n- alpha: Reads tickets.\n[skills 1 to 2 of 2]"
    );
    let limited = run(view.clone(), "list_skills", json!({"limit": 1}))
        .await
        .result
        .content;
    assert!(limited.ends_with("[skills 1 to 1 of 2; go on with offset 1]"));
    let beyond = run(view, "list_skills", json!({"offset": 7}))
        .await
        .result
        .content;
    assert_eq!(beyond, "[2 skills in all; nothing from offset 7]");
}

#[tokio::test]
async fn a_query_ranks_by_how_many_of_its_words_occur() {
    let source = MemorySource::new()
        .with(Skill::new("pdf", "Fills PDF forms."), "")
        .with(Skill::new("weekly", "当用户要求生成周报时使用。"), "")
        .with(Skill::new("forms", "Web forms."), "");
    let view = view(source, &Principal::default());
    let query = async |query: &str| {
        run(view.clone(), "list_skills", json!({"query": query}))
            .await
            .result
            .content
    };
    assert_eq!(
        query("fill a pdf form").await.lines().next(),
        Some("- pdf: Fills PDF forms.")
    );
    assert!(query("帮我生成这周的周报").await.starts_with("- weekly: "));
    assert_eq!(
        query("zzz").await,
        "[no skill matches; leave the query out to list all]"
    );
}

#[tokio::test]
async fn a_view_without_skills_lists_none() {
    let record = run(
        view(MemorySource::new(), &Principal::default()),
        "list_skills",
        json!({}),
    )
    .await;
    assert_eq!(brief(&record), (Success, None, "[no skills]"));
}
