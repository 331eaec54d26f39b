//! Text that a person decides on, with everything invisible made visible.

use std::fmt::Write as _;

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

/// Tells whether a terminal acts on `c`, or nothing is seen of it: control and format characters,
/// bidirectional and zero-width ones, tags, variation selectors, fillers and blanks.
///
/// It is the one list of them: what shows text from elsewhere asks here, so that no two places
/// take different characters for harmless.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            // Default-ignorable and format characters, fillers and blanks.
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x8E2 | 0x890..=0x891
            | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
            | 0xFFA0 | 0xFFF0..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
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
