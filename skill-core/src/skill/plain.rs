//! Frontmatters that are nothing but lines `key: value` and plain blocks of them, as most are, read
//! without a parser.
//!
//! It takes only what every reader of YAML takes alike and leaves all else to the parser.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::str::Lines;

use crate::skill::document::{Document, Field};
use crate::skill::yaml::{Kind, Mark, Node};

/// How deep blocks may stand in one another.
const DEEPEST: u32 = 8;
/// The longest key; parsers have a bound too.
const LONGEST_KEY: usize = 256;

/// Returns the keys of `yaml`, if each of its lines is a key or an item with a plain or a simply
/// quoted value, or a key with a block of such lines below it.
pub(crate) fn document(yaml: &str, first_line: u32) -> Option<Document<'_>> {
    let mut fields = Vec::with_capacity(6);
    let mut reader = Reader {
        lines: yaml.lines().zip(1..).peekable(),
    };
    while let Some((line, number)) = reader.lines.next() {
        let (key, rest) = key(line, 0)?;
        let (value, raw) = reader.value(rest, 0, number, 0)?;
        fields.push(Field {
            key: Cow::Borrowed(key),
            line: value.line + first_line.checked_sub(1)?,
            column: value.column,
            value,
            raw,
            damaged: false,
        });
    }
    (!fields.is_empty()).then_some(Document {
        fields,
        lost: Vec::new(),
    })
}

/// What stands behind a key or a dash, and how many bytes stand before it on its line.
#[derive(Clone, Copy)]
struct Rest<'a> {
    text: &'a str,
    before: usize,
}

/// Splits a line that is a key behind `indent` blanks, before the colon.
fn key(line: &str, indent: usize) -> Option<(&str, Rest<'_>)> {
    let line = line.get(indent..)?;
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = line.bytes().position(|byte| !is_key(&byte))?;
    let (key, rest) = line.split_at_checked(length)?;
    let text = rest.strip_prefix(':')?;
    let sound = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.len() <= LONGEST_KEY
        && (text.is_empty() || text.starts_with(' '));
    let before = indent + length + 1;
    sound.then_some((key, Rest { text, before }))
}

/// Reads line by line; nothing is returned for all that needs a parser.
struct Reader<'a> {
    lines: Peekable<Zip<Lines<'a>, RangeFrom<u32>>>,
}

impl<'a> Reader<'a> {
    /// Returns the value of a key, which stands behind `indent` blanks on line `number`, and how it
    /// is written if that is on the same line.
    fn value(
        &mut self,
        rest: Rest<'a>,
        indent: usize,
        number: u32,
        depth: u32,
    ) -> Option<(Node<'a>, &'a str)> {
        if !rest.text.is_empty() {
            return scalar(rest, number);
        }
        let (below, is_item) = self.below()?;
        match below.cmp(&indent) {
            Ordering::Greater if is_item => Some((self.list(below)?, "")),
            Ordering::Greater if depth < DEEPEST => Some((self.map(below, depth + 1)?, "")),
            Ordering::Equal if is_item => Some((unindented(self.list(below)?)?, "")),
            _ => None,
        }
    }

    /// Returns how many blanks the next line begins with, and whether it is an item.
    fn below(&mut self) -> Option<(usize, bool)> {
        let (line, _) = self.lines.peek()?;
        let text = line.trim_start_matches(' ');
        Some((line.len() - text.len(), text.starts_with("- ")))
    }

    fn list(&mut self, indent: usize) -> Option<Node<'a>> {
        let mut items: Vec<Node<'a>> = Vec::new();
        while let Some((below, is_item)) = self.below() {
            match below.cmp(&indent) {
                Ordering::Equal if is_item => {}
                Ordering::Equal | Ordering::Less => break,
                Ordering::Greater => return None,
            }
            let (line, number) = self.lines.next()?;
            let text = line.get(indent + 1..)?;
            let before = indent + 1;
            items.push(scalar(Rest { text, before }, number)?.0);
        }
        let (line, column) = (items.first()?.line, position(indent)?);
        let flow = false;
        Some(node(Kind::List { items, flow }, line, column))
    }

    fn map(&mut self, indent: usize, depth: u32) -> Option<Node<'a>> {
        let mut pairs: Vec<(Node<'a>, Node<'a>)> = Vec::new();
        while let Some((below, _)) = self.below() {
            match below.cmp(&indent) {
                Ordering::Equal => {}
                Ordering::Less => break,
                Ordering::Greater => return None,
            }
            let (line, number) = self.lines.next()?;
            let (key, rest) = key(line, indent)?;
            let (value, _) = self.value(rest, indent, number, depth)?;
            let text = Cow::Borrowed(key);
            let key = Kind::Scalar { text, plain: true };
            pairs.push((node(key, number, position(indent)?), value));
        }
        let (line, column) = (pairs.first()?.0.line, position(indent)?);
        Some(node(Kind::Map { pairs }, line, column))
    }
}

/// Returns a list that stands no deeper than its key: parsers say it begins with its first item.
fn unindented(mut list: Node<'_>) -> Option<Node<'_>> {
    if let Kind::List { items, .. } = &list.kind {
        list.column = items.first()?.column;
    }
    Some(list)
}

/// Returns a value on one line and how it is written.
fn scalar(rest: Rest<'_>, number: u32) -> Option<(Node<'_>, &str)> {
    let blank = rest.text.strip_prefix(' ')?;
    let raw = blank.trim_matches(' ');
    let blanks = blank.len() - blank.trim_start_matches(' ').len();
    let (text, plain) = value(raw)?;
    let text = Cow::Borrowed(text);
    let kind = Kind::Scalar { text, plain };
    let column = position(rest.before + 1 + blanks)?;
    Some((node(kind, number, column), raw))
}

/// Returns a column, counted from 1.
fn position(before: usize) -> Option<u32> {
    u32::try_from(before + 1).ok()
}

/// Returns a node; where it ends matters to nobody who reads a document of this kind.
fn node(kind: Kind<'_>, line: u32, column: u32) -> Node<'_> {
    Node {
        kind,
        line,
        column,
        end_line: line,
        end_column: column,
        mark: Mark::default(),
    }
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
    let ends = |at: usize| match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b':'), next) => matches!(next, None | Some(b' ')),
        _ => at > 0 && bytes.get(at - 1) == Some(&b' '),
    };
    let control = |found: bool, byte: &u8| found | (*byte < b' ') | (*byte == 0x7f);
    !bytes.iter().fold(false, control) && !memchr::memchr2_iter(b':', b'#', bytes).any(ends)
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

    /// Returns a node without where it ends.
    fn tree(node: &Node<'_>) -> String {
        let inner = match &node.kind {
            Kind::List { items, flow } => {
                let items: Vec<String> = items.iter().map(tree).collect();
                format!("{flow} {items:?}")
            }
            Kind::Map { pairs } => {
                let pair = |(key, value): &(Node<'_>, Node<'_>)| (tree(key), tree(value));
                format!("{:?}", pairs.iter().map(pair).collect::<Vec<_>>())
            }
            other => format!("{other:?}"),
        };
        format!("{}:{} {:?} {inner}", node.line, node.column, node.mark)
    }

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
            let value = tree(value);
            format!("{key} {value} {line} {column} {raw} {damaged}")
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
            "name: a\nmetadata:\n  author: b c\n  version: \"1.2\"\n  tags:\n    - x\n    - 'y z'\nlicense: MIT\n",
            "metadata:\n  a:\n    b:\n      c: d\n  e: f\ng: h\n",
            "tools:\n- Read\n-  Bash(git)\nname: x\n",
            "m:\n  tags:\n  - a\n  - b\n  c: d\n",
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
            "a:\n  b: c\n d: e\n",
            "a:\n  b: c\n    d: e\n",
            "a:\n  b:\n c: d\n",
            "a:\n  b: c\n\n  d: e\n",
            "a:\n  - b: c\n",
            "a:\n  - - b\n",
            "a:\n  -\n",
            "a:\n\tb: c\n",
            "a:\n  b: c # d\n",
            "a:\n- b\n  c\n",
            "a: b\n- c\n",
            "a:\n  b: c\n  - d\n",
            "a:\n  - d\n  b: c\n",
        ] {
            assert!(super::document(yaml, 2).is_none(), "{yaml:?}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

        #[test]
        fn both_ways_read_blocks_the_same(pieces in proptest::collection::vec(proptest::sample::select(vec![
            "\n", "\n  ", "\n    ", "\n   ", "a", "b: c", "key:", "- x", "- ", "-", ": ", " ", "\"q\"", "'", "\t", "#",
            "é", "~", "\n  k: v", "\n  k:", "\n    - i", "\n  - i", "\n- i", "\nm:", "null",
        ]), 1..16)) {
            let yaml = format!("k:{}\n", pieces.concat());
            if let Some(fast) = super::document(&yaml, 2) {
                let slow = parsed(&yaml);
                proptest::prop_assert_eq!(slow.as_ref().map(shown), Some(shown(&fast)));
            }
        }

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
