//! The tool that writes new skills.

use std::fs;

use serde_json::{Value, json};
use skill_core::CallStatus::{Error, Rejected, Success};
use skill_core::{Principal, Root, ScanLimits, Scope, SkillCatalog, Verdict};
use tempfile::TempDir;
use tool_gateway::{CallRecord, Gateway, Mode, create_skill};

use crate::support::*;

fn weekly() -> Value {
    json!({
        "id": "weekly-report",
        "name": "周报: weekly",
        "description": "Use when: a week ends --- not for months.",
        "body": "# Steps\n\n1. Gather.\n",
        "load": "lazy",
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut arguments = weekly();
    let fields = arguments.as_object_mut().unwrap();
    fields.insert(key.to_owned(), value);
    arguments
}

async fn create(folder: &TempDir, arguments: Value) -> CallRecord {
    let tool = create_skill(folder.path().join("skills"), ".tekne/skills");
    dispatch_one(
        &open_gateway(vec![tool]),
        call("c1", "create_skill", arguments),
    )
    .await
}

#[tokio::test]
async fn a_created_skill_is_found_by_the_next_scan_as_it_was_meant() {
    let folder = TempDir::new().unwrap();
    let roots = [Root::new(folder.path().join("skills"), Scope::Project)];
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    let record = create(&folder, weekly()).await;
    let said =
        "created skill `weekly-report` in .tekne/skills; it can be used from the next turn on";
    assert_eq!(brief(&record), (Success, None, said));
    catalog.refresh();
    let view = catalog.view(&Principal::default());
    let skill = view.find(Some("weekly-report"), None).unwrap();
    assert_eq!(
        skill.skill.description,
        "Use when: a week ends --- not for months."
    );
    assert_eq!(skill.skill.metadata["title"], "周报: weekly");
    assert_eq!(view.open(skill).unwrap().body, "# Steps\n\n1. Gather.");
    let snapshot = catalog.snapshot();
    assert_eq!(snapshot.reports()[0].verdict, Verdict::Loaded);
}

#[tokio::test]
async fn what_is_wrong_is_told_at_once_and_nobody_is_asked() {
    let folder = TempDir::new().unwrap();
    let asked = Answers::allow();
    let gateway = Gateway::builder()
        .tool(create_skill(folder.path(), "skills"))
        .policy(policy(Mode::Interactive, &[]))
        .approver(asked.clone())
        .build()
        .unwrap();
    let bad = json!({"id": "../x", "name": "x", "description": " ", "body": "", "load": "lazy"});
    let record = dispatch_one(&gateway, call("c1", "create_skill", bad)).await;
    assert_eq!(record.error_kind, Some("invalid_arguments"));
    for said in ["`../x`", "description is empty", "body is empty"] {
        assert!(
            record.result.content.contains(said),
            "{}",
            record.result.content
        );
    }
    assert_eq!(asked.count(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_person_sees_the_whole_file_before_it_is_written() {
    let folder = TempDir::new().unwrap();
    let asked = Answers::allow();
    let gateway = Gateway::builder()
        .tool(create_skill(folder.path(), "skills"))
        .policy(policy(Mode::Interactive, &[]))
        .approver(asked.clone())
        .build()
        .unwrap();
    dispatch_one(&gateway, call("c1", "create_skill", weekly())).await;
    let written = fs::read_to_string(folder.path().join("weekly-report/SKILL.md")).unwrap();
    let requests = asked.asked.lock().unwrap();
    assert_eq!(requests[0].details.as_deref(), Some(written.as_str()));
    assert!(
        requests[0]
            .action
            .starts_with("create_skill \"weekly-report\" in skills (")
    );
}

#[tokio::test]
async fn where_nobody_can_be_asked_only_a_rule_lets_it_write() {
    let folder = TempDir::new().unwrap();
    let run = |rules: &'static [&'static str]| {
        let gateway = Gateway::builder()
            .tool(create_skill(folder.path(), "skills"))
            .policy(policy(Mode::Headless, rules))
            .build()
            .unwrap();
        async move { dispatch_one(&gateway, call("c1", "create_skill", weekly())).await }
    };
    let denied = run(&[]).await;
    assert_eq!(
        (denied.result.status, denied.error_kind),
        (Rejected, Some("denied"))
    );
    let allowed = run(&["allow tool(create_skill)"]).await;
    assert_eq!(allowed.result.status, Success);
}

#[tokio::test]
async fn without_an_approval_nothing_says_which_ids_are_taken() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("weekly-report")).unwrap();
    let gateway = Gateway::builder()
        .tool(create_skill(folder.path(), "skills"))
        .policy(policy(Mode::Headless, &[]))
        .build()
        .unwrap();
    let mut free = weekly();
    free["id"] = json!("free");
    let mut said = Vec::new();
    for arguments in [weekly(), free] {
        let id = arguments["id"].as_str().unwrap().to_owned();
        let record = dispatch_one(&gateway, call("c1", "create_skill", arguments)).await;
        let (status, kind, text) = brief(&record);
        said.push((status, kind, text.replace(&id, "ID")));
    }
    assert_eq!(said.first(), said.last());
}

#[tokio::test]
async fn what_is_there_is_never_touched_whatever_it_is() {
    let folder = TempDir::new().unwrap();
    create(&folder, weekly()).await;
    let path = folder.path().join("skills/weekly-report/SKILL.md");
    let before = fs::read(&path).unwrap();
    fs::write(folder.path().join("skills/file"), "x").unwrap();
    for id in ["weekly-report", "file"] {
        let mut arguments = with("body", json!("other"));
        arguments["id"] = json!(id);
        let record = create(&folder, arguments).await;
        let said = format!("the id `{id}` is taken; choose another one");
        assert_eq!(brief(&record), (Error, Some("tool"), said.as_str()));
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn frontmatter_in_the_body_and_ids_that_are_paths_are_refused() {
    let folder = TempDir::new().unwrap();
    let cases = [
        ("body", json!("---\nname: x\n---\n")),
        ("id", json!("a/b")),
        ("id", json!("..")),
        ("id", json!("UPPER")),
        ("load", json!("sometimes")),
    ];
    for (key, value) in cases {
        let record = create(&folder, with(key, value.clone())).await;
        assert_eq!(
            record.error_kind,
            Some("invalid_arguments"),
            "{key}: {value}"
        );
    }
    assert!(!folder.path().join("skills").exists());
}
