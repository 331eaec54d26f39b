//! The lines of an index within a budget: shortened evenly, then by rank, never by the query.

use skill_core::LoadMode;

use crate::input::SkillEntry;
use crate::preset::IndexTexts;
use crate::render::{fill, one_line};

/// Below this many characters a description is noise and is left out instead.
const FLOOR: usize = 80;

/// The lines of an index and what was cut from them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) lines: Vec<String>,
    pub(crate) full: Vec<String>,
    pub(crate) cut: Vec<String>,
}

/// Renders `entries` in their order within `budget` characters.
pub(crate) fn listing(texts: &IndexTexts, entries: &[&SkillEntry], budget: usize) -> Listing {
    let rows: Vec<Row<'_>> = entries.iter().map(|entry| Row::new(texts, entry)).collect();
    let full: Vec<String> = rows.iter().map(|row| row.line(texts, usize::MAX)).collect();
    let fixed: usize = rows.iter().map(Row::fixed_length).sum();
    let wanted: usize = rows.iter().map(|row| row.length).sum();
    if fixed.saturating_add(wanted) <= budget {
        return Listing {
            lines: full.clone(),
            full,
            cut: Vec::new(),
        };
    }
    let caps = caps(&rows, budget.saturating_sub(fixed));
    let mut lines: Vec<String> = rows
        .iter()
        .zip(&caps)
        .map(|(row, cap)| row.line(texts, *cap))
        .collect();
    let omitted = omit_tail(&mut lines, budget);
    let (mut shortened, mut bare) = (0, 0);
    for (row, cap) in rows.iter().zip(&caps).take(rows.len() - omitted) {
        if *cap == 0 && row.length > 0 {
            bare += 1;
        } else if row.length > *cap {
            shortened += 1;
        }
    }
    let mut cut = Vec::new();
    if shortened > 0 {
        cut.push(format!(
            "{shortened} descriptions shortened to fit {budget} characters"
        ));
    }
    if bare > 0 {
        cut.push(format!("{bare} skills listed without a description"));
    }
    if omitted > 0 {
        cut.push(format!(
            "{omitted} skills not listed; `list_skills` finds them"
        ));
    }
    Listing { lines, full, cut }
}

/// Drops lines from the end until the rest fits together with a last line that says how many; the
/// first stays in any case. Returns how many.
fn omit_tail(lines: &mut Vec<String>, budget: usize) -> usize {
    let length = |line: &String| line.chars().count() + 1;
    let mut left: usize = lines.iter().map(length).sum();
    let mut omitted = 0;
    let mut told = String::new();
    while lines.len() > 1 && left + told.chars().count() + usize::from(omitted > 0) > budget {
        left -= lines.pop().as_ref().map_or(0, length);
        omitted += 1;
        told = format!("+{omitted} more: call list_skills");
    }
    lines.extend((omitted > 0).then_some(told));
    omitted
}

/// Returns how many characters each description may take so that all together fit `room`.
fn caps(rows: &[Row<'_>], room: usize) -> Vec<usize> {
    let lengths: Vec<usize> = rows.iter().map(|row| row.length).collect();
    let level = water_level(&lengths, room);
    if level >= FLOOR {
        return vec![level; rows.len()];
    }
    // Not everybody gets a useful line: those in front do, in order, and the others keep names.
    let mut left = room;
    lengths
        .iter()
        .map(|length| {
            let take = (*length).min(FLOOR);
            if take <= left {
                left -= take;
                FLOOR
            } else {
                0
            }
        })
        .collect()
}

/// Returns the greatest equal cap under which the lengths add up to at most `room`.
fn water_level(lengths: &[usize], room: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let (mut left, mut remaining) = (room, sorted.len());
    for length in sorted {
        let share = left / remaining.max(1);
        if length > share {
            return share;
        }
        left -= length;
        remaining -= 1;
    }
    usize::MAX
}

struct Row<'a> {
    entry: &'a SkillEntry,
    id: String,
    name: String,
    description: String,
    length: usize,
    fixed: usize,
}

impl<'a> Row<'a> {
    fn new(texts: &IndexTexts, entry: &'a SkillEntry) -> Self {
        let description = one_line(&entry.description);
        let mut row = Self {
            entry,
            id: one_line(&entry.id),
            name: one_line(&entry.name),
            length: description.chars().count(),
            description,
            fixed: 0,
        };
        row.fixed = row
            .line(texts, usize::MAX)
            .chars()
            .count()
            .saturating_sub(row.length)
            + 1;
        row
    }

    /// Characters of the line, with its line break, that are not the description.
    fn fixed_length(&self) -> usize {
        self.fixed
    }

    fn line(&self, texts: &IndexTexts, cap: usize) -> String {
        let description = shorten(&self.description, cap);
        let template = if description.is_empty() {
            &texts.line_without_description
        } else {
            &texts.line
        };
        let mut line = fill(
            template,
            &[
                ("id", &self.id),
                ("name", &self.name),
                ("description", &description),
            ],
        );
        if self.entry.load == LoadMode::Always {
            line.push_str(&texts.always_mark);
        }
        line
    }
}

/// Cuts at the end of a sentence, else of a word, and marks the cut.
fn shorten(text: &str, cap: usize) -> String {
    if text.chars().count() <= cap {
        return text.to_owned();
    }
    let Some(room) = cap.checked_sub(1).filter(|room| *room > 0) else {
        return String::new();
    };
    let head: String = text.chars().take(room).collect();
    let sentence = head
        .rfind(['。', '！', '？'])
        .or_else(|| head.rfind(". "))
        .filter(|at| at * 2 > head.len());
    let word = head.rfind(' ').filter(|at| at * 2 > head.len());
    let end = match (sentence, word) {
        (Some(at), _) => {
            at + head
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8)
        }
        (None, Some(at)) => at,
        (None, None) => head.len(),
    };
    format!("{}…", head.get(..end).unwrap_or(&head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    fn entries(count: usize, description: usize) -> Vec<SkillEntry> {
        (0..count)
            .map(|number| SkillEntry {
                id: format!("skill-{number:03}"),
                name: format!("skill-{number:03}"),
                description: "word ".repeat(description / 5),
                load: LoadMode::Lazy,
                listed: true,
                tier: Default::default(),
            })
            .collect()
    }

    fn list(count: usize, description: usize, budget: usize) -> Listing {
        let entries = entries(count, description);
        let preset = Preset::built_in("default").unwrap();
        listing(
            &preset.skills.index,
            &entries.iter().collect::<Vec<_>>(),
            budget,
        )
    }

    fn size(listing: &Listing) -> usize {
        listing
            .lines
            .iter()
            .map(|line| line.chars().count() + 1)
            .sum()
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let listing = list(5, 100, 8_000);
        assert_eq!(listing.lines, listing.full);
        assert!(listing.cut.is_empty());
    }

    #[test]
    fn descriptions_are_shortened_evenly_before_any_is_lost() {
        let listing = list(40, 400, 8_000);
        assert!(size(&listing) <= 8_000);
        assert!(
            listing.lines.iter().all(|line| line.ends_with('…')),
            "{:?}",
            listing.lines
        );
        assert_eq!(
            listing.cut,
            ["40 descriptions shortened to fit 8000 characters"]
        );
    }

    #[test]
    fn below_the_floor_the_first_keep_descriptions_and_all_keep_names() {
        let listing = list(40, 400, 2_000);
        assert!(size(&listing) <= 2_000);
        assert_eq!(listing.lines.len(), 40);
        assert!(listing.lines[0].ends_with('…'));
        assert_eq!(listing.lines[39], "- skill-039");
    }

    #[test]
    fn when_names_alone_do_not_fit_the_rest_is_counted() {
        let listing = list(40, 400, 200);
        assert!(size(&listing) <= 200);
        assert_eq!(listing.lines.last().unwrap(), "+26 more: call list_skills");
        assert_eq!(
            listing.cut,
            [
                "14 skills listed without a description",
                "26 skills not listed; `list_skills` finds them"
            ]
        );
    }

    #[test]
    fn a_cut_falls_on_a_sentence_or_a_word() {
        assert_eq!(shorten("One two three. Four five", 20), "One two three.…");
        assert_eq!(shorten("alpha beta gamma", 12), "alpha beta…");
        assert_eq!(shorten("周报生成。日报不行", 7), "周报生成。…");
        assert_eq!(shorten("abcdefgh", 4), "abc…");
        assert_eq!(shorten("abc", 0), "");
    }
}
