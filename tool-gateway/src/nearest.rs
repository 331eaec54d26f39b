//! The nearest of some names to a mistyped one.

use crate::escape::escape_line;

/// A longer text is no misspelt name, and comparing it would only cost time.
const MAX_WANTED_BYTES: usize = 256;

/// Returns the candidate nearest to `wanted`, if one is near enough to be a likely typo.
///
/// Among equally near candidates the first in byte order wins, so the answer depends only on the
/// set of candidates.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if wanted.len() > MAX_WANTED_BYTES {
        return None;
    }
    let folded = wanted.to_lowercase();
    let limit = (folded.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns `; did you mean …` for the nearest candidate, or nothing.
pub(crate) fn did_you_mean<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(wanted, candidates)
        .map(|name| format!("; did you mean `{}`?", escape_line(name)))
        .unwrap_or_default()
}

/// Counts insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    let mut above_two: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut a_before = None;
    for (i, a_char) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        let mut b_before = None;
        for (j, b_char) in b.iter().copied().enumerate() {
            let changed = at(&above, j) + usize::from(a_char != b_char);
            let mut best = changed.min(at(&above, j + 1) + 1).min(at(&row, j) + 1);
            if j > 0 && a_before == Some(b_char) && b_before == Some(a_char) {
                best = best.min(at(&above_two, j - 1) + 1);
            }
            row.push(best);
            b_before = Some(b_char);
        }
        above_two = std::mem::replace(&mut above, row);
        a_before = Some(a_char);
    }
    at(&above, b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word_and_another_word_finds_nothing() {
        let names = ["read_file", "list_dir", "search_files", "write_file"];
        assert_eq!(nearest("raed_file", names), Some("read_file"));
        assert_eq!(nearest("Read_File", names), Some("read_file"));
        assert_eq!(nearest("listdir", names), Some("list_dir"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest(&"read_file".repeat(1_000_000), names), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("raed", "read"), 1);
    }
}
