//! The parts of a text that have to do with a task: a pure choice by shared words.

use std::collections::BTreeSet;

use crate::meter::Meter;

/// Lines of a part at most.
const PART_LINES: usize = 20;

/// Stands where something was left out.
const GAP: &str = "[…]\n";

/// Returns the parts of `text` that share most words with `query` and fit `room` together, in the
/// order of the text; `None` if none does.
pub(crate) fn excerpts(text: &str, query: &str, room: u64, meter: &Meter<'_>) -> Option<String> {
    let wanted = words(query);
    let parts = parts(text);
    let mut ranked: Vec<(usize, usize)> = parts
        .iter()
        .enumerate()
        .map(|(position, part)| (words(part).intersection(&wanted).count(), position))
        .filter(|(score, _)| *score > 0)
        .collect();
    ranked.sort_by_key(|(score, position)| (std::cmp::Reverse(*score), *position));
    let gap = meter.text(GAP);
    let mut left = room.saturating_sub(gap);
    let mut chosen = BTreeSet::new();
    for (_, position) in ranked {
        let size = parts.get(position).map_or(0, |part| meter.apart(part)) + gap;
        match left.checked_sub(size) {
            Some(rest) => left = rest,
            None => break,
        }
        chosen.insert(position);
    }
    (!chosen.is_empty()).then(|| joined(&parts, &chosen))
}

fn joined(parts: &[&str], chosen: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut next = 0;
    for position in chosen {
        if *position > next {
            text.push_str(GAP);
        }
        text.push_str(parts.get(*position).copied().unwrap_or_default());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        next = position + 1;
    }
    if next < parts.len() {
        text.push_str(GAP);
    }
    text
}

/// Cuts a text at blank lines, and long stretches after so many lines.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut end, mut lines) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        end += line.len();
        lines += 1;
        if line.trim().is_empty() || lines == PART_LINES {
            parts.extend(text.get(start..end));
            (start, lines) = (end, 0);
        }
    }
    parts.extend(text.get(start..end).filter(|part| !part.is_empty()));
    parts
}

/// Returns the words of a text in lower case; letters of scripts without blanks count in pairs.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        if word.is_ascii() {
            if letters.len() > 2 {
                words.insert(letters.into_iter().collect());
            }
        } else {
            words.extend(letters.windows(2).map(|pair| pair.iter().collect()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Texts;
    use crate::family::Overhead;

    fn check(text: &str, query: &str, room: u64) -> Option<String> {
        let mut texts = Texts::default();
        excerpts(
            text,
            query,
            room,
            &Meter::bound(Overhead::default(), &mut texts),
        )
    }

    const TEXT: &str =
        "# Importer\nit reads files\n\n# Mail\nit sends mail\n\n# Export\nit writes\n";

    #[test]
    fn the_parts_that_share_words_with_the_task_are_shown_in_their_order() {
        assert_eq!(
            check(TEXT, "Why does the importer not export?", 1_000).as_deref(),
            Some("# Importer\nit reads files\n\n[…]\n# Export\nit writes\n")
        );
    }

    #[test]
    fn without_a_shared_word_or_without_room_there_are_no_excerpts() {
        assert_eq!(check(TEXT, "colours", 1_000), None);
        assert_eq!(check(TEXT, "importer", 10), None);
    }

    #[test]
    fn letters_without_blanks_between_count_in_pairs() {
        let text = "周报生成\n写周报。\n\n日程\n排日程。\n";
        assert_eq!(
            check(text, "请排日程", 1_000).as_deref(),
            Some("[…]\n日程\n排日程。\n")
        );
    }
}
