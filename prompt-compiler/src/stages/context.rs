//! Context fragments: enveloped, named, and capped a section at a time.

use super::Section;
use crate::input::ContextFragment;
use crate::meter::Meter;
use crate::output::BlockMark;
use crate::render::one_line;

/// Renders `fragments` within `cap` tokens, earlier ones first.
pub(crate) fn section(
    name: &'static str,
    fragments: &[ContextFragment],
    cap: u64,
    meter: &Meter<'_>,
) -> Section {
    let mut section = Section {
        name,
        ..Section::default()
    };
    let mut left = cap;
    for fragment in fragments {
        let whole = render(fragment, &fragment.text);
        let size = meter.text(&whole);
        section.full.push(whole.clone());
        if size <= left {
            left -= size;
            section.shown.push(whole);
            continue;
        }
        let (text, given) = shorten(fragment, left, meter);
        left = left.saturating_sub(given);
        section.cut.push(format!(
            "{}: {given} of {size} tokens shown, the cap is {cap}",
            fragment.name
        ));
        section.shown.extend(text);
    }
    section
}

/// Returns as much of a fragment as fits, cut at a line, with a note that it was cut.
fn shorten(fragment: &ContextFragment, room: u64, meter: &Meter<'_>) -> (Option<String>, u64) {
    let mut length = fragment.text.len();
    loop {
        let size = meter.text(&render(
            fragment,
            fragment.text.get(..length).unwrap_or_default(),
        ));
        let wanted = (length as u64).saturating_mul(room) / size.max(1);
        length = line_before(
            &fragment.text,
            usize::try_from(wanted)
                .unwrap_or(0)
                .min(length.saturating_sub(1)),
        );
        if length == 0 {
            return (None, 0);
        }
        let head = fragment.text.get(..length).unwrap_or_default();
        let text = render(
            fragment,
            &format!("{head}[cut here: the rest did not fit]\n"),
        );
        let given = meter.text(&text);
        if given <= room {
            return (Some(text), given);
        }
    }
}

/// Returns the end of the last whole line at or before `position`; 0 if there is none.
fn line_before(text: &str, position: usize) -> usize {
    let mut position = position;
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    text.get(..position)
        .and_then(|head| head.rfind('\n'))
        .map_or(0, |at| at + 1)
}

/// Wraps text so that it cannot close its own envelope.
fn render(fragment: &ContextFragment, text: &str) -> String {
    let mark = BlockMark::fingerprint(text.as_bytes()) & 0xffff_ffff;
    let name = one_line(&fragment.name).replace('"', "&quot;");
    let line = if text.ends_with('\n') { "" } else { "\n" };
    format!("<context name=\"{name}\">\n{text}{line}</context:{mark:08x}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::ByteBound;

    fn fragment(text: &str) -> ContextFragment {
        ContextFragment::new(crate::input::FragmentKind::Mention, "file a.md", text)
    }

    #[test]
    fn a_fragment_that_fits_is_whole() {
        let section = section(
            "turn_context",
            &[fragment("hello")],
            1_000,
            &Meter::new(&ByteBound),
        );
        assert_eq!(section.shown, section.full);
        assert!(section.shown[0].starts_with("<context name=\"file a.md\">\nhello\n</context:"));
    }

    #[test]
    fn a_fragment_over_its_cap_is_cut_at_a_line_and_says_so() {
        let text = "a line of text\n".repeat(100);
        let section = section(
            "turn_context",
            &[fragment(&text)],
            300,
            &Meter::new(&ByteBound),
        );
        assert!(section.shown[0].len() <= 300);
        assert!(section.shown[0].contains("a line of text\n[cut here"));
        assert_eq!(section.cut.len(), 1);
    }

    #[test]
    fn a_fragment_with_no_room_is_left_out_and_reported() {
        let section = section(
            "turn_context",
            &[fragment("one long line")],
            3,
            &Meter::new(&ByteBound),
        );
        assert!(section.shown.is_empty());
        assert_eq!(
            section.cut,
            ["file a.md: 0 of 60 tokens shown, the cap is 3"]
        );
    }
}
