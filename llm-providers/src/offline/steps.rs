//! Takes from a skill's body what its steps are, and from a file what matches them.

use std::collections::BTreeSet;

use crate::offline::markdown::{bullet, heading, numbered, prose};
use crate::offline::words::terms;

const MAX_STEPS: usize = 12;
const MAX_STEP_CHARS: usize = 300;
const MAX_LINES: usize = 6;
const MAX_LINE_CHARS: usize = 200;

/// Returns the steps a body names: its numbered items, else its headings below the first, else
/// its bullets, else its first lines.
pub(super) fn steps(body: &str) -> Vec<String> {
    let lines = prose(body);
    let numbered = items(&lines, numbered);
    if !numbered.is_empty() {
        return numbered;
    }
    let headings = lines.iter().filter_map(|line| heading(line));
    let headings = headings.filter(|(level, _)| *level > 1);
    let headings: Vec<String> = headings.map(|(_, text)| text.to_owned()).collect();
    if headings.len() > 1 {
        return bounded(headings);
    }
    let bullets = items(&lines, bullet);
    if !bullets.is_empty() {
        return bullets;
    }
    let plain = lines.iter().filter(|line| !line.starts_with('#'));
    bounded(
        plain
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .take(4)
            .collect(),
    )
}

/// The lines of a file that speak of what a task and its steps speak of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Excerpt {
    /// Lines that match, in their order.
    Matching(Vec<String>),
    /// None matches; these are the first.
    Beginning(Vec<String>),
}

/// Returns the lines of `content` that share most terms with `task` (which counts double) and
/// `steps`.
pub(super) fn excerpt(content: &str, task: &str, steps: &[String]) -> Excerpt {
    let task: BTreeSet<String> = terms(task).into_iter().collect();
    let steps: BTreeSet<String> = steps.iter().flat_map(|step| terms(step)).collect();
    let lines: Vec<&str> = content
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut scored: Vec<(usize, usize)> = lines
        .iter()
        .enumerate()
        .map(|(position, line)| {
            let line: BTreeSet<String> = terms(line).into_iter().collect();
            let score = line.intersection(&task).count() * 2 + line.intersection(&steps).count();
            (score, position)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, position)| (std::cmp::Reverse(*score), *position));
    let mut best: Vec<usize> = scored
        .iter()
        .take(MAX_LINES)
        .map(|(_, position)| *position)
        .collect();
    best.sort_unstable();
    let shown = |line: &&str| cut(line, MAX_LINE_CHARS);
    if best.is_empty() {
        return Excerpt::Beginning(lines.iter().take(MAX_LINES / 2).map(shown).collect());
    }
    Excerpt::Matching(
        best.iter()
            .filter_map(|position| lines.get(*position))
            .map(shown)
            .collect(),
    )
}

/// Returns at most `limit` characters of `text`, marked where it was cut.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text.split_at(end).0.trim_end().to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Returns the items that `read` finds at the left margin, with the lines that go on with them.
fn items(lines: &[&str], read: fn(&str) -> Option<&str>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if let Some(item) = read(text).filter(|_| indent < 2) {
            items.push(item.to_owned());
            open = true;
        } else if text.is_empty() || indent < 2 || numbered(text).or(bullet(text)).is_some() {
            open = false;
        } else if let Some(item) = items.last_mut().filter(|_| open) {
            item.push(' ');
            item.push_str(text);
        }
    }
    bounded(items)
}

fn bounded(items: Vec<String>) -> Vec<String> {
    items
        .iter()
        .take(MAX_STEPS)
        .map(|item| cut(item, MAX_STEP_CHARS))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, excerpt, steps};

    #[test]
    fn numbered_items_are_the_steps_with_their_second_lines() {
        let body = "# Title\n\n## Steps\n1. Read the notes\n   and the plan.\n2) Group them.\n   - a detail\n\n```\n3. not this\n```\n3、写出来";
        assert_eq!(
            steps(body),
            ["Read the notes and the plan.", "Group them.", "写出来"]
        );
    }

    #[test]
    fn headings_serve_where_nothing_is_numbered() {
        assert_eq!(
            steps("# T\n## Collect\ntext\n### Sort ##\n- x"),
            ["Collect", "Sort"]
        );
    }

    #[test]
    fn bullets_and_then_lines_serve_where_there_is_less() {
        assert_eq!(steps("# T\nDo:\n- one\n- two"), ["one", "two"]);
        assert_eq!(steps("# T\n\nJust do it.\nWell."), ["Just do it.", "Well."]);
        assert_eq!(steps(""), [""; 0]);
    }

    #[test]
    fn long_bodies_are_bounded() {
        let body: String = (0..50)
            .map(|number| format!("{number}. {}\n", "字".repeat(400)))
            .collect();
        let steps = steps(&body);
        assert_eq!(steps.len(), 12);
        assert!(
            steps
                .iter()
                .all(|step| step.chars().count() <= 301 && step.ends_with('…'))
        );
    }

    #[test]
    fn lines_that_share_words_are_taken_in_their_order() {
        let content =
            "Intro\n\nDecision: ship on Monday\nLunch was good\nOwner of the decision: Ada\n";
        let steps = ["List each decision with its owner.".to_owned()];
        assert_eq!(
            excerpt(content, "minutes please", &steps),
            Excerpt::Matching(vec![
                "Decision: ship on Monday".into(),
                "Owner of the decision: Ada".into()
            ])
        );
    }

    #[test]
    fn a_file_without_a_match_shows_its_beginning() {
        let excerpt = excerpt("one\ntwo\n\nthree\nfour\n", "minutes", &[]);
        assert_eq!(
            excerpt,
            Excerpt::Beginning(vec!["one".into(), "two".into(), "three".into()])
        );
    }
}
