//! Secrets that were left in a text. What is found is never repeated whole.

use super::{Finds, Found, Report};

/// A kind of secret: how it begins, how long the rest is at least, and what it is.
const KINDS: &[(&str, usize, &str)] = &[
    ("AKIA", 16, "an access key of AWS"),
    ("ASIA", 16, "an access key of AWS"),
    ("ghp_", 36, "a token of GitHub"),
    ("gho_", 36, "a token of GitHub"),
    ("ghu_", 36, "a token of GitHub"),
    ("ghs_", 36, "a token of GitHub"),
    ("ghr_", 36, "a token of GitHub"),
    ("github_pat_", 50, "a token of GitHub"),
    ("glpat-", 20, "a token of GitLab"),
    ("sk-ant-", 40, "a key of a model provider"),
    ("sk-proj-", 40, "a key of a model provider"),
    ("sk-or-v1-", 40, "a key of a model provider"),
    ("sk-", 40, "a key of a model provider"),
    ("AIza", 35, "a key of Google"),
    ("xoxb-", 24, "a token of Slack"),
    ("xoxp-", 24, "a token of Slack"),
    ("xoxa-", 24, "a token of Slack"),
    ("npm_", 36, "a token of npm"),
    ("hf_", 34, "a token of Hugging Face"),
    ("sk_live_", 24, "a key of Stripe"),
    ("rk_live_", 24, "a key of Stripe"),
];
/// No secret of these kinds is shorter.
const SHORTEST: usize = 20;
/// How many different letters what comes of chance has at least.
const FEWEST_LETTERS: usize = 10;

pub(super) fn check(report: &mut Report<'_, '_>) {
    let mut found = Finds::of("SK114");
    let tokens = long_tokens(report.text);
    // The lines of a key are long; without a long one there is none.
    let may_hold_key = !tokens.is_empty();
    for (at, token) in tokens {
        if let Some(what) = kind(token) {
            let start = token.get(..6).unwrap_or_default();
            found.push(|| Found {
                at,
                message: format!("{what} stands in the text"),
                text: format!("{start}… ({} characters)", token.len()),
                fix: "take it out, and make it invalid where it came from",
            });
        }
    }
    let keys = may_hold_key.then(|| memchr::memmem::find_iter(report.bytes(), "PRIVATE KEY-----"));
    for at in keys.into_iter().flatten() {
        let line = report.line(at);
        if line.contains("-----BEGIN") && holds_key(report.text.get(at..).unwrap_or_default()) {
            found.push(|| Found {
                at,
                message: "a private key stands in the text".to_owned(),
                text: line.to_owned(),
                fix: "take it out, and make it invalid where it came from",
            });
        }
    }
    report.add(found);
}

/// Tells whether lines of a key follow, and not dots that stand for them.
fn holds_key(text: &str) -> bool {
    let inner = text.lines().nth(1).unwrap_or_default().trim();
    inner.len() >= 40
        && inner
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// Returns the runs of at least [`SHORTEST`] letters that tokens are made of, and where they begin.
///
/// It looks at every [`SHORTEST`]th letter and only where that fits at its neighbours.
fn long_tokens(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(window) = bytes.get(start..start + SHORTEST) {
        if let Some(gap) = window.iter().rposition(|byte| !is_part(*byte)) {
            start += gap + 1;
            continue;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_part(*byte));
        let end = start + length.unwrap_or(rest.len());
        tokens.extend(text.get(start..end).map(|token| (start, token)));
        start = end + 1;
    }
    tokens
}

fn is_part(byte: u8) -> bool {
    PARTS.get(usize::from(byte)) == Some(&true)
}

/// Which bytes tokens are made of: a look at a table costs less than several comparisons.
static PARTS: [bool; 256] = parts();

#[expect(
    clippy::indexing_slicing,
    reason = "the index is below the length of the table"
)]
const fn parts() -> [bool; 256] {
    let mut parts = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        parts[byte] = letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
        byte += 1;
    }
    parts
}

fn kind(token: &str) -> Option<&'static str> {
    let (prefix, least, what) = KINDS
        .iter()
        .find(|(prefix, ..)| token.starts_with(prefix))?;
    let rest = token.get(prefix.len()..)?;
    let lower = rest.to_ascii_lowercase();
    let placeholder = [
        "example",
        "xxxx",
        "your",
        "0000",
        "1234",
        "abcd",
        "placeholder",
        "....",
    ];
    let mut letters: Vec<u8> = rest.bytes().collect();
    letters.sort_unstable();
    letters.dedup();
    let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
    let random = rest.len() >= *least && letters.len() >= FEWEST_LETTERS && has_digit;
    (random && !placeholder.iter().any(|word| lower.contains(word))).then_some(*what)
}
