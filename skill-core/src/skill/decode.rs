//! Bytes to text: marks, encodings and line ends, whatever an editor left behind.

use std::borrow::Cow;

use crate::skill::findings::Findings;

/// Returns `bytes` as text with `\n` line ends. Never fails.
pub(crate) fn decode<'a>(bytes: &'a [u8], findings: &mut Findings) -> Cow<'a, str> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes, findings),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes, findings),
        _ => utf8(bytes, findings),
    }
}

fn utf16<'a>(bytes: &[u8], unit: fn([u8; 2]) -> u16, findings: &mut Findings) -> Cow<'a, str> {
    findings
        .add("SK002", Some((1, 1)), "the file is UTF-16")
        .fix("save it as UTF-8");
    let (units, _) = bytes.as_chunks::<2>();
    let units = units.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units)
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    line_ends(Cow::Owned(text), findings)
}

fn utf8<'a>(mut bytes: &'a [u8], findings: &mut Findings) -> Cow<'a, str> {
    let mut marks = 0;
    while let [0xef, 0xbb, 0xbf, rest @ ..] = bytes {
        bytes = rest;
        marks += 1;
    }
    if marks > 0 {
        findings
            .add(
                "SK001",
                Some((1, 1)),
                "the file begins with a byte-order mark",
            )
            .fix("save it as UTF-8 without a mark");
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            findings
                .add("SK003", Some(end_of(before)), "the bytes are not UTF-8")
                .fix("save it as UTF-8");
            String::from_utf8_lossy(bytes)
        }
    };
    line_ends(text, findings)
}

/// Returns the place just after `before`.
fn end_of(before: &[u8]) -> (u32, u32) {
    let text = String::from_utf8_lossy(before);
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}

fn line_ends<'a>(text: Cow<'a, str>, findings: &mut Findings) -> Cow<'a, str> {
    if !has_return(text.as_bytes()) {
        return text;
    }
    let text = text.replace("\r\n", "\n");
    if !text.contains('\r') {
        return Cow::Owned(text);
    }
    findings
        .add("SK004", None, "lines end in a lone carriage return")
        .fix("save it with \\n line ends");
    Cow::Owned(text.replace('\r', "\n"))
}

/// Tells whether a carriage return stands in `bytes`, a block at a time, which compilers turn into
/// wide comparisons.
fn has_return(bytes: &[u8]) -> bool {
    bytes.chunks(1024).any(|block| {
        let found = block
            .iter()
            .fold(0u8, |found, &byte| found | u8::from(byte == b'\r'));
        found != 0
    })
}
