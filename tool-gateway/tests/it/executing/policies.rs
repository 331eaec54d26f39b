//! Policies of a skill, by a clock that is given.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use skill_core::CallStatus::{Error, Rejected, Success};
use tool_gateway::{NativeSkill, SkillFailure, SkillJob, SkillResult};

use super::World;
use crate::support::*;

/// Fails as often as it is told to, and counts.
#[derive(Debug)]
struct Fails {
    kind: &'static str,
    times: AtomicU32,
    ran: AtomicU32,
}

impl Fails {
    fn new(kind: &'static str, times: u32) -> Arc<Self> {
        Arc::new(Self {
            kind,
            times: AtomicU32::new(times),
            ran: AtomicU32::new(0),
        })
    }

    fn ran(&self) -> u32 {
        self.ran.swap(0, Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl NativeSkill for Fails {
    async fn run(&self, _job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        let left = self.times.load(Ordering::SeqCst);
        if left == 0 {
            return Ok(SkillResult::ok("done"));
        }
        self.times.store(left - 1, Ordering::SeqCst);
        Err(SkillFailure::new(self.kind, "not now"))
    }
}

fn world(policies: &str, fails: &Arc<Fails>) -> World {
    let mut world = World::new();
    world.host.native.insert("f".to_owned(), fails.clone());
    world.skill(
        "s",
        &format!("policies: {{{policies}}}\nentry: {{native: f}}\n"),
        &[],
    );
    world
}

#[tokio::test(start_paused = true)]
async fn only_what_is_declared_and_transient_is_tried_again() {
    let retry = "retry: {max_attempts: 3}";
    for (policies, kind, failures, attempts, status) in [
        (retry, "transient", 2, 3, Success),
        (retry, "transient", 3, 3, Error),
        (retry, "error", 1, 1, Error),
        (retry, "broken", 1, 1, Error),
        ("timeout: 5s", "transient", 1, 1, Error),
    ] {
        let fails = Fails::new(kind, failures);
        let record = world(policies, &fails).run("s", json!({})).await;
        assert_eq!(
            (fails.ran(), record.result.status),
            (attempts, status),
            "{policies} {kind}"
        );
    }
}

#[tokio::test]
async fn a_breaker_opens_refuses_without_running_and_closes_after_one_good_attempt() {
    let fails = Fails::new("broken", 3);
    let world = world("circuit: {failures: 2, open: 30s}", &fails);
    let gateway = world.open();
    for expected in [Some("tool"), Some("tool"), Some("circuit_open")] {
        assert_eq!(
            world.call(&gateway, "s", json!({})).await.error_kind,
            expected
        );
    }
    assert_eq!(fails.ran(), 2);
    world.clock.advance(30_000);
    assert_eq!(
        world.call(&gateway, "s", json!({})).await.error_kind,
        Some("tool")
    );
    let record = world.call(&gateway, "s", json!({})).await;
    assert_eq!(
        record.result.content,
        "`s` is temporarily unavailable: it failed several times in a row and is tried again in 30 s; tell the user that it cannot be done just now"
    );
    world.clock.advance(30_000);
    assert_eq!(
        world.call(&gateway, "s", json!({})).await.result.status,
        Success
    );
    assert_eq!(
        world.call(&gateway, "s", json!({})).await.result.status,
        Success
    );
}

#[tokio::test]
async fn what_the_skill_itself_refuses_does_not_open_the_breaker() {
    let fails = Fails::new("error", 5);
    let world = world("circuit: {failures: 2, open: 30s}", &fails);
    let gateway = world.open();
    for _ in 0..5 {
        assert_eq!(
            world.call(&gateway, "s", json!({})).await.error_kind,
            Some("tool")
        );
    }
    assert_eq!(fails.ran(), 5);
}

#[tokio::test]
async fn a_rate_limit_refuses_the_third_and_recovers() {
    let fails = Fails::new("error", 0);
    let world = world("rate_limit: 2/min", &fails);
    let gateway = world.open();
    for expected in [Success, Success, Error] {
        assert_eq!(
            world.call(&gateway, "s", json!({})).await.result.status,
            expected
        );
    }
    assert_eq!(fails.ran(), 2);
    world.clock.advance(60_000);
    assert_eq!(
        world.call(&gateway, "s", json!({})).await.result.status,
        Success
    );
}

#[tokio::test]
async fn a_skill_that_wants_an_approval_asks_whatever_rules_allow() {
    let fails = Fails::new("error", 0);
    let world = world("requires_approval: true", &fails);
    let no = Answers::always(tool_gateway::Approval::Deny {
        reason: "no".into(),
    });
    let gateway = world.gateway(&["allow skill(test.s)", "allow skill(*)"], no.clone());
    let record = world.call(&gateway, "s", json!({})).await;
    assert_eq!(
        (record.result.status, no.count(), fails.ran()),
        (Rejected, 1, 0)
    );
}

#[tokio::test]
async fn a_secret_that_is_not_set_is_named_and_nothing_runs() {
    let fails = Fails::new("error", 0);
    let world = world("secrets: [NOT_SET]", &fails);
    let record = world.run("s", json!({})).await;
    assert_eq!(
        record.result.content,
        "the secret `NOT_SET` that it needs is not set"
    );
    assert_eq!(fails.ran(), 0);
}
