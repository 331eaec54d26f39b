//! Parameters: completed before they are judged, and refused with everything that is wrong.

use std::sync::Arc;

use serde_json::json;
use skill_core::CallStatus::Error;
use skill_core::state;
use tool_gateway::{NativeSkill, SkillFailure, SkillJob, SkillResult};

use super::{World, value};
use crate::support::*;

/// Returns its parameters.
#[derive(Debug)]
struct Shows;

#[async_trait::async_trait]
impl NativeSkill for Shows {
    async fn run(&self, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        Ok(SkillResult::ok(job.params.clone()))
    }
}

const YAML: &str = r#"
parameters:
  recipient_email: {type: string, format: email, nullable: false}
  include_metrics: {type: boolean, default: true}
  kind: {type: string, enum: [day, week], default: week}
  note: {type: string, nullable: true}
  since: {type: string, format: date-time, nullable: true}
  now: {type: string, format: date-time, auto_fill: now}
  user: {type: string, auto_fill: user_id}
  place: {type: string, auto_fill: 'config:warehouse'}
  team: {type: string, auto_fill: 'session:team'}
entry: {native: show}
"#;

fn world() -> World {
    let mut world = World::new();
    world.host.native.insert("show".to_owned(), Arc::new(Shows));
    world
        .state
        .insert(state::fact_key("team"), "blue".to_owned());
    world.skill("p", YAML, &[]);
    world
}

#[tokio::test]
async fn what_nobody_gave_is_filled_and_what_somebody_gave_is_not_overwritten() {
    let world = world();
    let record = world
        .run("p", json!({"recipient_email": "a@example.com"}))
        .await;
    assert_eq!(
        value(&record),
        json!({
            "recipient_email": "a@example.com", "include_metrics": true, "kind": "week",
            "now": "2025-11-29T10:00:00+08:00", "user": "u-7", "place": "north", "team": "blue",
        })
    );
    let given = json!({
        "recipient_email": "a@example.com", "include_metrics": false, "kind": "day", "note": null,
        "now": "2025-01-01T00:00:00+08:00", "user": "me", "place": "south", "team": "red",
    });
    assert_eq!(value(&world.run("p", given.clone()).await), given);
}

#[tokio::test]
async fn everything_wrong_is_said_at_once_with_its_path() {
    let world = world();
    let record = world
        .run(
            "p",
            json!({"recipient_email": "no address", "include_metrics": "yes", "kind": "month",
                   "recipientemail": 1, "since": "2025-11-29T10:00:00"}),
        )
        .await;
    assert_eq!(
        (record.result.status, record.error_kind),
        (Error, Some("invalid_arguments"))
    );
    let content = &record.result.content;
    for part in [
        "the parameters of `test.p` are not valid:\n- ",
        "unknown field `recipientemail`; did you mean `recipient_email`?",
        "at `/recipient_email`: ",
        "at `/include_metrics`: expected boolean, got \"yes\"",
        "at `/kind`: expected one of [\"day\",\"week\"], got \"month\"",
        "at `/since`: has no time zone; times here are in Asia/Shanghai: 2025-11-29T10:00:00+08:00",
        "send the whole call again with all of this mended",
    ] {
        assert!(content.contains(part), "{part}\n{content}");
    }
    let record = world.run("p", json!({})).await;
    assert!(
        record
            .result
            .content
            .contains("`recipient_email` is missing")
    );
    let record = world
        .run(
            "p",
            json!({"recipient_email": "a@example.com", "since": "2025-11-29T10:00:00Z"}),
        )
        .await;
    assert!(
        record
            .result
            .content
            .contains("is in another time zone than Asia/Shanghai")
    );
}

#[tokio::test]
async fn nobody_is_asked_about_parameters_that_are_wrong_and_everybody_sees_what_was_filled() {
    let world = world();
    let answers = Answers::allow();
    let gateway = world.gateway(&[], answers.clone());
    world.call(&gateway, "p", json!({})).await;
    assert_eq!(answers.count(), 0);
    world
        .call(&gateway, "p", json!({"recipient_email": "a@example.com"}))
        .await;
    let action = answers.actions().remove(0);
    assert!(action.starts_with("run_skill test.p {"), "{action}");
    assert!(action.contains(r#""user":"u-7""#), "{action}");
}
