//! What is said about arguments that a tool can't take.

use serde_json::json;
use skill_core::CallStatus::{Error, Success};
use tool_gateway::{Gateway, Limits, ToolOutput, function};

use crate::support::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema matters")]
struct Mail {
    to: String,
    copies: u8,
    priority: Option<Priority>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    High,
}

fn mail_gateway() -> Gateway {
    open_gateway(vec![function(
        "send_mail",
        "Sends mail.",
        |_: Mail| async { Ok(ToolOutput::text("sent")) },
    )])
}

#[tokio::test]
async fn arguments_that_are_no_json_object_are_an_error_that_says_where() {
    let gateway = mail_gateway();
    for (text, problem) in [
        (
            r#"{"to": "a", copies: 1}"#,
            "the arguments are not JSON: key must be a string at line 1 column 13; send one JSON object",
        ),
        (
            r#"{"to": "a", "cop"#,
            "the arguments are cut off: EOF while parsing a string at line 1 column 16; send the whole JSON object again, in smaller pieces if it is long",
        ),
        ("[1]", "the arguments must be a JSON object, got an array"),
        ("\"x\"", "the arguments must be a JSON object, got \"x\""),
        (
            r#"{"to":"a","copies":1} trailing"#,
            "the arguments are not JSON: trailing characters at line 1 column 23; send one JSON object",
        ),
    ] {
        let record = dispatch_one(&gateway, raw_call("c1", "send_mail", text)).await;
        assert_eq!(brief(&record), (Error, Some("invalid_arguments"), problem));
        assert_eq!(record.arguments_digest, None);
    }
}

#[tokio::test]
async fn one_error_names_every_problem_of_the_arguments() {
    let arguments = json!({"copies": 300, "priority": "urgent", "tu": "a"});
    let record = dispatch_one(&mail_gateway(), call("c1", "send_mail", arguments)).await;
    assert_eq!(
        (record.result.status, record.error_kind),
        (Error, Some("invalid_arguments"))
    );
    let mut lines: Vec<&str> = record.result.content.lines().collect();
    assert_eq!(
        lines.remove(0),
        "the arguments of `send_mail` are not valid:"
    );
    lines.sort_unstable();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[0].starts_with("- `to` is missing (expected string)"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("- at `/copies`: "), "{lines:?}");
    assert!(lines[2].starts_with("- at `/priority`: "), "{lines:?}");
    assert_eq!(lines[3], "- unknown field `tu`; did you mean `to`?");
}

#[tokio::test]
async fn arguments_beyond_the_bound_are_refused_unread() {
    let limits = Limits {
        arguments_bytes: 10,
        ..Limits::default()
    };
    let gateway = Gateway::builder()
        .tool(echo("t", vec![]))
        .limits(limits)
        .build()
        .unwrap();
    let record = dispatch_one(&gateway, call("c1", "t", json!({"long": "text"}))).await;
    assert_eq!(
        brief(&record),
        (
            Error,
            Some("invalid_arguments"),
            "the arguments have 15 bytes; at most 10 are taken"
        )
    );
}

#[tokio::test]
async fn a_call_without_argument_text_is_a_call_without_arguments() {
    let gateway = open_gateway(vec![echo("t", vec![])]);
    assert_eq!(
        brief(&dispatch_one(&gateway, raw_call("c1", "t", "")).await),
        (Success, None, "t")
    );
}
