//! Every wait ends: by its deadline, or when nobody waits any more.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use llm_providers::{ConnectOptions, Timeouts, connect};
use skill_core::ProviderErrorKind::Timeout;

use crate::server::{Act, Close, Hang, Pause, Server, send, stream_head};
use crate::{DONE, STOP, ask, chunk, finished, hi, options, provider, request, text};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(5);

async fn run(
    script: Vec<Act>,
    timeouts: Timeouts,
) -> (
    Vec<skill_core::CompletionEvent>,
    Option<skill_core::ProviderError>,
    usize,
) {
    let server = Server::start(vec![script]).await;
    let options = ConnectOptions {
        timeouts,
        ..options(&server.base_url)
    };
    let begin = Instant::now();
    let (events, error) = ask(&*connect(&options).unwrap(), "hello").await;
    assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    (events, error, server.seen().requests.len())
}

fn timeouts() -> Timeouts {
    Timeouts {
        connect: LONG,
        first_byte: LONG,
        idle: LONG,
        total: LONG,
    }
}

#[tokio::test]
async fn f12_silence_before_the_answer_ends_at_the_first_byte_deadline() {
    for script in [vec![Hang], vec![stream_head(), Hang]] {
        let limits = Timeouts {
            first_byte: SHORT,
            ..timeouts()
        };
        let (_, error, requests) = run(script, limits).await;
        let error = error.unwrap();
        assert_eq!((error.kind, requests), (Timeout, 1));
        assert!(
            error.to_string().ends_with("did not answer within 0.2 s"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn f12_silence_inside_the_answer_ends_at_the_idle_deadline() {
    let limits = Timeouts {
        idle: SHORT,
        ..timeouts()
    };
    let (events, error, _) = run(vec![stream_head(), send(chunk("Hi")), Hang], limits).await;
    assert_eq!(events, [text("Hi")]);
    let error = error.unwrap();
    assert_eq!(error.kind, Timeout);
    assert!(
        error
            .to_string()
            .ends_with("fell silent for 0.2 s in its answer"),
        "{error}"
    );
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_total_deadline() {
    let mut script = vec![stream_head()];
    for _ in 0..200 {
        script.extend([send(": ping\n\n"), Pause(Duration::from_millis(20))]);
    }
    let limits = Timeouts {
        total: SHORT,
        ..timeouts()
    };
    let (_, error, requests) = run(script, limits).await;
    let error = error.unwrap();
    assert_eq!((error.kind, requests), (Timeout, 1));
    assert!(
        error
            .to_string()
            .ends_with("did not finish its answer within 0.2 s"),
        "{error}"
    );
}

#[tokio::test]
async fn f13_any_byte_puts_the_idle_deadline_off() {
    let mut script = vec![stream_head(), send(chunk("Hi"))];
    for _ in 0..10 {
        script.extend([send(":\n"), Pause(Duration::from_millis(100))]);
    }
    script.extend([send(format!("{STOP}{DONE}")), Close]);
    let limits = Timeouts {
        idle: Duration::from_millis(600),
        ..timeouts()
    };
    let (events, error, _) = run(script, limits).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events, hi());
}

#[tokio::test]
async fn a_server_that_stopped_but_does_not_hang_up_is_not_waited_for() {
    let script = vec![stream_head(), send(format!("{}{STOP}", chunk("Hi"))), Hang];
    let (events, error, _) = run(script, timeouts()).await;
    assert!(error.is_none());
    assert_eq!(events, hi());
}

#[tokio::test]
async fn after_the_last_word_nothing_is_waited_for() {
    let script = vec![stream_head(), send(format!("{}{DONE}", chunk("Hi"))), Hang];
    let begin = Instant::now();
    let (events, _, _) = run(script, timeouts()).await;
    assert_eq!(
        events,
        [text("Hi"), finished(skill_core::StopReason::EndTurn)]
    );
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn dropping_a_request_or_its_stream_hangs_up() {
    let server = Server::start(vec![
        vec![Hang],
        vec![stream_head(), send(chunk("Hi")), Hang],
    ])
    .await;
    let provider = provider(&server.base_url);
    let waiting = tokio::time::timeout(SHORT, provider.stream(request("hello"))).await;
    assert!(waiting.is_err());
    let mut stream = provider.stream(request("hello")).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), text("Hi"));
    drop(stream);
    for _ in 0..100 {
        if server.seen().left == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the connections are still open");
}
