//! Text that came from elsewhere, made safe for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns `text` without anything that a terminal obeys: only line breaks and tabs stay.
///
/// Control, bidirectional and invisible characters are shown as `\u{…}`, so that what is read is
/// what is there.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_unicode()),
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

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
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
    fn a_line_is_cut_at_its_columns() {
        assert_eq!(one_line("hello", 5), "hello");
        assert_eq!(one_line("hello world", 8), "hello w…");
        assert_eq!(one_line("周报生成", 5), "周报…");
        assert_eq!(one_line("a\n b", 9), "a b");
    }
}
