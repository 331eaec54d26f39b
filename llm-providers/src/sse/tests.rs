//! Tests of the decoder, against the standard's examples and against a whole-text reading of it.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{EventTooLong, SseDecoder, SseEvent};

const CAP: usize = 1 << 20;

fn event(data: &str) -> SseEvent {
    named("", data)
}

fn named(name: &str, data: &str) -> SseEvent {
    SseEvent {
        name: name.into(),
        data: data.into(),
    }
}

fn decode(chunks: &[&[u8]]) -> Vec<SseEvent> {
    let mut decoder = SseDecoder::new(CAP);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut events).unwrap();
    }
    events.extend(decoder.finish());
    events
}

/// The standard read naively: the whole text at once, split into lines, line by line.
fn reference(bytes: &[u8]) -> Vec<SseEvent> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let (mut events, mut name, mut data) = (Vec::new(), String::new(), Vec::new());
    for line in text.split('\n').chain([""]) {
        if line.is_empty() {
            if !data.is_empty() {
                events.push(named(&name, &data.join("\n")));
            }
            name.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data.push(value.to_owned()),
            "event" => value.clone_into(&mut name),
            _ => {}
        }
    }
    events
}

#[test]
fn one_event_per_blank_line() {
    assert_eq!(
        decode(&[b"data: a\n\ndata: b\n\n"]),
        [event("a"), event("b")]
    );
}

#[test]
fn data_lines_are_joined_with_line_feeds() {
    assert_eq!(
        decode(&[b"data: first\ndata: second\ndata\n\n"]),
        [event("first\nsecond\n")]
    );
}

#[test]
fn one_space_after_the_colon_is_optional_and_only_one_is_dropped() {
    assert_eq!(
        decode(&[b"data:a\n\ndata: a\n\ndata:  a\n\n"]),
        [event("a"), event("a"), event(" a")]
    );
}

#[test]
fn carriage_returns_end_lines_alone_and_in_pairs() {
    assert_eq!(
        decode(&[b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n"]),
        [event("a"), event("b"), event("c")]
    );
}

#[test]
fn a_pair_split_over_chunks_is_one_line_end() {
    assert_eq!(
        decode(&[b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]),
        [event("a\nb")]
    );
}

#[test]
fn an_empty_chunk_changes_nothing() {
    assert_eq!(
        decode(&[b"data: a\r", b"", b"\ndata: b\n\n"]),
        [event("a\nb")]
    );
}

#[test]
fn comments_and_unknown_fields_are_skipped() {
    assert_eq!(
        decode(&[b": ping\n\n:\n\nid: 7\nretry: soon\nfoo: bar\ndata: a\n\n"]),
        [event("a")]
    );
}

#[test]
fn a_byte_order_mark_is_dropped_once() {
    assert_eq!(
        decode(&[b"\xef", b"\xbb", b"\xbfdata: \xef\xbb\xbfa\n\n"]),
        [event("\u{feff}a")]
    );
}

#[test]
fn the_name_belongs_to_its_event_only() {
    assert_eq!(
        decode(&[b"event: error\ndata: a\n\nevent: lost\n\ndata: b\n\n"]),
        [named("error", "a"), event("b")]
    );
}

#[test]
fn the_last_blank_line_and_line_end_may_be_missing() {
    assert_eq!(decode(&[b"data: a\n"]), [event("a")]);
    assert_eq!(decode(&[b"data: a"]), [event("a")]);
    assert_eq!(decode(&[b"data: a\n\n"]), [event("a")]);
}

#[test]
fn characters_cut_by_a_chunk_stay_whole() {
    let text = "data: 技能 🙂\n\n".as_bytes();
    for cut in 0..text.len() {
        let (left, right) = text.split_at(cut);
        assert_eq!(decode(&[left, right]), [event("技能 🙂")], "cut at {cut}");
    }
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    assert_eq!(
        decode(&[b"data: a\xff\xfeb\n\n"]),
        [event("a\u{fffd}\u{fffd}b")]
    );
}

#[test]
fn an_event_over_the_cap_is_an_error_after_the_events_before_it() {
    let mut decoder = SseDecoder::new(16);
    let mut events = Vec::new();
    let outcome = decoder.push(b"data: a\n\ndata: 0123456789abcdef", &mut events);
    assert_eq!(
        (outcome, events),
        (Err(EventTooLong { cap: 16 }), vec![event("a")])
    );
}

#[test]
fn many_short_lines_of_one_event_count_together() {
    let mut decoder = SseDecoder::new(64);
    let outcome = (0..100).try_for_each(|_| decoder.push(b"data: 0123\n", &mut Vec::new()));
    assert_eq!(outcome, Err(EventTooLong { cap: 64 }));
}

#[test]
fn comments_do_not_fill_the_cap() {
    let mut decoder = SseDecoder::new(16);
    let outcome = (0..1000).try_for_each(|_| decoder.push(b": ping\n\n", &mut Vec::new()));
    assert_eq!(outcome, Ok(()));
}

#[test]
fn a_long_event_in_small_chunks_takes_linear_time() {
    let mut decoder = SseDecoder::new(16 << 20);
    let mut events = Vec::new();
    let begin = Instant::now();
    decoder.push(b"data: ", &mut events).unwrap();
    for _ in 0..(4 << 20) / 64 {
        decoder.push(&[b'x'; 64], &mut events).unwrap();
    }
    decoder.push(b"\n\n", &mut events).unwrap();
    assert_eq!(events.first().map(|event| event.data.len()), Some(4 << 20));
    // Unoptimised this takes a fraction of a second; a quadratic reader needs minutes.
    assert!(begin.elapsed() < Duration::from_secs(20));
}

fn stream_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data:".to_vec()),
        Just(b"data: ".to_vec()),
        Just(b"event: x".to_vec()),
        Just(b":c".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        Just("é技🙂".as_bytes().to_vec()),
        Just(vec![0xff]),
        "[ -~]{0,6}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_anywhere_gives_the_same_events(
        text in stream_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let mut begin = 0;
        let mut chunks = Vec::new();
        for end in cuts {
            chunks.push(&text[begin..end]);
            begin = end;
        }
        prop_assert_eq!(decode(&chunks), decode(&[&text]));
    }

    #[test]
    fn events_are_those_of_the_standard_read_as_a_whole(text in stream_text()) {
        prop_assert_eq!(decode(&[&text]), reference(&text));
    }
}
