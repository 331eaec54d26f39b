//! Fragments of context: enveloped, named, and in as full a form as there is room for.

use skill_core::envelope_mark;

use crate::excerpts::excerpts;
use crate::input::{ContextFragment, FragmentKind};
use crate::listing::water_level;
use crate::meter::Meter;
use crate::output::Fingerprint;
use crate::render::one_line;

/// A fragment in the form in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) kind: FragmentKind,
    /// Empty if it is not shown.
    pub(crate) text: String,
    pub(crate) asked: u64,
    pub(crate) given: u64,
    pub(crate) cut: Option<String>,
    pub(crate) source: String,
}

/// Returns fragments by priority; those of one priority keep their order.
pub(crate) fn ordered(fragments: &[ContextFragment]) -> Vec<&ContextFragment> {
    let mut ordered: Vec<&ContextFragment> = fragments.iter().collect();
    ordered.sort_by_key(|fragment| std::cmp::Reverse(fragment.priority));
    ordered
}

/// Returns the fragments of one kind by priority; those that are not ranked are sorted by name.
pub(crate) fn of(fragments: &[ContextFragment], kind: FragmentKind) -> Vec<&ContextFragment> {
    let mut found = ordered(fragments);
    found.retain(|fragment| fragment.kind == kind);
    if matches!(kind, FragmentKind::Mention | FragmentKind::CurrentFile) {
        found.sort_by(|one, other| {
            let by_rank = other.priority.cmp(&one.priority);
            by_rank.then_with(|| (&one.name, &one.text).cmp(&(&other.name, &other.text)))
        });
    }
    found
}

/// Returns the tokens of fragments in full, each at most its own cap.
pub(crate) fn asked(fragments: &[&ContextFragment], meter: &Meter<'_>) -> u64 {
    let size = |fragment: &&ContextFragment| {
        let cap = fragment.cap.unwrap_or(u64::MAX);
        meter.text(&whole(fragment)).min(cap)
    };
    fragments.iter().map(size).sum()
}

/// Returns the tokens of the least form of fragments: their names.
pub(crate) fn least(fragments: &[&ContextFragment], meter: &Meter<'_>) -> u64 {
    let size = |fragment: &&ContextFragment| {
        let named = meter.text(&named(fragment));
        named.min(meter.text(&whole(fragment)))
    };
    fragments.iter().map(size).sum()
}

/// Shows mentions within `room`: none vanishes, and beyond their names all have an equal share.
pub(crate) fn mentions(fragments: &[&ContextFragment], room: u64, meter: &Meter<'_>) -> Vec<Shown> {
    let names: Vec<u64> = fragments
        .iter()
        .map(|fragment| least(&[*fragment], meter))
        .collect();
    let beyond: Vec<usize> = fragments
        .iter()
        .zip(&names)
        .map(|(fragment, name)| meter.text(&whole(fragment)).saturating_sub(*name))
        .map(|size| usize::try_from(size).unwrap_or(usize::MAX))
        .collect();
    let left = room.saturating_sub(names.iter().sum());
    let level = water_level(&beyond, usize::try_from(left).unwrap_or(usize::MAX)) as u64;
    fragments
        .iter()
        .zip(&names)
        .map(|(fragment, name)| {
            let room = name.saturating_add(level);
            let room = room.min(fragment.cap.unwrap_or(u64::MAX));
            let text =
                fitting(fragment, room, meter).unwrap_or_else(|| shortened(fragment, room, meter));
            shown(fragment, text, meter)
        })
        .collect()
}

/// Shows the current file within `room`: whole, else the parts that have to do with `query`, else a
/// summary, else by its name.
pub(crate) fn current_file(
    fragments: &[&ContextFragment],
    room: u64,
    query: &str,
    meter: &Meter<'_>,
) -> Vec<Shown> {
    let mut left = room;
    fragments
        .iter()
        .map(|fragment| {
            let room = left.min(fragment.cap.unwrap_or(u64::MAX));
            left = left.saturating_sub(meter.text(&whole(fragment)));
            let text = fitting(fragment, room, meter)
                .or_else(|| parts(fragment, room, query, meter))
                .or_else(|| summary(fragment, room, meter))
                .or_else(|| Some(named(fragment)).filter(|text| meter.text(text) <= room))
                .unwrap_or_default();
            shown(fragment, text, meter)
        })
        .collect()
}

/// Shows passages within `room`, the best first; after the first that does not fit, none.
pub(crate) fn recalled(fragments: &[&ContextFragment], room: u64, meter: &Meter<'_>) -> Vec<Shown> {
    let mut left = Some(room);
    fragments
        .iter()
        .map(|fragment| {
            let size = meter.text(&whole(fragment));
            let fits = size <= fragment.cap.unwrap_or(u64::MAX);
            left = left
                .filter(|_| fits)
                .and_then(|left| left.checked_sub(size));
            let text = left.map(|_| whole(fragment)).unwrap_or_default();
            shown(fragment, text, meter)
        })
        .collect()
}

fn shown(fragment: &ContextFragment, text: String, meter: &Meter<'_>) -> Shown {
    let whole = whole(fragment);
    let asked = meter.text(&whole);
    let given = if text.is_empty() {
        0
    } else {
        meter.text(&text)
    };
    let cut =
        (text != whole).then(|| format!("{}: {given} of {asked} tokens shown", fragment.name));
    Shown {
        kind: fragment.kind,
        text,
        asked,
        given,
        cut,
        source: fragment.provenance.clone(),
    }
}

/// Returns the whole of a fragment, if that fits.
fn fitting(fragment: &ContextFragment, room: u64, meter: &Meter<'_>) -> Option<String> {
    Some(whole(fragment)).filter(|text| meter.text(text) <= room)
}

/// Returns the parts that matter: those somebody chose, else those that share words with `query`.
fn parts(fragment: &ContextFragment, room: u64, query: &str, meter: &Meter<'_>) -> Option<String> {
    if let Some(chosen) = &fragment.excerpts {
        let text = enveloped(fragment, "excerpts", chosen);
        return Some(text).filter(|text| meter.text(text) <= room);
    }
    let around = meter.text(&enveloped(fragment, "excerpts", ""));
    let found = excerpts(&fragment.text, query, room.saturating_sub(around), meter)?;
    let text = enveloped(fragment, "excerpts", &found);
    Some(text).filter(|text| meter.text(text) <= room)
}

fn summary(fragment: &ContextFragment, room: u64, meter: &Meter<'_>) -> Option<String> {
    let summary = fragment.summary.as_ref()?;
    let text = enveloped(fragment, "summary", summary);
    Some(text).filter(|text| meter.text(text) <= room)
}

/// Returns a fragment in full.
pub(crate) fn whole(fragment: &ContextFragment) -> String {
    enveloped(fragment, "", &fragment.text)
}

/// Returns what is left of a fragment for which there is no room.
pub(crate) fn named(fragment: &ContextFragment) -> String {
    enveloped(fragment, "name only", "")
}

/// Returns as much of a fragment as fits, cut at a line, with a note that it was cut.
pub(crate) fn shortened(fragment: &ContextFragment, room: u64, meter: &Meter<'_>) -> String {
    let head = |length: usize| {
        let text = fragment.text.get(..length).unwrap_or_default();
        enveloped(
            fragment,
            "cut",
            &format!("{text}[cut here: the rest did not fit]\n"),
        )
    };
    let ends: Vec<usize> = fragment
        .text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .collect();
    // More lines cost more, so the last that fits is found by halving.
    let fits = ends.partition_point(|end| meter.apart(&head(*end)) <= room);
    match fits.checked_sub(1).and_then(|last| ends.get(last)) {
        Some(end) => head(*end),
        None => named(fragment),
    }
}

/// Wraps text so that it cannot close its own envelope.
fn enveloped(fragment: &ContextFragment, form: &str, text: &str) -> String {
    let digest = Fingerprint::of(text);
    let (high, low) = (digest >> 32, digest & 0xffff_ffff);
    let mark = envelope_mark(&format!("{low:08x}{high:08x}"), [text]);
    let name = one_line(&fragment.name).replace('"', "&quot;");
    let shown = if form.is_empty() {
        String::new()
    } else {
        format!(" shown=\"{form}\"")
    };
    let line = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("<context name=\"{name}\"{shown}>\n{text}{line}</context:{mark}>")
}
