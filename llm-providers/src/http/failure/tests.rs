//! Tests of how failures are told.

use std::error::Error as _;
use std::time::Duration;

use skill_core::ProviderErrorKind::{
    self, InvalidRequest, NotFound, Protocol, RateLimited, Timeout, Unauthorized, Unavailable,
};

use super::{ApiError, Origin, StatusFailure};
use crate::secret::Secret;

fn origin() -> Origin {
    Origin {
        provider: "acme".into(),
        endpoint: "https://api.acme.test/v1/chat/completions".into(),
        key: Some(Secret::new("sk-secret-0123456789")),
        key_env: Some("ACME_API_KEY".into()),
    }
}

fn told(status: u16, body: &str) -> String {
    origin().status(status, None, body.as_bytes()).to_string()
}

#[test]
fn every_status_has_a_kind() {
    let kinds: &[(u16, ProviderErrorKind)] = &[
        (301, Protocol),
        (400, InvalidRequest),
        (401, Unauthorized),
        (402, Unauthorized),
        (403, Unauthorized),
        (404, NotFound),
        (408, Timeout),
        (413, InvalidRequest),
        (422, InvalidRequest),
        (429, RateLimited),
        (500, Unavailable),
        (529, Unavailable),
    ];
    for (status, kind) in kinds {
        assert_eq!(origin().status(*status, None, b"").kind, *kind, "{status}");
    }
}

#[test]
fn the_apis_own_message_is_quoted_on_one_line() {
    assert_eq!(
        told(
            400,
            r#"{"error":{"message":"model\n\u0007 `x`   does\u202e not exist","type":"t"}}"#
        ),
        "acme: `https://api.acme.test/v1/chat/completions` answered 400: model `x` does not exist"
    );
}

#[test]
fn messages_are_found_in_the_shapes_in_use() {
    for body in [
        r#"{"error":{"message":"why"}}"#,
        r#"{"error":"why"}"#,
        r#"{"object":"error","message":"why","code":"3280"}"#,
        r#"{"detail":"why"}"#,
        r#"[{"error":{"message":"why"}}]"#,
    ] {
        assert!(told(400, body).ends_with("answered 400: why"), "{body}");
    }
}

#[test]
fn a_body_that_is_no_error_object_is_not_quoted() {
    for body in [
        "<html>nginx</html>",
        "",
        "{\"detail\":[1]}",
        "secret prompt",
        "\"text\"",
    ] {
        assert!(told(500, body).ends_with("answered 500"), "{body}");
    }
}

#[test]
fn neither_the_key_nor_its_ends_are_quoted() {
    let bodies = [
        r#"{"error":"Incorrect API key provided: sk-secret-0123456789. Look it up."}"#,
        r#"{"error":"Incorrect API key provided: sk-secr*******6789. Look it up."}"#,
        r#"{"error":"Incorrect API key provided: ******6789. Look it up."}"#,
    ];
    for body in bodies {
        let error = origin().status(401, None, body.as_bytes());
        let text = format!("{error} {error:?} {:?}", error.source());
        assert!(!text.contains("6789") && !text.contains("sk-"), "{text}");
        assert!(text.contains("Look it up"), "{text}");
    }
}

#[test]
fn a_long_message_is_cut() {
    let body = format!(r#"{{"error":"{}"}}"#, "字".repeat(5000));
    let text = told(400, &body);
    assert_eq!(text.chars().filter(|c| *c == '字').count(), 300);
    assert!(text.ends_with('…'));
}

#[test]
fn hints_name_the_way_out() {
    let hint = |status, wait| origin().status(status, wait, b"").hint.unwrap_or_default();
    assert_eq!(
        hint(401, None),
        "check the key; it is usually in `ACME_API_KEY`"
    );
    assert!(hint(404, None).contains("`/v1`"));
    assert_eq!(
        hint(429, Some(Duration::from_millis(89_500))),
        "the provider asks to wait 90 s"
    );
    let without_key = Origin {
        key: None,
        ..origin()
    };
    assert_eq!(
        without_key.key_hint(),
        "no key was sent; set `ACME_API_KEY`"
    );
}

#[test]
fn haste_is_transient_and_a_spent_quota_is_not() {
    let failure = |status, code: Option<&str>| StatusFailure {
        status,
        code: code.map(str::to_owned),
    };
    let transient = [failure(408, None), failure(429, None), failure(503, None)];
    let terminal = [
        failure(400, None),
        failure(401, None),
        failure(429, Some("insufficient_quota")),
    ];
    assert!(transient.iter().all(StatusFailure::is_transient));
    assert!(!terminal.iter().any(StatusFailure::is_transient));
}

#[test]
fn an_error_inside_a_stream_is_judged_by_number_or_code() {
    let kind = |text: &str| {
        let api = ApiError::from_body(&serde_json::from_str(text).unwrap());
        origin().in_stream(api).kind
    };
    assert_eq!(
        kind(r#"{"error":{"code":502,"message":"upstream"}}"#),
        Unavailable
    );
    assert_eq!(
        kind(r#"{"error":{"code":"429","message":"slow"}}"#),
        RateLimited
    );
    assert_eq!(
        kind(r#"{"error":{"type":"rate_limit_exceeded"}}"#),
        RateLimited
    );
    assert_eq!(
        kind(r#"{"error":{"code":"invalid_api_key"}}"#),
        Unauthorized
    );
    assert_eq!(
        kind(r#"{"error":{"code":"context_length_exceeded"}}"#),
        InvalidRequest
    );
    assert_eq!(kind(r#"{"error":{"type":"server_error"}}"#), Unavailable);
    assert_eq!(kind(r#"{"error":"boom"}"#), Unavailable);
}
