//! Open skills over requests, turns and sessions: what is shown, for how long, to whom.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use loop_runtime::{
    ErrorKind, EventKind, JournalEntry, JournalEvent, MemoryStore, RunError, SessionHeader,
    SessionStore, SkillLoad, TurnOutcome, TurnRequest,
};
use prompt_compiler::Residency;
use skill_core::testing::Answer;
use skill_core::{
    CompletionRequest, Message, Root, ScanLimits, Scope, SkillCatalog, SkillPreference, StateDelta,
};

use crate::bench::{Bench, again, kinds};

fn open() -> Answer {
    Answer::calls(&[("c1", "open_skill", "{\"id\":\"weekly\"}")])
}

fn note(id: &str) -> Answer {
    Answer::calls(&[(id, "note", &format!("{{\"text\":\"{id}\"}}"))])
}

/// Tells for each request whether it carries the skill's text.
fn shown(requests: &[CompletionRequest]) -> Vec<bool> {
    let carries = |request: &CompletionRequest| {
        let text = serde_json::to_string(request).unwrap();
        assert!(
            text.matches("STEP ONE").count() <= 1,
            "more than once: {text}"
        );
        text.contains("STEP ONE")
    };
    requests.iter().map(carries).collect()
}

fn with_residency(residency: Residency, answers: Vec<Answer>) -> Bench {
    Bench::new(answers).with_agent(|agent| agent.preset.residency = residency)
}

/// A turn that opens the skill and then makes two more requests, and one turn after it.
async fn two_turns(residency: Residency) -> Vec<bool> {
    let answers = vec![
        open(),
        note("c2"),
        Answer::text("done"),
        Answer::text("next"),
    ];
    let bench = with_residency(residency, answers);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    bench.run(again(&report, "next")).await;
    shown(&bench.provider.requests())
}

#[tokio::test]
async fn d_057_turn_residency_ends_with_the_turn_once_and_holds_within_it() {
    let shown = two_turns(Residency::Turn).await;
    assert_eq!(shown, [false, true, true, false]);
}

#[tokio::test]
async fn d_058_once_residency_shows_the_text_in_exactly_one_request() {
    let shown = two_turns(Residency::Once).await;
    assert_eq!(shown, [false, true, false, false]);
}

#[tokio::test]
async fn d_059_session_residency_shows_it_without_a_new_load() {
    let shown = two_turns(Residency::Session).await;
    assert_eq!(shown, [false, true, true, true]);
}

#[tokio::test]
async fn s1_25_what_expired_can_be_opened_again() {
    let again_open = Answer::calls(&[("c9", "open_skill", "{\"id\":\"weekly\"}")]);
    let answers = vec![open(), Answer::text("one"), again_open, Answer::text("two")];
    let bench = with_residency(Residency::Turn, answers);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    bench.run(again(&report, "next")).await;
    let shown = shown(&bench.provider.requests());
    assert_eq!(shown, [false, true, false, true]);
}

fn with_loads(task: &str, skills: &[&str]) -> TurnRequest {
    TurnRequest {
        loads: skills.iter().map(|skill| SkillLoad::new(*skill)).collect(),
        ..TurnRequest::task(task)
    }
}

#[tokio::test]
async fn d_061_a_declared_skill_is_in_the_first_request_and_one_change_of_state() {
    let bench = with_residency(Residency::Turn, vec![Answer::text("done")]);
    let (report, events) = bench.run(with_loads("go", &["weekly"])).await;
    assert_eq!(shown(&bench.provider.requests()), [true]);
    let opened = events.iter().filter(|event| {
        matches!(&event.kind, EventKind::SkillOpened { id, via, .. } if id == "weekly" && via == "declared")
    });
    assert_eq!(opened.count(), 1);
    let kinds = kinds(&events);
    let changes = kinds.iter().filter(|kind| *kind == "state.delta");
    assert_eq!(changes.count(), 1);
    let record = bench.agent.store.load(&report.session).await.unwrap();
    let changed = |entry: &&JournalEntry| matches!(entry.event, JournalEvent::StateChanged { .. });
    assert_eq!(record.entries.iter().filter(changed).count(), 1);
}

#[tokio::test]
async fn d_061_one_unknown_skill_loads_none_calls_no_model_and_begins_no_session() {
    let bench = Bench::new(vec![Answer::text("never")]);
    let mut sink = |_| {};
    let refused = bench
        .agent
        .run(
            with_loads("go", &["weekly", "gone"]),
            Default::default(),
            &mut sink,
        )
        .await;
    assert!(matches!(refused, Err(RunError::Load(error)) if error.skill == "gone"));
    assert!(bench.provider.requests().is_empty());
    assert_eq!(bench.agent.store.list(9).await.unwrap(), []);
}

#[tokio::test]
async fn on_resume_a_skill_that_is_disabled_by_now_is_closed_before_its_text_is_read() {
    let bench = Bench::new(vec![open(), Answer::text("one"), Answer::text("two")]);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let bench = bench.with_agent(|agent| {
        let off = SkillPreference {
            enabled: Some(false),
            load: None,
        };
        agent.principal.preferences.insert("weekly".into(), off);
    });
    let (_, events) = bench.run(again(&report, "next")).await;
    assert_eq!(shown(&bench.provider.requests()), [false, true, false]);
    let last = bench.provider.requests().pop().unwrap();
    assert!(
        !last.system.concat().contains("weekly"),
        "{:?}",
        last.system
    );
    assert!(events.iter().any(
        |event| matches!(&event.kind, EventKind::Notice { code, .. } if code == "skill_dropped")
    ));
}

#[tokio::test]
async fn d_070_a_session_with_keys_of_the_older_format_goes_on_with_its_skill() {
    let store = Arc::new(MemoryStore::new());
    let mut delta = StateDelta::default();
    delta.set("temp:skill:loaded:weekly", "1");
    let events = [JournalEvent::StateChanged {
        delta,
        reason: "imported".into(),
        opened: Vec::new(),
    }];
    let entries: Vec<JournalEntry> = (1..)
        .zip(events)
        .map(|(seq, event)| JournalEntry {
            seq,
            at_ms: 0,
            event,
        })
        .collect();
    let header = SessionHeader {
        id: "old".into(),
        created_ms: 0,
        workspace: "/workspace".into(),
        assistant: "default".into(),
        title: String::new(),
    };
    store.create(&header, &entries).await.unwrap();
    let bench = Bench::with(vec![Answer::text("done")], store, "allow tool(note)");
    let request = TurnRequest {
        session: Some("old".into()),
        ..TurnRequest::task("go on")
    };
    bench.run(request).await;
    assert_eq!(shown(&bench.provider.requests()), [true]);
}

/// A folder of skills, and a bench that reads it.
fn on_disk(answers: Vec<Answer>) -> (tempfile::TempDir, Bench) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weekly", "Writes the review.", "");
    write(folder.path(), "secret", "For others.", "groups: [others]\n");
    let roots = [Root::new(folder.path(), Scope::User)];
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    let bench = Bench::new(answers).catalog(catalog);
    (folder, bench)
}

fn write(folder: &std::path::Path, name: &str, description: &str, more: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(&path).unwrap();
    let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n\nSTEP ONE\n");
    std::fs::write(path.join("SKILL.md"), text).unwrap();
}

/// Runs a turn of two requests, between which a skill's description is changed on disk.
async fn changed_between(name: &'static str, more: &'static str) -> (TurnOutcome, usize) {
    let (folder, bench) = on_disk(vec![note("c1"), Answer::text("done")]);
    let (path, catalog) = (folder.path().to_owned(), Arc::clone(&bench.agent.catalog));
    bench.on_note(move || {
        write(&path, name, "Something else by now.", more);
        catalog.refresh();
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    (report.outcome, bench.provider.requests().len())
}

#[tokio::test]
async fn s2_17_a_visible_change_of_skills_within_a_turn_fails_closed_before_the_next_call() {
    let (outcome, calls) = changed_between("weekly", "").await;
    assert_eq!(outcome, TurnOutcome::Error(ErrorKind::Environment));
    assert_eq!(calls, 1);
}

#[tokio::test]
async fn a_change_that_the_principal_cannot_see_fails_nothing() {
    let (outcome, calls) = changed_between("secret", "groups: [others]\n").await;
    assert_eq!((outcome, calls), (TurnOutcome::Completed, 2));
}

#[tokio::test]
async fn a_skill_that_is_withdrawn_while_a_turn_runs_is_in_no_later_request() {
    let (folder, bench) = on_disk(vec![note("c1"), Answer::text("done")]);
    let path = folder.path().join("weekly");
    bench.on_note(move || std::fs::remove_dir_all(&path).unwrap());
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::Error(ErrorKind::Environment));
    assert_eq!(bench.provider.requests().len(), 1);
}

#[tokio::test]
async fn a_skill_that_comes_while_a_turn_runs_waits_for_the_next() {
    let (folder, bench) = on_disk(vec![note("c1"), Answer::text("done")]);
    let path = folder.path().to_owned();
    bench.on_note(move || write(&path, "added", "Comes later.", ""));
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    let last = bench.provider.requests().pop().unwrap();
    assert!(!last.system.concat().contains("Comes later."));
}

#[tokio::test]
async fn after_a_change_the_next_turn_sees_the_new_set() {
    let (folder, bench) = on_disk(vec![note("c1"), Answer::text("done")]);
    let (path, catalog) = (folder.path().to_owned(), Arc::clone(&bench.agent.catalog));
    bench.on_note(move || {
        write(&path, "weekly", "Something else by now.", "");
        catalog.refresh();
    });
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let (report, _) = bench.run(again(&report, "again")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    let last = bench.provider.requests().pop().unwrap();
    assert!(last.system.concat().contains("Something else by now."));
    assert_eq!(
        last.messages.last().unwrap().joined_text(),
        Message::user("again").joined_text()
    );
}
