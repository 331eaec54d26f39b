//! Sub-agents: a part of what their agent may do, never more; and what the loop remembers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use loop_runtime::{
    ContextError, ContextQuery, ContextSource, EventKind, Gathered, MemoryStore, SubAssistant,
    TurnLimits, TurnOutcome, TurnRequest, facts, forget_in,
};
use prompt_compiler::{ContextFragment, FragmentKind};
use skill_core::testing::Answer;
use skill_core::{CompletionRequest, Principal};
use tool_gateway::Approval;

use crate::bench::{Bench, again};

fn delegates(arguments: &str) -> Answer {
    Answer::calls(&[("c1", "delegate", arguments)])
}

fn note(text: &str) -> Answer {
    Answer::calls(&[("n1", "note", &format!("{{\"text\":\"{text}\"}}"))])
}

fn tools(request: &CompletionRequest) -> Vec<&str> {
    request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect()
}

fn last_result(request: &CompletionRequest) -> String {
    let results = request
        .messages
        .iter()
        .flat_map(|message| message.results());
    results.last().unwrap().content.clone()
}

#[tokio::test]
async fn a_sub_agent_does_a_task_on_its_own_and_brings_back_its_answer() {
    let bench = Bench::new(vec![
        delegates("{\"task\":\"THE PART\"}"),
        note("by the child"),
        Answer::text("child's answer"),
        Answer::text("done"),
    ]);
    let (report, events) = bench.run(TurnRequest::task("THE WHOLE")).await;
    assert_eq!(report.text, "done");
    assert_eq!(bench.effects(), 1);
    let requests = bench.provider.requests();
    let child = serde_json::to_string(&requests[1].messages).unwrap();
    assert!(child.contains("THE PART") && !child.contains("THE WHOLE"));
    assert!(!tools(&requests[1]).contains(&"delegate"), "depth is one");
    assert_eq!(last_result(&requests[3]), "child's answer");
    // Its session is kept beside that of its agent; what it spent is spent by the turn.
    let sessions = bench.agent.store.list(9).await.unwrap();
    assert_eq!(sessions.len(), 2);
    let mut ids = sessions.iter().map(|session| session.header.id.as_str());
    let child = ids.find(|id| *id != report.session).unwrap();
    assert!(events.iter().any(|event| matches!(
        &event.kind,
        EventKind::Notice { code, message } if code == "delegated" && message.contains(child)
    )));
    assert_eq!(report.usage.input, 40);
}

#[tokio::test]
async fn a_sub_agent_gets_only_the_tools_and_skills_it_was_given() {
    let arguments = "{\"task\":\"x\",\"tools\":[\"open_skill\"],\"skills\":[\"weekly\"]}";
    let bench = Bench::new(vec![
        delegates(arguments),
        note("not given"),
        Answer::text("could not"),
        Answer::text("done"),
    ]);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!((report.text.as_str(), bench.effects()), ("done", 0));
    let requests = bench.provider.requests();
    assert!(!tools(&requests[1]).contains(&"note"));
    let system = requests[1].system.concat();
    assert!(
        system.contains("weekly") && !system.contains("BE BRIEF"),
        "{system}"
    );
    assert!(last_result(&requests[2]).contains("not available"));
}

#[tokio::test]
async fn what_the_agent_does_not_have_cannot_be_handed_on() {
    for (arguments, said) in [
        (
            "{\"task\":\"x\",\"tools\":[\"delegate\"]}",
            "`delegate` is not available",
        ),
        (
            "{\"task\":\"x\",\"tools\":[\"format\"]}",
            "`format` is not available",
        ),
        (
            "{\"task\":\"x\",\"skills\":[\"gone\"]}",
            "skill not found: gone",
        ),
        (
            "{\"task\":\"x\",\"assistant\":\"who\"}",
            "no assistant named `who`",
        ),
    ] {
        let bench = Bench::new(vec![delegates(arguments), Answer::text("done")]);
        bench.run(TurnRequest::task("go")).await;
        let requests = bench.provider.requests();
        assert_eq!(requests.len(), 2, "{arguments}");
        assert!(last_result(&requests[1]).contains(said), "{arguments}");
    }
}

#[tokio::test]
async fn another_assistant_sees_no_more_than_the_agent_that_calls_it() {
    let other = SubAssistant {
        principal: Principal {
            assistant: "other".into(),
            exclude: vec!["weekly".into()],
            ..Principal::default()
        },
        instructions: "YOU ARE THE OTHER".into(),
        tools: Some(["note".to_owned(), "secret_tool".to_owned()].into()),
    };
    let answers = vec![
        delegates("{\"task\":\"x\",\"assistant\":\"other\"}"),
        Answer::text("child"),
        Answer::text("done"),
    ];
    let bench = Bench::new(answers).with_agent(|agent| {
        agent.assistants.insert("other".into(), other);
    });
    bench.run(TurnRequest::task("go")).await;
    let child = &bench.provider.requests()[1];
    let system = child.system.concat();
    assert!(
        system.contains("YOU ARE THE OTHER") && !system.contains("- weekly"),
        "{system}"
    );
    assert!(tools(child).contains(&"note") && !tools(child).contains(&"secret_tool"));
}

#[tokio::test]
async fn d_060_parent_and_child_never_see_what_the_other_opened() {
    let bench = Bench::new(vec![
        Answer::calls(&[("o1", "open_skill", "{\"id\":\"weekly\"}")]),
        delegates("{\"task\":\"x\"}"),
        Answer::text("child"),
        Answer::text("done"),
    ]);
    bench.run(TurnRequest::task("go")).await;
    let requests = bench.provider.requests();
    let carries =
        |request: &CompletionRequest| serde_json::to_string(request).unwrap().contains("STEP ONE");
    let shown: Vec<bool> = requests.iter().map(carries).collect();
    assert_eq!(shown, [false, true, false, true]);
}

#[tokio::test]
async fn an_approval_of_a_sub_agent_is_asked_of_the_same_person() {
    let store = Arc::new(MemoryStore::new());
    let answers = vec![
        delegates("{\"task\":\"x\"}"),
        note("asks"),
        Answer::text("child"),
        Answer::text("done"),
    ];
    let bench = Bench::with(answers, store, "ask tool(note)");
    bench.decide(Approval::Allow);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(
        (report.outcome, bench.effects()),
        (TurnOutcome::Completed, 1)
    );
}

#[tokio::test]
async fn l07_sub_agents_spend_from_the_limits_of_their_turn() {
    let answers = vec![
        delegates("{\"task\":\"x\"}"),
        note("one"),
        note("two"),
        Answer::text("never"),
    ];
    let bench = Bench::new(answers).limits(TurnLimits {
        tool_calls: Some(2),
        ..TurnLimits::default()
    });
    bench.run(TurnRequest::task("go")).await;
    // The call that delegates is one of the two.
    assert_eq!(bench.effects(), 1);
}

#[tokio::test]
async fn a_sub_agent_that_fails_is_an_error_that_says_what_it_came_to() {
    let bench = Bench::new(vec![
        delegates("{\"task\":\"x\"}"),
        Answer::Error(skill_core::ProviderErrorKind::Unavailable),
        Answer::text("went on"),
    ]);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    assert_eq!(report.text, "went on");
    let told = last_result(&bench.provider.requests()[2]);
    assert!(
        told.contains("did not finish: error(unavailable)"),
        "{told}"
    );
}

fn remembers(key: &str, value: &str) -> Answer {
    let arguments = format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}");
    Answer::calls(&[("r1", "remember", &arguments)])
}

fn remembering(answers: Vec<Answer>) -> Bench {
    let store = Arc::new(MemoryStore::new());
    Bench::with(answers, store, "allow tool(remember)")
}

#[tokio::test]
async fn s3_36_a_fact_is_kept_by_an_explicit_write_and_shown_from_the_next_turn_on() {
    let bench = remembering(vec![
        remembers("name", "Ines"),
        Answer::text("noted"),
        Answer::text("hello Ines"),
        Answer::text("gone"),
    ]);
    let (report, _) = bench.run(TurnRequest::task("I am Ines")).await;
    let (report, _) = bench.run(again(&report, "who am I?")).await;
    let shown = |bench: &Bench| {
        let last = bench.provider.requests().pop().unwrap();
        last.messages.last().unwrap().joined_text()
    };
    assert!(shown(&bench).contains("- name: Ines"), "{}", shown(&bench));
    let store = &*bench.agent.store;
    assert!(forget_in(store, &report.session, "name", 9).await.unwrap());
    assert!(!forget_in(store, &report.session, "name", 9).await.unwrap());
    bench.run(again(&report, "and now?")).await;
    assert!(!shown(&bench).contains("Ines"), "{}", shown(&bench));
}

#[tokio::test]
async fn s3_36_a_call_that_fails_keeps_no_fact() {
    let bench = remembering(vec![remembers("bad\\nkey", "x"), Answer::text("failed")]);
    let (report, _) = bench.run(TurnRequest::task("go")).await;
    let record = bench.agent.store.load(&report.session).await.unwrap();
    let projection = loop_runtime::Projection::of(&record.entries);
    assert!(facts(&projection.state).is_empty());
}

#[tokio::test]
async fn s3_28_the_digest_is_made_anew_after_every_second_turn() {
    let answers = (0..4).map(|number| Answer::text(&format!("answer {number}")));
    let bench = Bench::new(answers.collect());
    let (mut report, _) = bench.run(TurnRequest::task("question 0")).await;
    let mut digests = Vec::new();
    for number in 1..4 {
        let record = bench.agent.store.load(&report.session).await.unwrap();
        digests.push(loop_runtime::Projection::of(&record.entries).digest);
        (report, _) = bench
            .run(again(&report, &format!("question {number}")))
            .await;
    }
    assert_eq!(digests[0], "");
    assert!(digests[1].contains("question 1"));
    assert_eq!(digests[1], digests[2]);
}

/// A source that always brings one fragment.
#[derive(Debug)]
struct One(FragmentKind);

#[async_trait::async_trait]
impl ContextSource for One {
    fn name(&self) -> &str {
        "one"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        let text = format!("FOR {}", query.text);
        Ok(vec![ContextFragment::new(self.0, "one", text)].into())
    }
}

#[tokio::test]
async fn context_of_sources_stands_where_its_kind_belongs_and_only_in_its_turn() {
    let bench = Bench::new(vec![Answer::text("a"), Answer::text("b")]).with_agent(|agent| {
        agent.sources = vec![
            Arc::new(One(FragmentKind::Instructions)),
            Arc::new(One(FragmentKind::Mention)),
        ];
    });
    let (report, _) = bench.run(TurnRequest::task("first")).await;
    bench.run(again(&report, "second")).await;
    let last = bench.provider.requests().pop().unwrap();
    assert!(last.system.concat().contains("FOR second"));
    let users: Vec<String> = last
        .messages
        .iter()
        .map(|message| message.joined_text())
        .collect();
    assert!(users[2].contains("FOR second"), "{users:?}");
    assert!(!users[0].contains("FOR"), "{users:?}");
}
