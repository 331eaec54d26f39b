//! Python: the report of the week, a context of its own for each call, a worker that stays warm.

use serde_json::json;
use skill_core::CallStatus::{Error, Success, TimedOut};
use skill_core::state;

use super::{World, value};

const REPORT: &str = r#"
tasks: [query tickets, count kinds, write a summary]
parameters:
  recipient_email: {type: string, format: email, nullable: false}
  include_metrics: {type: boolean, default: true}
  now: {type: string, format: date-time, auto_fill: now}
policies: {timeout: 20s, secrets: [TICKET_TOKEN]}
entry: {module: implement, function: generate_weekly_report}
services: {ticket_client: services.py:make_ticket_client}
metadata: {version: 1.2.0, tags: [report, weekly]}
"#;

const SERVICES: &str = r#"
import os

class Tickets:
    async def query(self, start, end):
        assert os.environ["TICKET_TOKEN"]
        return [{"kind": "bug"}, {"kind": "bug"}, {"kind": "wish"}]

def make_ticket_client():
    return Tickets()
"#;

const IMPLEMENT: &str = r#"
from collections import Counter
from datetime import datetime, timedelta
from tekne_skill import SkillResult

async def generate_weekly_report(ctx, params):
    end = datetime.fromisoformat(params["now"])
    tickets = await ctx.services.ticket_client.query(end - timedelta(days=7), end)
    if not tickets:
        return SkillResult.err("no tickets this week")
    kinds = Counter(ticket["kind"] for ticket in tickets)
    print("this goes nowhere near the protocol")
    ctx.log.info("kinds", dict(kinds))
    summary = await ctx.llm.complete(f"{len(tickets)} tickets", system="Write briefly.")
    ctx.memory.set("last_report", params["now"])
    return SkillResult.ok(email=params["recipient_email"], ticket_count=len(tickets),
                          summary=summary, metrics=dict(kinds) if params["include_metrics"] else None)
"#;

#[tokio::test]
async fn the_report_of_the_week_is_made_from_service_model_and_memory() {
    let world = World::new();
    world.skill(
        "weekly",
        REPORT,
        &[("services.py", SERVICES), ("implement.py", IMPLEMENT)],
    );
    let record = world
        .run("weekly", json!({"recipient_email": "ops@example.com"}))
        .await;
    assert_eq!(
        record.result.status, Success,
        "{}\n{:?}",
        record.result.content, record.detail
    );
    assert_eq!(
        value(&record),
        json!({
            "email": "ops@example.com", "ticket_count": 3,
            "summary": "Write briefly.|3 tickets", "metrics": {"bug": 2, "wish": 1},
        })
    );
    let fact = record.state.0.get(&state::fact_key("last_report")).unwrap();
    assert_eq!(fact, "2025-11-29T10:00:00+08:00");
}

#[tokio::test]
async fn each_call_has_a_context_of_its_own_and_the_worker_with_its_services_stays() {
    let world = World::new();
    let services = "import os\nclass Pool:\n    uses = 0\ndef make():\n    return Pool()\n";
    let implement = r#"
import os
async def f(ctx, params):
    fresh = not hasattr(ctx, "mark")
    ctx.mark = True
    ctx.services.pool.uses += 1
    return {"fresh": fresh, "uses": ctx.services.pool.uses, "pid": os.getpid(),
            "secret": os.environ.get("TICKET_TOKEN"), "other": os.environ.get("OTHER"),
            "leaked": "NOT_FOR_SKILLS" in os.environ, "fact": ctx.memory.get("seen")}
"#;
    let yaml = "entry: {module: m, function: f}\nservices: {pool: 's.py:make'}\n";
    world.skill("warm", yaml, &[("m.py", implement), ("s.py", services)]);
    let gateway = world.open();
    let mut pids = Vec::new();
    for uses in 1..=3 {
        let got = value(&world.call(&gateway, "warm", json!({})).await);
        assert_eq!(got["fresh"], true);
        assert_eq!(got["uses"], uses);
        assert_eq!(got["leaked"], false);
        assert_eq!(
            (&got["secret"], &got["other"]),
            (&json!(null), &json!(null))
        );
        pids.push(got["pid"].clone());
    }
    assert!(pids.iter().all(|pid| *pid == pids[0]));
    // Other bytes are another worker.
    std::fs::write(world.folder("warm").join("m.py"), format!("{implement}\n#")).unwrap();
    let got = value(&world.call(&gateway, "warm", json!({})).await);
    assert_eq!(got["uses"], 1);
    assert_ne!(got["pid"], pids[0]);
}

#[tokio::test]
async fn facts_are_read_and_written_on_purpose_and_a_failed_call_writes_none() {
    let mut world = World::new();
    world
        .state
        .insert(state::fact_key("seen"), "before".to_owned());
    let implement = r#"
from tekne_skill import SkillResult
async def f(ctx, params):
    before = ctx.memory.get("seen")
    ctx.memory.set("seen", "after")
    ctx.memory.remove("old")
    if params["fail"] == "err":
        return SkillResult.err("not today")
    if params["fail"] == "raise":
        raise ValueError("broken " + "x")
    return before
"#;
    let yaml = "parameters: {fail: {type: string}}\nentry: {module: m, function: f}\n";
    world.skill("facts", yaml, &[("m.py", implement)]);
    let record = world.run("facts", json!({"fail": ""})).await;
    assert_eq!(value(&record), "before");
    assert_eq!(
        record.state.0.get(&state::fact_key("seen")).unwrap(),
        "after"
    );
    assert_eq!(record.state.0.get(&state::fact_key("old")).unwrap(), "");
    for (fail, message) in [
        ("err", "`facts` failed: not today"),
        ("raise", "`facts` failed: ValueError: broken x"),
    ] {
        let record = world.run("facts", json!({"fail": fail})).await;
        assert_eq!(
            (record.result.status, record.result.content.as_str()),
            (Error, message)
        );
        assert!(record.state.is_empty());
    }
}

#[tokio::test]
async fn a_worker_that_breaks_is_said_to_have_and_the_next_call_gets_a_new_one() {
    let world = World::new();
    let implement = r#"
import os, sys
def f(ctx, params):
    if params["how"] == "exit":
        os._exit(3)
    if params["how"] == "close":
        os.close(1)
    return params["how"]
"#;
    let yaml = "parameters: {how: {type: string}}\nentry: {module: m, function: f}\n";
    world.skill("breaks", yaml, &[("m.py", implement)]);
    let gateway = world.open();
    let record = world.call(&gateway, "breaks", json!({"how": "exit"})).await;
    assert_eq!(record.result.content, "`breaks` failed: the worker ended");
    for how in ["fine", "close", "again"] {
        assert_eq!(
            value(&world.call(&gateway, "breaks", json!({"how": how})).await),
            how
        );
    }
    world.skill(
        "syntax",
        "entry: {module: m, function: f}\n",
        &[("m.py", "def f(:\n")],
    );
    let record = world.run("syntax", json!({})).await;
    assert!(
        record
            .result
            .content
            .starts_with("`syntax` failed: the skill could not be loaded: SyntaxError"),
        "{}",
        record.result.content
    );
}

#[tokio::test]
async fn a_skill_whose_time_is_up_is_ended_with_its_processes() {
    let world = World::new();
    let own = format!("304.{}", std::process::id());
    let implement = format!(
        "import subprocess, time\ndef f(ctx, params):\n    subprocess.Popen(['setsid', 'sleep', '{own}'])\n    time.sleep(60)\n"
    );
    let yaml = "policies: {timeout: 1500ms}\nentry: {module: m, function: f}\n";
    world.skill("slow", yaml, &[("m.py", &implement)]);
    let record = world.run("slow", json!({})).await;
    assert_eq!(record.result.status, TimedOut);
    assert_eq!(
        record.result.content,
        "`slow` is temporarily unavailable: it did not finish within 1.5s and was stopped; tell the user that it cannot be done just now"
    );
    let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&own))
    });
    assert!(!left, "something of it still runs");
}
