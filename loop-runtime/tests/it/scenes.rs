//! The profiles: one kernel, and what differs between the scenes.

use std::sync::Arc;

use loop_runtime::{EventKind, Profile, RoutedCall, Router, TurnOutcome, TurnRequest, completion};
use skill_core::SkillView;
use skill_core::testing::Answer;

use crate::bench::Bench;

#[tokio::test]
async fn s0_a_completion_shows_no_skill_keeps_no_session_and_has_its_own_system_text() {
    let bench = Bench::new(vec![Answer::text(" today")]).profile(Profile::COMPLETE);
    let input = completion("week.md", "Done:\n", 5).unwrap();
    let request = TurnRequest {
        input,
        ..TurnRequest::task("")
    };
    let (report, events) = bench.run(request).await;
    assert_eq!(report.text, " today");
    assert!(matches!(
        events[1].kind,
        EventKind::TurnStarted {
            fast_path: true,
            ..
        }
    ));
    let [request] = &bench.provider.requests()[..] else {
        panic!("one request")
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&request).unwrap());
    assert_eq!(bench.agent.store.list(9).await.unwrap(), []);
}

/// A router that always chooses the same.
#[derive(Debug)]
struct Fixed(Option<RoutedCall>);

#[async_trait::async_trait]
impl Router for Fixed {
    async fn route(&self, _query: &str, _digest: &str, _view: &SkillView) -> Option<RoutedCall> {
        self.0.clone()
    }
}

fn routed(answers: Vec<Answer>, choice: Option<RoutedCall>) -> Bench {
    let router = Arc::new(Fixed(choice));
    Bench::new(answers)
        .profile(Profile::ROUTED)
        .with_agent(|agent| agent.router = Some(router))
}

#[tokio::test]
async fn a_routed_call_goes_through_the_gateway_before_the_model_is_asked() {
    let call = RoutedCall {
        tool: "note".into(),
        arguments: "{\"text\":\"routed\"}".into(),
    };
    let bench = routed(vec![Answer::text("noted it")], Some(call));
    let (report, _) = bench.run(TurnRequest::task("note this")).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    assert_eq!(bench.effects(), 1);
    let [request] = &bench.provider.requests()[..] else {
        panic!("one request")
    };
    let result = request.messages[2].results().next().unwrap();
    assert_eq!(result.content, "noted routed");
}

#[tokio::test]
async fn a_routed_call_that_is_not_allowed_does_not_run() {
    let call = RoutedCall {
        tool: "format_disk".into(),
        arguments: "{}".into(),
    };
    let bench = routed(vec![Answer::text("I cannot")], Some(call));
    let (report, _) = bench.run(TurnRequest::task("x")).await;
    assert_eq!((report.text.as_str(), bench.effects()), ("I cannot", 0));
}

#[tokio::test]
async fn without_a_route_the_model_goes_first() {
    let bench = routed(vec![Answer::text("hello")], None);
    let (report, _) = bench.run(TurnRequest::task("hi")).await;
    assert_eq!(report.text, "hello");
    assert_eq!(bench.provider.requests()[0].messages.len(), 1);
}
