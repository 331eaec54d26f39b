//! Text that came from elsewhere, made safe for a terminal.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tool_gateway::is_invisible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns `text` without anything that a terminal obeys: only line breaks and tabs stay.
///
/// Control, bidirectional and invisible characters are shown as `\u{…}`, so that what is read is
/// what is there. The one that makes a picture of the character before it stays there.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\u{fe0f}' if is_picture(before) => shown.push(character),
            hidden if is_invisible(hidden) => shown.extend(hidden.escape_unicode()),
            other => shown.push(other),
        }
        before = character;
    }
    shown
}

/// Returns `text`, a name or a path, safe for a terminal and on one line: a line break in it is
/// shown as `\n`, so that no name passes for a line of ours.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '\n' | '\t' => shown.extend(character.escape_default()),
            other => shown.push(other),
        }
    }
    shown
}

/// Returns a number of things in words: `1 file`, `2 files`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns `text` on one line, cut to `width` columns.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let flat = visible(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if flat.width() <= width {
        return flat;
    }
    let mut used = 0;
    let mut line: String = flat
        .chars()
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used < width
        })
        .collect();
    line.push('…');
    line
}

/// Tells whether a character is drawn as a picture when U+FE0F follows it, as in `⚠️`.
fn is_picture(character: char) -> bool {
    matches!(character, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Shows a moment, in milliseconds since the epoch, as the user's clock does.
pub(crate) fn local_time(ms: u64) -> String {
    let stamp = i64::try_from(ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok());
    stamp.map_or_else(
        || "?".to_owned(),
        |stamp| {
            let local = stamp.to_zoned_datetime(TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M:%S").to_string()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_instead() {
        assert_eq!(
            visible("a\u{1b}[2Kb\rc\u{202e}d"),
            "a\\u{1b}[2Kb\\u{d}c\\u{202e}d"
        );
        assert_eq!(visible("a\n\tb 周报🙂"), "a\n\tb 周报🙂");
    }

    #[test]
    fn nothing_that_cannot_be_seen_stays_unseen() {
        assert_eq!(
            visible("a\u{ad}b\u{61c}c\u{3164}d\u{fe0f}e\u{e0100}f\u{2800}"),
            "a\\u{ad}b\\u{61c}c\\u{3164}d\\u{fe0f}e\\u{e0100}f\\u{2800}"
        );
        assert_eq!(visible("⚠\u{fe0f} ❤\u{fe0f}"), "⚠\u{fe0f} ❤\u{fe0f}");
        assert_eq!(visible("⚠\u{fe0f}\u{fe0f}"), "⚠\u{fe0f}\\u{fe0f}");
        assert_eq!(
            visible("Ça va\u{a0}? 1\u{202f}000"),
            "Ça va\u{a0}? 1\u{202f}000"
        );
    }

    #[test]
    fn a_name_never_takes_more_than_its_line() {
        assert_eq!(on_one_line("a\nb\tc\r"), "a\\nb\\tc\\u{d}");
        assert_eq!(on_one_line("周报"), "周报");
    }

    #[test]
    fn a_line_is_cut_at_its_columns() {
        assert_eq!(one_line("hello", 5), "hello");
        assert_eq!(one_line("hello world", 8), "hello w…");
        assert_eq!(one_line("周报生成", 5), "周报…");
        assert_eq!(one_line("a\n b", 9), "a b");
    }
}
