//! Takes from a file what is shown of it: all of a short one, else what matches and its neighbours.

use std::collections::BTreeSet;

use crate::offline::words::terms;

/// A file of so many lines is shown whole.
const SHORT: usize = 40;
/// How many lines that match are looked for, and how many are shown with their neighbours.
const MAX_MATCHES: usize = 6;
const MAX_LINES: usize = 20;
/// How many lines are shown where none matches.
const BEGINNING: usize = 6;
const MAX_LINE_CHARS: usize = 200;

/// What stands where lines were left out.
const GAP: &str = "…";

/// What is shown of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Excerpt {
    Empty,
    Whole(Vec<String>),
    /// Lines that speak of what a task and its steps speak of, in their order.
    Matching(Vec<String>),
    /// None matches; these are the first.
    Beginning(Vec<String>),
}

/// Returns what to show of `content`: for a long one the lines that share most terms with `task`
/// (which counts double) and `steps`.
pub(super) fn excerpt(content: &str, task: &str, steps: &[String]) -> Excerpt {
    let lines: Vec<&str> = content.trim_end().lines().map(str::trim_end).collect();
    let shown = |line: &&str| cut(line, MAX_LINE_CHARS);
    if lines.iter().all(|line| line.is_empty()) {
        return Excerpt::Empty;
    }
    if lines.len() <= SHORT {
        return Excerpt::Whole(lines.iter().map(shown).collect());
    }
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let matches = matches(&lines, task, steps);
    if matches.is_empty() {
        return Excerpt::Beginning(lines.iter().take(BEGINNING).map(shown).collect());
    }
    Excerpt::Matching(with_gaps(&lines, &neighbourhood(&lines, &matches)))
}

/// Returns the positions of the lines that match best, best first.
fn matches(lines: &[&str], task: &str, steps: &[String]) -> Vec<usize> {
    let task: BTreeSet<String> = terms(task).into_iter().collect();
    let steps: BTreeSet<String> = steps.iter().flat_map(|step| terms(step)).collect();
    let mut scored: Vec<(usize, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("```"))
        .map(|(position, line)| {
            let line: BTreeSet<String> = terms(line).into_iter().collect();
            let score = line.intersection(&task).count() * 2 + line.intersection(&steps).count();
            (score, position)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, position)| (std::cmp::Reverse(*score), *position));
    let best = scored.iter().take(MAX_MATCHES);
    best.map(|(_, position)| *position).collect()
}

/// Returns the positions of the matches and of the lines around them; a heading's text is below it.
fn neighbourhood(lines: &[&str], matches: &[usize]) -> BTreeSet<usize> {
    let mut kept = BTreeSet::new();
    for position in matches {
        let is_heading = lines
            .get(*position)
            .is_some_and(|line| line.starts_with('#'));
        let (before, after) = if is_heading { (0, 3) } else { (1, 1) };
        let around = position.saturating_sub(before)..=position + after;
        let around: BTreeSet<usize> = around.filter(|at| *at < lines.len()).collect();
        if kept.len() + around.len() > MAX_LINES {
            break;
        }
        kept.extend(around);
    }
    kept
}

fn with_gaps(lines: &[&str], kept: &BTreeSet<usize>) -> Vec<String> {
    let mut shown = Vec::new();
    let mut next = 0;
    for position in kept {
        if *position > next {
            shown.push(GAP.to_owned());
        }
        shown.extend(lines.get(*position).map(|line| cut(line, MAX_LINE_CHARS)));
        next = position + 1;
    }
    if next < lines.len() {
        shown.push(GAP.to_owned());
    }
    shown
}

/// Returns at most `limit` characters of `text`, marked where it was cut.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text.split_at(end).0.trim_end().to_owned() + GAP,
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, excerpt};

    /// Returns a long file with `lines` from its 21st line on.
    fn long(lines: &str) -> String {
        let filler = "filler\n".repeat(20);
        format!("{filler}{lines}\n{filler}{filler}")
    }

    #[test]
    fn a_short_file_is_shown_whole() {
        assert_eq!(
            excerpt("# Plan\n\nShip it.\n\n", "minutes", &[]),
            Excerpt::Whole(vec!["# Plan".into(), "".into(), "Ship it.".into()])
        );
        assert_eq!(excerpt(" \n\n", "minutes", &[]), Excerpt::Empty);
    }

    #[test]
    fn lines_of_a_long_file_that_share_words_are_shown_with_their_neighbours() {
        let content =
            long("Before\nDecision: ship on Monday\nAfter\nx\ny\nOwner of the decision: Ada");
        let steps = ["List each decision with its owner.".to_owned()];
        let lines = [
            "…",
            "Before",
            "Decision: ship on Monday",
            "After",
            "…",
            "y",
            "Owner of the decision: Ada",
            "filler",
            "…",
        ];
        assert_eq!(
            excerpt(&content, "minutes please", &steps),
            Excerpt::Matching(lines.map(str::to_owned).into())
        );
    }

    #[test]
    fn a_heading_that_matches_brings_what_stands_below_it() {
        let content = long("## 决定\n周一发布\n由小王负责\n其他");
        let lines = ["…", "## 决定", "周一发布", "由小王负责", "其他", "…"];
        assert_eq!(
            excerpt(&content, "有哪些决定", &[]),
            Excerpt::Matching(lines.map(str::to_owned).into())
        );
    }

    #[test]
    fn a_long_file_without_a_match_shows_its_beginning() {
        let beginning = vec!["filler".to_owned(); 6];
        assert_eq!(
            excerpt(&long("x"), "minutes", &[]),
            Excerpt::Beginning(beginning)
        );
    }

    #[test]
    fn what_is_shown_of_a_file_is_bounded() {
        let content = long(&"Decision, and so on.\n".repeat(50));
        let Excerpt::Matching(lines) = excerpt(&content, "decision", &[]) else {
            unreachable!("it matches");
        };
        assert!(lines.len() <= 22, "{}", lines.len());
    }
}
