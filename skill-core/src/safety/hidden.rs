//! Letters that cannot be seen: tag characters, direction controls, runs of zero-width ones.

use super::{Finds, Found, Report, shown};
use crate::skill::findings::Findings;

/// A run of letters that cannot be seen.
struct Run<'a> {
    at: usize,
    text: &'a str,
    before: Option<char>,
    after: Option<char>,
}

pub(super) fn check(report: &mut Report<'_, '_>) {
    if report.text.is_ascii() {
        return;
    }
    let (mut hidden, mut stray) = (Finds::of("SK110"), Finds::of("SK116"));
    for run in runs(report.text) {
        match judge(&run) {
            Judgement::Fine => {}
            Judgement::Stray => stray.push(|| finding(report, &run, "an invisible letter")),
            Judgement::Hidden(what) => hidden.push(|| finding(report, &run, what)),
        }
    }
    report.add(hidden);
    report.add(stray);
}

/// Looks for letters that cannot be seen in a value that stands in `text` with escapes, where
/// [`check`] cannot find them.
pub(super) fn check_value(text: &str, value: &str, findings: &mut Findings) {
    if value.is_ascii() {
        return;
    }
    let escaped = runs(value).into_iter().find(|run| !text.contains(run.text));
    let Some(run) = escaped else { return };
    let (code, what) = match judge(&run) {
        Judgement::Fine => return,
        Judgement::Stray => ("SK116", "an invisible letter, written as an escape"),
        Judgement::Hidden(_) => ("SK110", "text that cannot be seen, written as an escape"),
    };
    findings
        .add(code, None, what)
        .text(&shown(value))
        .fix("remove what cannot be seen");
}

fn finding(report: &Report<'_, '_>, run: &Run<'_>, what: &str) -> Found {
    let decoded = decoded(run.text);
    let text = if decoded.is_empty() {
        shown(report.line(run.at))
    } else {
        decoded.clone()
    };
    Found {
        at: run.at,
        message: if decoded.is_empty() {
            what.to_owned()
        } else {
            format!("{what} that reads `{decoded}`")
        },
        text,
        fix: "remove what cannot be seen",
    }
}

/// Returns the runs of letters that cannot be seen.
fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut last = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if !leaves_no_mark(letter) {
            last = Some(letter);
            continue;
        }
        let mut end = at + letter.len_utf8();
        while let Some((_, next)) = letters.next_if(|(_, next)| leaves_no_mark(*next)) {
            end += next.len_utf8();
        }
        runs.push(Run {
            at,
            text: text.get(at..end).unwrap_or_default(),
            before: last,
            after: letters.peek().map(|(_, letter)| *letter),
        });
    }
    runs
}

enum Judgement {
    Fine,
    Stray,
    Hidden(&'static str),
}

fn judge(run: &Run<'_>) -> Judgement {
    let any = |test: fn(char) -> bool| run.text.chars().any(test);
    if is_flag(run) {
        return Judgement::Fine;
    }
    if any(is_tag) {
        return Judgement::Hidden("hidden text in tag characters");
    }
    if any(|letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        return Judgement::Hidden("a control that turns the direction of the text");
    }
    let mut letters = run.text.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(one), None, _) if fits(one, run) => Judgement::Fine,
        (Some(_), None, _) => Judgement::Stray,
        // An emoji's variation selector and the joiner to the next one.
        (Some(selector), Some('\u{200d}'), None) if is_selector(selector) && of_emoji(run) => {
            Judgement::Fine
        }
        _ if any(is_selector) => Judgement::Hidden("hidden text in variation selectors"),
        _ => Judgement::Hidden("a run of invisible letters"),
    }
}

/// Tells whether a letter that cannot be seen has a reason to stand where it does.
fn fits(letter: char, run: &Run<'_>) -> bool {
    let (before, after) = (run.before, run.after);
    match letter {
        _ if is_selector(letter) => before.is_some_and(|before| !before.is_ascii_alphabetic()),
        '\u{200d}' if of_emoji(run) => true,
        '\u{200c}' | '\u{200d}' => before.is_some_and(joins) || after.is_some_and(joins),
        '\u{200b}' | '\u{2060}' => before.is_some_and(breaks) || after.is_some_and(breaks),
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            before.is_some_and(is_right_to_left) || after.is_some_and(is_right_to_left)
        }
        '\u{180e}' => before.is_some_and(|before| matches!(before, '\u{1800}'..='\u{18af}')),
        '\u{ad}' => {
            before.is_some_and(char::is_alphabetic) && after.is_some_and(char::is_alphabetic)
        }
        '\u{115f}' | '\u{1160}' => {
            after.is_some_and(|after| matches!(after, '\u{1100}'..='\u{11ff}'))
        }
        _ => false,
    }
}

/// Tells whether a run makes a flag of the black flag before it.
fn is_flag(run: &Run<'_>) -> bool {
    let inner = run.text.strip_suffix('\u{e007f}');
    run.before == Some('\u{1f3f4}')
        && inner.is_some_and(|inner| {
            (2..=6).contains(&inner.chars().count())
            && inner.chars().all(
                |letter| matches!(letter, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'),
            )
        })
}

fn of_emoji(run: &Run<'_>) -> bool {
    run.before.is_some_and(is_emoji) && run.after.is_some_and(is_emoji)
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{3030}' | '\u{303d}')
}

/// Tells whether a script joins or parts its letters by joiners.
fn joins(letter: char) -> bool {
    matches!(letter,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{18af}' | '\u{1a20}'..='\u{1bff}' | '\u{a800}'..='\u{abff}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}

/// Tells whether a script writes words without blanks and marks their ends invisibly.
fn breaks(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1980}'..='\u{19df}' | '\u{f00}'..='\u{fff}')
}

fn is_right_to_left(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn is_tag(letter: char) -> bool {
    matches!(letter, '\u{e0000}'..='\u{e007f}')
}

fn is_selector(letter: char) -> bool {
    matches!(letter, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tells whether a letter leaves nothing to be seen, white space and controls aside.
pub(super) fn leaves_no_mark(letter: char) -> bool {
    letter >= '\u{ad}'
        && matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// How much of a hidden text is shown.
const LONGEST_DECODED: usize = 240;

/// Returns the text that tag characters or variation selectors spell.
fn decoded(run: &str) -> String {
    let tags: String = run
        .chars()
        .take(LONGEST_DECODED)
        .filter(|letter| matches!(letter, '\u{e0020}'..='\u{e007e}'))
        .filter_map(|letter| char::from_u32(u32::from(letter) - 0xe_0000))
        .collect();
    if !tags.is_empty() {
        return tags;
    }
    let letters = run.chars().take(LONGEST_DECODED);
    let bytes: Vec<u8> = letters.filter_map(selector_byte).collect();
    let text = String::from_utf8_lossy(&bytes);
    let readable = bytes.len() > 1 && text.chars().all(|letter| !letter.is_control());
    if readable {
        text.into_owned()
    } else {
        String::new()
    }
}

/// Returns the byte that a variation selector carries: one of 256, in two blocks.
fn selector_byte(letter: char) -> Option<u8> {
    let number = u32::from(letter);
    let byte = match letter {
        '\u{fe00}'..='\u{fe0f}' => number - 0xfe00,
        '\u{e0100}'..='\u{e01ef}' => number - 0xe_0100 + 16,
        _ => return None,
    };
    u8::try_from(byte).ok()
}
