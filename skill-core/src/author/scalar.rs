//! One text as a YAML value that no reader takes for anything else.

use std::fmt::Write as _;

/// Returns `text` in double quotes, with every character escaped that some reader stumbles over.
///
/// The result is YAML 1.1, YAML 1.2 and, but for the highest characters, JSON. It never holds
/// `---`, at which the standard's reference reader cuts a file. Controls, bidirectional and
/// zero-width characters and tags are escaped; variation selectors, without which many a symbol
/// looks different, are not.
///
/// ```
/// assert_eq!(skill_core::quoted_text("Use when: \"x\""), r#""Use when: \"x\"""#);
/// assert_eq!(skill_core::quoted_text("a---b"), r#""a--\u002db""#);
/// ```
pub fn quoted_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut hyphens = 0;
    for letter in text.chars() {
        hyphens = if letter == '-' { hyphens + 1 } else { 0 };
        match letter {
            '-' if hyphens == 3 => {
                hyphens = 0;
                quoted.push_str("\\u002d");
            }
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            letter if is_troublesome(letter) => escape(letter, &mut quoted),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns `text` as it is where every reader takes that for the same text, else quoted.
pub(super) fn plain_or_quoted(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted_text(text)
    }
}

/// Words that some version of YAML takes for something else than text.
const WORDS: &[&str] = &[
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf",
];

fn is_plain(text: &str) -> bool {
    let letters =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(letters)
        && !text.contains("---")
        && !WORDS.contains(&text)
}

fn escape(letter: char, into: &mut String) {
    let number = u32::from(letter);
    let width = if number > 0xffff { 8 } else { 4 };
    let mark = if number > 0xffff { 'U' } else { 'u' };
    // Writing to a text does not fail.
    let _ = write!(into, "\\{mark}{number:0width$x}");
}

/// Tells whether `letter` is a control, directs what stands beside it, or is no character at all.
fn is_troublesome(letter: char) -> bool {
    let number = u32::from(letter);
    letter.is_control()
        || number & 0xfffe == 0xfffe
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
