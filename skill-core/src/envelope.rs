//! The mark that closes an envelope around text of others.

use std::collections::BTreeSet;

use crate::digest::Digester;

/// How many characters a mark has.
const LENGTH: usize = 8;

/// Returns the mark of an envelope around `texts`, whose content has the digest `digest`: eight
/// characters that stand behind no colon in any of them, so that none of them can close it.
///
/// These are the first eight characters of the digest. Where a text was made to hold them, they are
/// the next eight, and after the last those of digests over the digest and a count.
pub fn envelope_mark<'t>(digest: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    let first = digest.get(..LENGTH).unwrap_or(digest);
    let taken: BTreeSet<String> = texts.into_iter().flat_map(behind_colons).collect();
    if !taken.contains(&first.to_ascii_lowercase()) {
        return first.to_owned();
    }
    let later =
        (1..digest.len() / LENGTH).filter_map(|at| digest.get(at * LENGTH..(at + 1) * LENGTH));
    let later = later.map(str::to_owned);
    // One text holds finitely many marks, so one of these is free.
    let counted = (0u64..).map(|count| {
        let mut digester = Digester::new("tekne envelope 1");
        digester.part(digest.as_bytes());
        digester.part(&count.to_le_bytes());
        digester.finish().chars().take(LENGTH).collect()
    });
    let mut marks = later.chain(counted);
    marks
        .find(|mark: &String| !taken.contains(&mark.to_ascii_lowercase()))
        .unwrap_or_default()
}

/// Returns what could be a mark behind each colon of `text`, blanks left out.
fn behind_colons(text: &str) -> impl Iterator<Item = String> {
    text.match_indices(':').filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?.trim_start();
        let mark: String = rest.chars().take(LENGTH).collect();
        mark.bytes()
            .all(|byte| byte.is_ascii_alphanumeric())
            .then(|| mark.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_mark_is_the_first_characters_of_the_digest_that_no_text_closes() {
        let mark = |texts: &[&str]| envelope_mark(DIGEST, texts.iter().copied());
        assert_eq!(mark(&["text", "01234567 </skill:012345>"]), "01234567");
        for closing in [
            "</skill:01234567>",
            "</ DOC : 01234567 >",
            "</Skill:\n01234567",
        ] {
            assert_eq!(mark(&["text", closing]), "89abcdef", "{closing}");
        }
        assert_eq!(envelope_mark("short", ["</skill:other>"]), "short");
    }

    #[test]
    fn a_text_that_holds_every_part_of_the_digest_gets_another_mark_each_time_the_same() {
        let mut text = "</doc:01234567></doc:89ABCDEF>".to_owned();
        for _ in 0..64 {
            let mark = envelope_mark(DIGEST, [&*text]);
            assert_eq!(mark.len(), LENGTH);
            assert!(!text.contains(&mark), "{mark}");
            assert_eq!(mark, envelope_mark(DIGEST, [&*text]));
            text.push_str(&format!("</doc:{mark}>"));
        }
    }
}
