//! Answers as they come over the wire: recorded ones whole, cut and damaged; and made-up ones.

use std::collections::VecDeque;

use proptest::prelude::*;
use skill_core::{CompletionEvent, StopReason, Usage};

use super::{AnswerReader, EVENT_BYTES, Fault, Misfit};
use crate::http::ApiError;

const RECORDED: &[(&str, &str)] = &[
    (
        "openai-text",
        include_str!("../../tests/wire/openai-text.sse"),
    ),
    (
        "openai-calls",
        include_str!("../../tests/wire/openai-calls.sse"),
    ),
    (
        "deepseek-reasoning",
        include_str!("../../tests/wire/deepseek-reasoning.sse"),
    ),
    (
        "mistral-thinking",
        include_str!("../../tests/wire/mistral-thinking.sse"),
    ),
    (
        "gemini-compatible-calls",
        include_str!("../../tests/wire/gemini-compatible-calls.sse"),
    ),
    ("whole", include_str!("../../tests/wire/whole.json")),
];

fn read(chunks: &[&[u8]]) -> Result<Vec<CompletionEvent>, Fault> {
    let mut reader = AnswerReader::new();
    let mut events = VecDeque::new();
    for chunk in chunks {
        reader.push(chunk, &mut events)?;
    }
    reader.finish(&mut events)?;
    Ok(events.into())
}

fn read_text(text: &str) -> Result<Vec<CompletionEvent>, Fault> {
    read(&[text.as_bytes()])
}

/// Wraps each JSON text as an event.
fn stream(data: &[&str]) -> String {
    data.iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

fn text(text: &str) -> CompletionEvent {
    CompletionEvent::TextDelta(text.into())
}

fn finished(stop: StopReason) -> CompletionEvent {
    CompletionEvent::Finished {
        stop,
        usage: Usage::default(),
    }
}

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;

fn stop(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

#[test]
fn recorded_answers_become_events() {
    for (name, recorded) in RECORDED {
        let events = read_text(recorded).unwrap();
        let lines: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
        insta::assert_snapshot!(*name, lines.join("\n"));
    }
}

#[test]
fn f10_recorded_answers_cut_at_any_byte_give_the_same_events() {
    for (name, recorded) in RECORDED {
        let whole = read_text(recorded).unwrap();
        for cut in 0..recorded.len() {
            let (left, right) = recorded.as_bytes().split_at(cut);
            assert_eq!(read(&[left, right]).unwrap(), whole, "{name} at {cut}");
        }
    }
}

#[test]
fn f01_an_answer_cut_before_its_terminal_event_never_finishes() {
    for (name, recorded) in RECORDED.iter().filter(|(name, _)| *name != "whole") {
        let stop = recorded.find(r#""finish_reason":""#).unwrap();
        let terminal = stop + recorded[stop..].find("}\n").unwrap();
        for cut in 0..terminal {
            let events = read(&[&recorded.as_bytes()[..cut]]).unwrap_or_default();
            let is_finished = events.iter().any(is_terminal);
            assert!(!is_finished, "{name} at {cut}");
        }
    }
}

fn is_terminal(event: &CompletionEvent) -> bool {
    matches!(event, CompletionEvent::Finished { .. })
}

#[test]
fn an_unstreamed_answer_cut_anywhere_is_no_answer() {
    let whole = RECORDED
        .iter()
        .find(|(name, _)| *name == "whole")
        .unwrap()
        .1
        .trim_end();
    for cut in 1..whole.len() {
        assert!(read(&[&whole.as_bytes()[..cut]]).is_err(), "at {cut}");
    }
}

#[test]
fn a_finish_reason_is_terminal_without_the_last_word() {
    let events = read_text(&stream(&[HI, &stop("stop")])).unwrap();
    assert_eq!(events, [text("Hi"), finished(StopReason::EndTurn)]);
}

#[test]
fn the_last_word_is_terminal_without_a_finish_reason() {
    let events = read_text(&stream(&[HI, "[DONE]"])).unwrap();
    assert_eq!(events, [text("Hi"), finished(StopReason::EndTurn)]);
}

#[test]
fn what_follows_the_last_word_is_ignored() {
    let events = read_text(&stream(&[HI, "[DONE]", HI, "[DONE]"])).unwrap();
    assert_eq!(events, [text("Hi"), finished(StopReason::EndTurn)]);
}

#[test]
fn f11_line_ends_spaces_and_a_missing_blank_line_do_not_matter() {
    let expected = read_text(&stream(&[HI, &stop("stop"), "[DONE]"])).unwrap();
    let variants = [
        format!("data:{HI}\r\n\r\ndata:{}\r\n\r\ndata:[DONE]", stop("stop")),
        format!(
            "\u{feff}: ping\rdata: {HI}\r\rdata: {}\r\rdata: [DONE]\r",
            stop("stop")
        ),
        format!(
            "\n\nevent: message\nid: 1\ndata: {HI}\n\ndata: {}",
            stop("stop")
        ),
        format!(
            "data: {}\n\ndata: {}\n\n",
            HI.replace(":[{", ":[\ndata: {"),
            stop("stop")
        ),
    ];
    for variant in variants {
        assert_eq!(read_text(&variant).unwrap(), expected, "{variant:?}");
    }
}

#[test]
fn f04_finish_reasons_are_named_and_unknown_ones_are_never_done() {
    for (reason, expected) in [
        ("stop", StopReason::EndTurn),
        ("tool_calls", StopReason::ToolCalls),
        ("function_call", StopReason::ToolCalls),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refused),
        ("pause", StopReason::Other("pause".into())),
    ] {
        let events = read_text(&stream(&[HI, &stop(reason)])).unwrap();
        assert_eq!(events, [text("Hi"), finished(expected)], "{reason}");
    }
}

#[test]
fn f05_an_answer_without_content_is_an_error_or_has_its_odd_reason() {
    let malformed = read_text(&stream(&[&stop("MALFORMED_FUNCTION_CALL"), "[DONE]"])).unwrap();
    let reason = StopReason::Other("MALFORMED_FUNCTION_CALL".into());
    assert_eq!(malformed, [finished(reason)]);
    let empty = read_text(&stream(&[r#"{"choices":[]}"#, "[DONE]"]));
    assert_eq!(empty, Err(Fault::Protocol(Misfit::Empty)));
}

#[test]
fn f03_an_answer_cut_by_its_limit_says_so_even_inside_a_call() {
    let piece = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}]}}]}"#;
    let events = read_text(&stream(&[piece, &stop("length"), "[DONE]"])).unwrap();
    assert_eq!(events.last(), Some(&finished(StopReason::MaxTokens)));
}

#[test]
fn a_refusal_is_text_and_its_own_reason() {
    let refusal = r#"{"choices":[{"delta":{"refusal":"No."}}]}"#;
    let events = read_text(&stream(&[refusal, &stop("stop"), "[DONE]"])).unwrap();
    assert_eq!(events, [text("No."), finished(StopReason::Refused)]);
}

#[test]
fn calls_under_an_ordinary_finish_reason_are_calls() {
    let piece = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    for end in [stop("stop"), "[DONE]".into()] {
        let events = read_text(&stream(&[piece, &end])).unwrap();
        assert_eq!(events.last(), Some(&finished(StopReason::ToolCalls)));
    }
}

#[test]
fn other_choices_than_the_first_are_ignored() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]}"#;
    let events = read_text(&stream(&[HI, second])).unwrap();
    assert_eq!(events, [text("Hi")]);
}

#[test]
fn usage_is_found_where_servers_put_it() {
    let usage = |chunk: &str| {
        let events = read_text(&stream(&[HI, &stop("stop"), chunk, "[DONE]"])).unwrap();
        match events.last() {
            Some(CompletionEvent::Finished { usage, .. }) => *usage,
            other => panic!("{other:?}"),
        }
    };
    let expected = Usage {
        input: 9,
        output: 4,
        cached: 0,
    };
    let counts = r#"{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":null}"#;
    assert_eq!(
        usage(&format!(r#"{{"choices":[],"usage":{counts}}}"#)),
        expected
    );
    assert_eq!(usage(&format!(r#"{{"usage":{counts}}}"#)), expected);
    assert_eq!(
        usage(&format!(
            r#"{{"choices":null,"x_groq":{{"usage":{counts}}}}}"#
        )),
        expected
    );
    assert_eq!(
        usage(r#"{"choices":[],"usage":{"prompt_tokens":-1}}"#),
        Usage::default()
    );
    assert_eq!(usage(r#"{"choices":[],"usage":"many"}"#), Usage::default());
}

#[test]
fn errors_inside_a_stream_are_told_as_such() {
    let error = |message: &str, code: Option<&str>, status| {
        Err(Fault::Api(ApiError {
            message: Some(message.into()),
            code: code.map(str::to_owned),
            status,
        }))
    };
    let cases = [
        (
            r#"data: {"error":{"message":"boom","code":502}}"#,
            error("boom", None, Some(502)),
        ),
        (r#"data: {"error":"boom"}"#, error("boom", None, None)),
        (
            r#"data: {"error":{"message":"boom","type":"server_error"},"choices":[]}"#,
            error("boom", Some("server_error"), None),
        ),
        (
            "event: error\ndata: {\"message\":\"boom\"}",
            error("boom", None, None),
        ),
        (
            r#"data: {"object":"error","message":"boom","code":400}"#,
            error("boom", None, Some(400)),
        ),
        (r#"{"error":{"message":"boom"}}"#, error("boom", None, None)),
        (
            r#"[{"error":{"message":"boom","code":429}}]"#,
            error("boom", None, Some(429)),
        ),
        (
            r#"data: {"choices":7,"error":{"message":"boom"}}"#,
            error("boom", None, None),
        ),
    ];
    for (answer, expected) in cases {
        assert_eq!(read_text(&format!("{answer}\n\n")), expected, "{answer}");
    }
}

#[test]
fn a_null_error_is_none() {
    let chunk = HI.replace("{\"choices\"", "{\"error\":null,\"choices\"");
    assert_eq!(read_text(&stream(&[&chunk])).unwrap(), [text("Hi")]);
}

#[test]
fn f25_what_is_no_answer_is_named() {
    for (answer, misfit) in [
        ("<!DOCTYPE html><html>", Misfit::Html),
        ("\n\n  <html>", Misfit::Html),
        ("", Misfit::Empty),
        (" \r\n", Misfit::Empty),
        ("{\"models\":[]}", Misfit::NoChoice),
        ("{\"choices\":[]}", Misfit::NoChoice),
        ("{\"choices\":", Misfit::NoJson),
        ("[]", Misfit::NoJson),
        ("data: not json\n\n", Misfit::NoJson),
        ("data: {\"choices\":7}\n\n", Misfit::NoJson),
    ] {
        assert_eq!(
            read_text(answer),
            Err(Fault::Protocol(misfit)),
            "{answer:?}"
        );
    }
}

#[test]
fn an_answer_with_more_calls_than_any_is_refused() {
    let pieces: Vec<String> = (0..2_000)
        .map(|index| format!("{{\"index\":{index}}}"))
        .collect();
    let delta = format!(
        "{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{}]}}}}]}}",
        pieces.join(",")
    );
    assert_eq!(
        read_text(&stream(&[&delta])),
        Err(Fault::Protocol(Misfit::TooManyCalls))
    );
}

#[test]
fn plain_text_is_no_answer_either() {
    let events = read_text("upstream connect error or disconnect\n").unwrap();
    assert_eq!(events, []);
}

#[test]
fn too_long_an_event_is_an_error() {
    for head in ["data: ", "{\"x\":\""] {
        let mut reader = AnswerReader::new();
        let mut events = VecDeque::new();
        reader.push(head.as_bytes(), &mut events).unwrap();
        let chunk = vec![b'x'; EVENT_BYTES];
        let outcome = reader.push(&chunk, &mut events);
        assert_eq!(outcome, Err(Fault::Protocol(Misfit::TooLong)));
    }
}

/// Ways to damage a recorded stream.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Delete(prop::sample::Index, usize),
    Duplicate(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (index(), 1..40_usize).prop_map(|(at, length)| Damage::Delete(at, length)),
        (index(), 1..200_usize).prop_map(|(at, length)| Damage::Duplicate(at, length)),
        index().prop_map(Damage::Truncate),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Flip(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Delete(at, length) => {
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + length);
                bytes.drain(at..end);
            }
            Damage::Duplicate(at, length) => {
                let at = at.index(bytes.len());
                let piece = bytes[at..bytes.len().min(at + length)].to_vec();
                bytes.splice(at..at, piece);
            }
            Damage::Truncate(at) => {
                let at = at.index(bytes.len());
                bytes.truncate(at);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// However a stream is damaged: no panic, chunks do not matter, and what finishes does so once
    /// and last, with an id and a name for each call.
    #[test]
    fn damaged_answers_are_read_soundly(
        recorded in prop::sample::select(RECORDED),
        damages in prop::collection::vec(damage(), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = damaged(recorded.1.as_bytes().to_vec(), &damages);
        let whole = read(&[&bytes]);
        let (left, right) = bytes.split_at(cut.index(bytes.len() + 1));
        let halves = read(&[left, right]);
        match (&whole, &halves) {
            (Ok(whole), Ok(halves)) => prop_assert_eq!(whole, halves),
            (Err(_), Err(_)) => {}
            other => prop_assert!(false, "{:?}", other),
        }
        let events = whole.unwrap_or_default();
        if let Some(at) = events.iter().position(is_terminal) {
            prop_assert_eq!(at + 1, events.len());
            let mut ids = std::collections::BTreeMap::new();
            for event in &events {
                if let CompletionEvent::ToolCallDelta { index, id, .. } = event {
                    let known: &mut Vec<String> = ids.entry(*index).or_default();
                    known.extend(id.clone());
                }
            }
            let ids: Vec<_> = ids.into_values().collect();
            prop_assert!(ids.iter().all(|ids| ids.len() == 1), "{:?}", ids);
            let distinct: std::collections::BTreeSet<_> = ids.iter().flatten().collect();
            prop_assert_eq!(distinct.len(), ids.len());
        }
    }
}
