//! The lines of an index within a budget: shortened evenly, then by rank, never by the query.

use skill_core::{IndexCut, LoadMode};
use unicode_width::UnicodeWidthStr;

use crate::input::{ListingTier, SkillEntry};
use crate::preset::IndexTexts;
use crate::render::{fill, one_line};

/// Below this many characters a description is noise and is left out instead.
const FLOOR: usize = 80;

/// The lines of an index and what was cut from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) lines: Vec<String>,
    pub(crate) cut: Vec<String>,
    /// Characters of all lines, had there been room.
    pub(crate) asked: usize,
    /// Characters of the lines.
    pub(crate) given: usize,
}

/// How an index shows one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill {
    /// The id.
    pub id: String,
    /// Its line; `None` where there is no room for one.
    pub line: Option<String>,
    /// What was left out; `None` where it is shown whole.
    pub cut: Option<IndexCut>,
}

/// Returns how [`listing`] shows each of `entries`, in their order.
pub(crate) fn listed(
    texts: &IndexTexts,
    entries: &[&SkillEntry],
    budget: usize,
    tools: bool,
) -> Vec<ListedSkill> {
    let rows = rows(texts, entries);
    let layout = laid_out(texts, &rows, budget, tools);
    let mut lines = layout.lines.into_iter();
    let all = rows.iter().zip(layout.caps);
    all.map(|(row, cap)| ListedSkill {
        id: row.entry.id.clone(),
        line: cap.and_then(|_| lines.next()),
        cut: row.cut(cap),
    })
    .collect()
}

/// Renders `entries` in their order within `budget` characters.
pub(crate) fn listing(
    texts: &IndexTexts,
    entries: &[&SkillEntry],
    budget: usize,
    tools: bool,
) -> Listing {
    let rows = rows(texts, entries);
    let asked: usize = rows.iter().map(|row| row.fixed + row.length).sum();
    let Layout {
        mut lines,
        caps,
        omitted,
    } = laid_out(texts, &rows, budget, tools);
    let cut = notes(&rows, &caps, omitted, budget);
    if let Some(described) = described(texts, &rows, &caps) {
        lines.push(described);
    }
    let given = lines.iter().map(|line| line.chars().count() + 1).sum();
    Listing {
        lines,
        cut,
        asked: asked.max(given),
        given,
    }
}

/// The lines of rows within a budget: first one for each row with a cap, in their order, then the one
/// that says how many have none.
struct Layout {
    lines: Vec<String>,
    caps: Vec<Option<usize>>,
    omitted: usize,
}

fn laid_out(texts: &IndexTexts, rows: &[Row<'_>], budget: usize, tools: bool) -> Layout {
    let mut caps = caps(rows, texts.describe_at_most, budget);
    let mut lines: Vec<String> = rows
        .iter()
        .zip(&caps)
        .map(|(row, cap)| row.line(texts, *cap))
        .collect();
    let omitted = omit(&mut lines, &mut caps, rows, budget, more(texts, tools));
    Layout {
        lines,
        caps,
        omitted,
    }
}

fn rows<'a>(texts: &IndexTexts, entries: &[&'a SkillEntry]) -> Vec<Row<'a>> {
    let columns = entries
        .iter()
        .map(|entry| UnicodeWidthStr::width(one_line(&entry.name).as_str()))
        .fold(texts.name_columns, usize::max);
    entries
        .iter()
        .map(|entry| Row::new(texts, entry, columns))
        .collect()
}

fn more(texts: &IndexTexts, tools: bool) -> &str {
    if tools {
        &texts.more
    } else {
        &texts.more_without_tools
    }
}

/// Says how many are described, where only so many may be.
fn described(texts: &IndexTexts, rows: &[Row<'_>], caps: &[Option<usize>]) -> Option<String> {
    let most = texts.describe_at_most.filter(|most| *most < rows.len())?;
    let shown = caps
        .iter()
        .flatten()
        .filter(|cap| **cap > 0)
        .count()
        .min(most);
    let (shown, total) = (shown.to_string(), rows.len().to_string());
    let line = fill(&texts.described, &[("shown", &shown), ("total", &total)]);
    (!line.is_empty()).then_some(line)
}

fn notes(rows: &[Row<'_>], caps: &[Option<usize>], omitted: usize, budget: usize) -> Vec<String> {
    let (mut shortened, mut bare) = (0, 0);
    for (row, cap) in rows.iter().zip(caps) {
        match row.cut(*cap) {
            Some(IndexCut::NameOnly) => bare += 1,
            Some(IndexCut::Shortened) => shortened += 1,
            Some(IndexCut::Omitted) | None => {}
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
        cut.push(format!("{omitted} skills not listed"));
    }
    cut
}

/// Takes out the lines of least rank until the rest fits together with a last line that says how
/// many; the first in rank stays in any case. Returns how many.
fn omit(
    lines: &mut Vec<String>,
    caps: &mut [Option<usize>],
    rows: &[Row<'_>],
    budget: usize,
    more: &str,
) -> usize {
    let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count() + 1).collect();
    let mut left: usize = lengths.iter().sum();
    let mut omitted = 0;
    let mut told = String::new();
    for position in ranked(rows).into_iter().skip(1).rev() {
        if left + told.chars().count() + usize::from(omitted > 0) <= budget {
            break;
        }
        left -= lengths.get(position).copied().unwrap_or(0);
        if let Some(cap) = caps.get_mut(position) {
            *cap = None;
        }
        omitted += 1;
        told = fill(more, &[("count", &omitted.to_string())]);
    }
    let mut shown = caps.iter().map(Option::is_some);
    lines.retain(|_| shown.next().unwrap_or(true));
    lines.extend((omitted > 0).then_some(told));
    omitted
}

/// Returns the positions of rows by rank: tier by tier, in the order of the index.
fn ranked(rows: &[Row<'_>]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..rows.len()).collect();
    positions.sort_by_key(|position| rows.get(*position).map(|row| row.entry.tier));
    positions
}

/// Returns how many characters each description may take so that all together fit `budget`.
///
/// Every row keeps its name; `None` is for a row without a line.
fn caps(rows: &[Row<'_>], most: Option<usize>, budget: usize) -> Vec<Option<usize>> {
    let fixed: usize = rows.iter().map(|row| row.fixed).sum();
    let room = budget.saturating_sub(fixed);
    let may = |position: usize| most.is_none_or(|most| position < most);
    let wanted = |(position, row): (usize, &Row<'_>)| if may(position) { row.length } else { 0 };
    let lengths: Vec<usize> = rows.iter().enumerate().map(wanted).collect();
    let pinned = |position: usize| {
        rows.get(position)
            .is_some_and(|row| row.entry.tier == ListingTier::Pinned)
    };
    let of = |positions: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
        positions
            .filter_map(|at| lengths.get(at).copied())
            .collect()
    };
    // What a user named for this run is cut last.
    let first = of(&mut (0..rows.len()).filter(|at| pinned(*at)));
    let others = of(&mut (0..rows.len()).filter(|at| !pinned(*at)));
    let first_level = water_level(&first, room);
    let taken: usize = first.iter().map(|length| (*length).min(first_level)).sum();
    let room = room.saturating_sub(taken);
    let level = water_level(&others, room);
    let mut caps: Vec<Option<usize>> = (0..rows.len())
        .map(|at| match (may(at), pinned(at)) {
            (false, _) => Some(0),
            (true, true) => Some(useful(first_level)),
            (true, false) => Some(useful(level)),
        })
        .collect();
    if level < FLOOR {
        describe_the_first(&mut caps, &lengths, rows, room);
    }
    caps
}

/// Not everybody gets a useful line: those first in rank do, and the others keep their names.
fn describe_the_first(
    caps: &mut [Option<usize>],
    lengths: &[usize],
    rows: &[Row<'_>],
    room: usize,
) {
    let mut left = Some(room);
    for position in ranked(rows) {
        let (Some(length), Some(row)) = (lengths.get(position), rows.get(position)) else {
            continue;
        };
        if row.entry.tier == ListingTier::Pinned {
            continue;
        }
        left = left.and_then(|left| left.checked_sub((*length).min(FLOOR)));
        if let (Some(_), Some(cap)) = (left, caps.get_mut(position)) {
            *cap = cap.map(|_| if *length > 0 { FLOOR } else { 0 });
        }
    }
}

fn useful(level: usize) -> usize {
    if level < FLOOR { 0 } else { level }
}

/// Returns the greatest equal cap under which the lengths add up to at most `room`.
pub(crate) fn water_level(lengths: &[usize], room: usize) -> usize {
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
    padded_name: String,
    description: String,
    /// Characters of the description.
    length: usize,
    /// Characters of the line without its description, with its line break.
    fixed: usize,
}

impl<'a> Row<'a> {
    fn new(texts: &IndexTexts, entry: &'a SkillEntry, columns: usize) -> Self {
        let description = one_line(&entry.description);
        let name = one_line(&entry.name);
        let mut row = Self {
            entry,
            id: one_line(&entry.id),
            padded_name: padded(&name, columns),
            name,
            length: description.chars().count(),
            description: String::new(),
            fixed: 0,
        };
        let template = if row.length == 0 {
            &texts.line_without_description
        } else {
            &texts.line
        };
        row.fixed = row.filled(texts, template, "").chars().count() + 1;
        row.description = description;
        row
    }

    /// Returns what a cap leaves out.
    fn cut(&self, cap: Option<usize>) -> Option<IndexCut> {
        match cap {
            None => Some(IndexCut::Omitted),
            Some(0) if self.length > 0 => Some(IndexCut::NameOnly),
            Some(cap) if self.length > cap => Some(IndexCut::Shortened),
            Some(_) => None,
        }
    }

    fn line(&self, texts: &IndexTexts, cap: Option<usize>) -> String {
        let description = shorten(&self.description, cap.unwrap_or(0));
        let template = if description.is_empty() {
            &texts.line_without_description
        } else {
            &texts.line
        };
        self.filled(texts, template, &description)
    }

    fn filled(&self, texts: &IndexTexts, template: &str, description: &str) -> String {
        let mut line = fill(
            template,
            &[
                ("id", &self.id),
                ("name", &self.name),
                ("padded_name", &self.padded_name),
                ("description", description),
            ],
        );
        if self.entry.load == LoadMode::Always {
            line.push_str(&texts.always_mark);
        }
        line
    }
}

/// Fills a name up with blanks to `columns`; a wide letter takes two of them.
fn padded(name: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(UnicodeWidthStr::width(name));
    format!("{name}{}", " ".repeat(blanks))
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
            true,
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
        assert_eq!(listing.asked, listing.given);
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
    fn each_skill_has_the_line_that_stands_in_the_index_and_knows_what_it_lacks() {
        let preset = Preset::built_in("default").unwrap();
        for (budget, cut) in [
            (100_000, None),
            (8_000, Some(IndexCut::Shortened)),
            (2_000, Some(IndexCut::NameOnly)),
            (200, Some(IndexCut::Omitted)),
        ] {
            let entries = entries(40, 400);
            let entries: Vec<&SkillEntry> = entries.iter().collect();
            let each = listed(&preset.skills.index, &entries, budget, true);
            let lines: Vec<&String> = each.iter().filter_map(|one| one.line.as_ref()).collect();
            let listing = list(40, 400, budget);
            assert!(listing.lines.iter().take(lines.len()).eq(lines), "{budget}");
            assert_eq!(each[39].cut, cut, "{budget}");
            assert_eq!(each[39].line.is_none(), cut == Some(IndexCut::Omitted));
        }
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
                "26 skills not listed"
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
