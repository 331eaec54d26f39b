//! Frontmatters that are nothing but lines `key: value`, as most are, read without a parser.
//!
//! It takes only what every reader of YAML takes alike and leaves all else to the parser.

use std::borrow::Cow;

use crate::skill::document::{Document, Field};
use crate::skill::yaml::{Kind, Mark, Node};

/// Returns the keys of `yaml`, if each of its lines is a key with a plain or a simply quoted value.
pub(crate) fn document(yaml: &str, first_line: u32) -> Option<Document<'_>> {
    let mut fields = Vec::with_capacity(6);
    for (line, number) in yaml.lines().zip(first_line..) {
        fields.push(field(line, number, number.checked_sub(first_line)? + 1)?);
    }
    (!fields.is_empty()).then_some(Document {
        fields,
        lost: Vec::new(),
    })
}

fn field(line: &str, number: u32, line_of_yaml: u32) -> Option<Field<'_>> {
    let bytes = line.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = bytes.iter().position(|byte| !is_key(byte))?;
    let (key, rest) = line.split_at_checked(length)?;
    let rest = rest.strip_prefix(": ")?;
    let raw = rest.trim_matches(' ');
    let (text, plain) = value(raw)?;
    if !key.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let column = u32::try_from(length + 2 + blanks + 1).ok()?;
    let value = Node {
        kind: Kind::Scalar {
            text: Cow::Borrowed(text),
            plain,
        },
        line: line_of_yaml,
        column,
        end_line: line_of_yaml,
        end_column: column,
        mark: Mark::default(),
    };
    Some(Field {
        key: Cow::Borrowed(key),
        value,
        line: number,
        column,
        raw,
        damaged: false,
    })
}

/// Returns the text of a value and whether it is plain; nothing for all that needs a parser.
fn value(raw: &str) -> Option<(&str, bool)> {
    let bytes = raw.as_bytes();
    let quoted = |quote: u8| {
        let inner = raw.get(1..raw.len() - 1)?;
        let simple = bytes.len() > 1 && bytes.last() == Some(&quote);
        let odd = |byte: &u8| *byte == quote || *byte == b'\\' || *byte < b' ' || *byte == 0x7f;
        (simple && !inner.as_bytes().iter().any(odd) && is_common(inner)).then_some((inner, false))
    };
    match bytes.first()? {
        b'"' if bytes.len() > 1 => quoted(b'"'),
        b'\'' if bytes.len() > 1 => quoted(b'\''),
        first if first.is_ascii_alphanumeric() || *first >= 0x80 => {
            (is_plain(bytes) && is_common(raw)).then_some((raw, true))
        }
        _ => None,
    }
}

/// Tells whether no byte ends a plain value or makes it something else.
fn is_plain(bytes: &[u8]) -> bool {
    let odd = |pair: &[u8]| match pair {
        [b':', next] => matches!(next, b' '),
        [b' ', next] => matches!(next, b'#'),
        _ => false,
    };
    !bytes.windows(2).any(odd)
        && bytes.last() != Some(&b':')
        && !bytes.iter().any(|byte| *byte < b' ' || *byte == 0x7f)
}

/// Tells whether no letter is one that readers take for a line break, a blank or nothing.
fn is_common(text: &str) -> bool {
    text.is_ascii()
        || text.chars().all(|letter| {
            letter.is_ascii()
                || !(letter.is_control()
                    || letter.is_whitespace()
                    || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::document;
    use crate::skill::findings::Findings;

    /// Returns what is the same whoever reads it.
    fn shown(document: &Document<'_>) -> Vec<String> {
        let each = document.fields.iter();
        each.map(|field| {
            let Field {
                key,
                value,
                line,
                column,
                raw,
                damaged,
            } = field;
            let (kind, value_line, value_column) = (&value.kind, value.line, value.column);
            format!("{key} {kind:?} {value_line} {value_column} {line} {column} {raw} {damaged}")
        })
        .collect()
    }

    fn parsed(yaml: &str) -> Option<Document<'_>> {
        let mut findings = Findings::default();
        let root = document::whole(yaml)?;
        Some(document::from_root(root, yaml, 2, &mut findings))
    }

    #[test]
    fn plain_lines_need_no_parser_and_everything_else_does() {
        for yaml in [
            "name: a\ndescription: b c, d [e] {f} 100%\n",
            "name: \"a: b # c\"\nversion: 1.10\n",
            "a: 'x'\nb:  y  \nkey-1: 技能，“x”\n",
            "url: https://a.example/b#c\n",
        ] {
            let fast = super::document(yaml, 2).expect(yaml);
            assert_eq!(shown(&fast), shown(&parsed(yaml).expect(yaml)), "{yaml}");
        }
        for yaml in [
            "",
            "\n",
            "a:\n",
            "a: b: c\n",
            "a: b #c\n",
            "a: b:\n",
            "a: - b\n",
            "a: \"b\\n\"\n",
            "a: 'b''c'\n",
            "a: \"b\" c\n",
            "a: *b\n",
            "a: [b]\n",
            "a: |\n",
            "a:\tb\n",
            "a: b\tc\n",
            " a: b\n",
            "a: b\n  c\n",
            "a: \u{feff}b\n",
            "a: b\u{85}c\n",
            "a: b\u{a0}\n",
            "# a: b\n",
            "---\n",
            "...\n",
            "a: \"\n",
            "? a\n",
        ] {
            assert!(super::document(yaml, 2).is_none(), "{yaml:?}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

        #[test]
        fn both_ways_read_the_same(pieces in proptest::collection::vec(proptest::sample::select(vec![
            "a", "name", ": ", ":", " ", "\n", "\nb: ", "\"", "'", "#", " #", "-", "1", "é", "技", "\u{2028}", "\u{a0}",
            ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "%", "@", "`", "~", "null", "=", "<<", "\\", "?", ".",
        ]), 1..24)) {
            let yaml = format!("k: {}\n", pieces.concat());
            if let Some(fast) = super::document(&yaml, 2) {
                let slow = parsed(&yaml);
                proptest::prop_assert_eq!(slow.as_ref().map(shown), Some(shown(&fast)));
            }
        }
    }
}
