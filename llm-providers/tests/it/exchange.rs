//! One request and its answer: what is sent, what is read, how an answer fails.

use skill_core::ProviderErrorKind::{NotFound, Protocol, Unauthorized, Unavailable};
use skill_core::{ProviderErrorKind, StopReason};

use crate::server::{Act, Close, Pause, Reset, Server, answer, send, stream, stream_head};
use crate::{DONE, KEY, STOP, ask, chunk, finished, hi, options, provider, shown, text};
use llm_providers::connect;

async fn served(script: Vec<Act>) -> (Server, crate::Arc<dyn skill_core::Provider>) {
    let server = Server::start(vec![script]).await;
    let provider = provider(&server.base_url);
    (server, provider)
}

/// Asks a server that answers by `script`, and returns kind and message of the failure.
async fn failure(script: Vec<Act>) -> (ProviderErrorKind, String, Option<String>) {
    let (server, provider) = served(script).await;
    let (events, error) = ask(&*provider, "hello").await;
    let error = error.unwrap();
    assert_eq!((events, server.seen().requests.len()), (Vec::new(), 1));
    assert!(!shown(&error).contains("0123456789"), "{}", shown(&error));
    let address = server.base_url.clone();
    (
        error.kind,
        error.to_string().replace(&address, "BASE"),
        error.hint,
    )
}

#[tokio::test]
async fn the_request_is_a_post_with_the_key_in_its_header() {
    let (server, provider) = served(stream(&format!("{}{STOP}{DONE}", chunk("Hi")))).await;
    assert_eq!(ask(&*provider, "hello").await.0, hi());
    let request = server.seen().requests.remove(0);
    let address = server
        .base_url
        .trim_start_matches("http://")
        .trim_end_matches("/v1");
    let request = request
        .replace(address, "ADDRESS")
        .replace(env!("CARGO_PKG_VERSION"), "VERSION")
        .replace("\r\n", "\n");
    insta::assert_snapshot!(request, @r#"
    POST /v1/chat/completions HTTP/1.1
    content-type: application/json
    accept: text/event-stream, application/json
    authorization: Bearer sk-0123456789-secret
    user-agent: llm-providers/VERSION
    host: ADDRESS
    content-length: 164

    {"model":"gpt-4o","messages":[{"role":"system","content":"You are brief."},{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}
    "#);
}

#[tokio::test]
async fn without_a_key_no_key_is_sent() {
    let server = Server::start(vec![stream(&format!("{}{STOP}{DONE}", chunk("Hi")))]).await;
    let options = llm_providers::ConnectOptions {
        api_key: None,
        ..options(&server.base_url)
    };
    ask(&*connect(&options).unwrap(), "hello").await;
    assert!(
        !server
            .seen()
            .requests
            .remove(0)
            .to_lowercase()
            .contains("authorization")
    );
}

#[tokio::test]
async fn f10_an_answer_that_comes_byte_by_byte_is_whole() {
    let body = format!("{}{STOP}{DONE}", chunk("技能 🙂"));
    let mut script = vec![stream_head()];
    for byte in body.as_bytes() {
        script.extend([send([*byte]), Pause(std::time::Duration::from_micros(50))]);
    }
    script.push(Close);
    let (_server, provider) = served(script).await;
    let (events, error) = ask(&*provider, "hello").await;
    assert!(error.is_none());
    assert_eq!(events, [text("技能 🙂"), finished(StopReason::EndTurn)]);
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_too() {
    let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
    for headers in [
        "content-type: application/json\r\n",
        "content-type: text/event-stream\r\n",
        "",
    ] {
        let (_server, provider) = served(answer(200, headers, body)).await;
        assert_eq!(ask(&*provider, "hello").await.0, hi(), "{headers}");
    }
}

#[tokio::test]
async fn f01_a_stream_cut_after_a_delta_ends_without_a_terminal_event_and_is_not_repeated() {
    for end in [Close, Reset] {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let body = chunk("Hi");
        let part = format!("{head}{:x}\r\n{body}\r\n", body.len());
        let pause = Pause(std::time::Duration::from_millis(50));
        let (server, provider) = served(vec![send(part), pause, end]).await;
        let (events, error) = ask(&*provider, "hello").await;
        assert!(error.is_none());
        assert_eq!(events, [text("Hi")]);
        assert_eq!(server.seen().requests.len(), 1);
    }
}

#[tokio::test]
async fn a_stream_closed_in_good_order_without_a_terminal_event_was_cut_too() {
    let (server, provider) = served(stream(&chunk("Hi"))).await;
    assert_eq!(ask(&*provider, "hello").await.0, [text("Hi")]);
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test]
async fn a_stream_cut_before_any_delta_is_a_broken_stream() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let pause = || Pause(std::time::Duration::from_millis(50));
    for script in [
        vec![stream_head(), send(role), Close],
        vec![stream_head(), send(role), pause(), Reset],
        vec![stream_head(), send("upstream connect error\n"), Close],
    ] {
        let (kind, message, _) = failure(script).await;
        assert_eq!(kind, Protocol);
        assert_eq!(
            message,
            "acme: `BASE/chat/completions` broke its answer off before it began"
        );
    }
}

#[tokio::test]
async fn f25_a_web_page_or_nothing_is_told_in_one_line_with_a_way_out() {
    let page = "<!DOCTYPE html><html><body>Sign in</body></html>";
    let html = "content-type: text/html; charset=utf-8\r\n";
    for (headers, body, said) in [
        (html, page, "answered with a web page"),
        (
            "content-type: text/event-stream\r\n",
            page,
            "answered with a web page",
        ),
        ("", page, "answered with a web page"),
        ("", "", "answered with nothing"),
        (
            "content-type: application/json\r\n",
            "{\"ok\":true}",
            "answered with JSON that holds no completion",
        ),
        (
            "content-type: text/event-stream\r\n",
            "data: soon\n\n",
            "answered with something that is no completion",
        ),
    ] {
        let (kind, message, hint) = failure(answer(200, headers, body)).await;
        assert_eq!(kind, Protocol);
        assert_eq!(message, format!("acme: `BASE/chat/completions` {said}"));
        assert!(hint.is_some());
    }
}

#[tokio::test]
async fn a_wrong_key_names_the_way_out_and_never_the_key() {
    let body = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {KEY}.","code":"invalid_api_key"}}}}"#
    );
    let (kind, message, hint) =
        failure(answer(401, "content-type: application/json\r\n", &body)).await;
    assert_eq!(kind, Unauthorized);
    assert_eq!(
        message,
        "acme: `BASE/chat/completions` answered 401: Incorrect API key provided: [key]."
    );
    assert_eq!(hint.as_deref(), Some("check the key"));
}

#[tokio::test]
async fn an_unknown_model_is_not_found() {
    let body =
        r#"{"error":{"message":"The model `nope` does not exist","type":"invalid_request_error"}}"#;
    let (kind, message, hint) = failure(answer(404, "", body)).await;
    assert_eq!(kind, NotFound);
    assert!(
        message.ends_with("answered 404: The model `nope` does not exist"),
        "{message}"
    );
    assert!(hint.is_some());
}

#[tokio::test]
async fn a_huge_error_body_is_not_read_to_its_end() {
    let head = "HTTP/1.1 400 X\r\ncontent-length: 1000000000\r\n\r\n";
    let mut script = vec![send(head)];
    script.extend(vec![send(vec![b'x'; 64 << 10]); 4]);
    script.push(crate::server::Hang);
    let (kind, message, _) = failure(script).await;
    assert_eq!(kind, ProviderErrorKind::InvalidRequest);
    assert!(message.ends_with("answered 400"), "{message}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_the_key_reaches_no_other_host() {
    let other = Server::start(Vec::new()).await;
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}/chat/completions\r\n", other.base_url);
        let (kind, message, hint) = failure(answer(status, &location, "")).await;
        assert_eq!(kind, Protocol);
        assert!(
            message.ends_with(&format!("answered {status}")),
            "{message}"
        );
        assert!(hint.unwrap().contains("redirects are not followed"));
    }
    assert_eq!(other.seen().connections, 0);
}

#[tokio::test]
async fn an_error_inside_a_stream_ends_it_with_its_kind() {
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n";
    let (server, provider) = served(stream(&format!("{}{error}", chunk("Hi")))).await;
    let (events, error) = ask(&*provider, "hello").await;
    assert_eq!(events, [text("Hi")]);
    let error = error.unwrap();
    assert_eq!(error.kind, Unavailable);
    assert!(error.to_string().ends_with("reported an error: overloaded"));
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test]
async fn a_broken_chunk_after_a_delta_hands_the_delta_out_first() {
    let (_server, provider) = served(stream(&format!("{}data: {{oops\n\n", chunk("Hi")))).await;
    let (events, error) = ask(&*provider, "hello").await;
    assert_eq!(events, [text("Hi")]);
    assert_eq!(error.unwrap().kind, Protocol);
}

#[tokio::test]
async fn one_connection_serves_one_request_after_the_other() {
    let whole = || stream(&format!("{}{STOP}{DONE}", chunk("Hi")));
    let server = Server::start(vec![whole(), whole(), whole()]).await;
    let provider = provider(&server.base_url);
    for _ in 0..3 {
        assert_eq!(ask(&*provider, "hello").await.0, hi());
    }
    let seen = server.seen();
    assert_eq!((seen.requests.len(), seen.connections), (3, 1));
}
