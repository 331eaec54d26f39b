//! What is asked again and what is not, counted at the server.

use std::time::{Duration, Instant};

use skill_core::ProviderErrorKind::{RateLimited, Timeout, Unavailable};

use crate::server::{Act, Close, Reset, Server, answer, stream};
use crate::{DONE, STOP, ask, chunk, hi, provider};

fn whole() -> Vec<Act> {
    stream(&format!("{}{STOP}{DONE}", chunk("Hi")))
}

#[tokio::test]
async fn what_passes_is_asked_again_and_answered_once() {
    for failure in [
        answer(408, "", ""),
        answer(429, "", ""),
        answer(500, "", ""),
        answer(503, "", "<html>"),
        vec![Close],
        vec![Reset],
    ] {
        let server = Server::start(vec![failure.clone(), whole()]).await;
        let (events, error) = ask(&*provider(&server.base_url), "hello").await;
        assert!(error.is_none(), "{failure:?}: {error:?}");
        assert_eq!(events, hi(), "{failure:?}");
        assert_eq!(server.seen().requests.len(), 2, "{failure:?}");
    }
}

#[tokio::test]
async fn f16_after_three_attempts_the_failure_is_told() {
    for (status, kind) in [(503, Unavailable), (408, Timeout), (429, RateLimited)] {
        let server = Server::start(vec![answer(status, "", ""); 9]).await;
        let (_, error) = ask(&*provider(&server.base_url), "hello").await;
        assert_eq!(error.unwrap().kind, kind);
        assert_eq!(server.seen().requests.len(), 3);
    }
}

#[tokio::test]
async fn f15_a_wait_asked_for_is_kept() {
    let server = Server::start(vec![answer(429, "retry-after: 1\r\n", ""), whole()]).await;
    let begin = Instant::now();
    let (events, _) = ask(&*provider(&server.base_url), "hello").await;
    assert_eq!(events, hi());
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_wait_of_more_than_a_minute_is_told_at_once() {
    let server = Server::start(vec![answer(429, "retry-after: 61\r\n", ""), whole()]).await;
    let (_, error) = ask(&*provider(&server.base_url), "hello").await;
    let error = error.unwrap();
    assert_eq!(error.kind, RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_secs(61)));
    assert_eq!(
        error.hint.as_deref(),
        Some("the provider asks to wait 61 s")
    );
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test]
async fn f17_a_spent_quota_is_not_asked_again() {
    let body = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let server = Server::start(vec![answer(429, "", body), whole()]).await;
    let (_, error) = ask(&*provider(&server.base_url), "hello").await;
    assert_eq!(error.unwrap().kind, RateLimited);
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test]
async fn f18_an_answer_that_began_is_never_asked_for_again() {
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n";
    for rest in ["", error] {
        let server = Server::start(vec![stream(&format!("{}{rest}", chunk("Hi"))), whole()]).await;
        let (events, _) = ask(&*provider(&server.base_url), "hello").await;
        assert_eq!(events, [crate::text("Hi")]);
        assert_eq!(server.seen().requests.len(), 1);
    }
}

#[tokio::test]
async fn an_error_event_before_any_delta_is_asked_again_when_it_may_pass() {
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n";
    let server = Server::start(vec![stream(error), whole()]).await;
    assert_eq!(ask(&*provider(&server.base_url), "hello").await.0, hi());
    assert_eq!(server.seen().requests.len(), 2);
}

#[tokio::test]
async fn a_refused_connection_names_the_address_and_the_way_out() {
    let server = Server::start(Vec::new()).await;
    // Nothing listens on port 1 of this machine, which only the administrator could bind.
    let base_url = "http://127.0.0.1:1/v1";
    let (_, error) = ask(&*provider(base_url), "hello").await;
    let error = error.unwrap();
    assert_eq!(error.kind, Unavailable);
    assert_eq!(
        error.to_string(),
        "acme: `http://127.0.0.1:1/v1/chat/completions` cannot be reached"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("is the server running? check the base URL")
    );
    assert_eq!(server.seen().connections, 0);
}
