//! Counts: exact where the vocabulary is known, never too low where it is not, and no text too odd.

#![cfg(feature = "tiktoken")]

use prompt_compiler::{ByteBound, Calibration, TokenCounter, VocabularyCounter};
use skill_core::ModelId;

fn counter(model: &str) -> VocabularyCounter {
    VocabularyCounter::for_model(&ModelId::new(model))
}

/// Texts that tokenisers have fallen over, each of `size` bytes.
fn hostile(size: usize) -> Vec<String> {
    let pieces = [
        "a", " ", "🙂", "\n", "\u{200d}", "e\u{301}", "周", "ab", "\u{0}", "12345",
    ];
    pieces
        .iter()
        .map(|piece| piece.repeat(size / piece.len()))
        .collect()
}

#[test]
fn a_megabyte_of_one_thing_is_counted_and_stays_below_its_bound() {
    let check = |model: &str, text: &String| {
        let tokens = counter(model).count(text);
        assert!(tokens > 0 && tokens <= ByteBound.count(text), "{model}");
    };
    for text in hostile(1 << 15) {
        check("gpt-4o", &text);
        check("gpt-4", &text);
        check("claude-sonnet-5", &text);
    }
    // What grew with the square of the length would not come back from here.
    for text in hostile(1 << 20).iter().take(3) {
        check("gpt-4o", text);
    }
}

#[test]
fn counts_say_what_they_are_made_with() {
    assert_eq!(counter("openai/gpt-4o").basis(), "o200k_base");
    assert_eq!(counter("gpt-4").basis(), "cl100k_base");
    assert_eq!(
        counter("claude-sonnet-4-5").basis(),
        "o200k_base, scaled for Claude up to 4.6"
    );
    let calibrated = counter("llama3.2").calibrated(Calibration::default().observe(100, 120));
    assert_eq!(
        calibrated.basis(),
        "o200k_base, scaled for an unknown vocabulary and by 1200/1000"
    );
    assert!(!calibrated.is_exact() && counter("gpt-5").is_exact());
}

#[test]
fn an_estimate_is_above_the_count_it_is_made_from_by_the_factor_of_its_family() {
    let text = "Writes the weekly review from the notes of a small team.";
    let exact = counter("gpt-4o").count(text);
    let check = |model: &str, factor: u64| {
        assert_eq!(
            counter(model).count(text),
            (exact * factor).div_ceil(1_000),
            "{model}"
        );
    };
    check("claude-sonnet-4-5", 1_350);
    check("claude-opus-5", 1_700);
    check("gemini-2.5-pro", 1_300);
    check("qwen3", 1_250);
}

#[test]
fn what_a_provider_counted_raises_an_estimate_and_no_exact_count() {
    let learned = Calibration::default().observe(1_000, 1_500);
    let text = "some words of a task";
    let plain = counter("llama3.2").count(text);
    let raised = counter("llama3.2").calibrated(learned).count(text);
    assert_eq!(raised, (plain * 3).div_ceil(2));
    let exact = counter("gpt-4o").count(text);
    assert_eq!(counter("gpt-4o").calibrated(learned).count(text), exact);
}
