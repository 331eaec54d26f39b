//! Reads the little of Markdown that steps and names of files hang on; never fails.

/// Returns the lines outside of fenced code.
pub(super) fn prose(body: &str) -> Vec<&str> {
    let mut inside = false;
    body.lines()
        .filter(|line| {
            let fence =
                line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            inside ^= fence;
            !inside && !fence
        })
        .collect()
}

/// Returns the paragraphs outside of fenced code, each on one line: an item of a list, a row of a
/// table and a heading are paragraphs.
pub(super) fn paragraphs(body: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in prose(body) {
        let text = line.trim();
        let alone = text.starts_with(['#', '|']);
        let begins = alone || numbered(text).or(bullet(text)).is_some();
        if text.is_empty() {
            open = false;
            continue;
        }
        match paragraphs.last_mut().filter(|_| open && !begins) {
            Some(paragraph) => {
                paragraph.push(' ');
                paragraph.push_str(text);
            }
            None => paragraphs.push(text.to_owned()),
        }
        open = !alone;
    }
    paragraphs
}

/// Reads `1. text`, `1) text`, `1、text`.
pub(super) fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    let text = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))
        .or_else(|| rest.strip_prefix('、'))
        .or_else(|| rest.strip_prefix('．'))?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Reads `- text`, `* text`, `+ text`.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let text = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Reads a heading: its level and its text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let text = rest
        .strip_prefix(' ')?
        .trim()
        .trim_end_matches('#')
        .trim_end();
    (level > 0 && !text.is_empty()).then_some((level, text))
}

#[cfg(test)]
mod tests {
    use super::{heading, paragraphs};

    #[test]
    fn paragraphs_are_put_on_one_line_and_code_left_out() {
        let body =
            "# T\nFollow\nthe guide.\n- one\n  more\n- two\n\n```\nx\n```\n| a | b |\n| c | d |";
        assert_eq!(
            paragraphs(body),
            [
                "# T",
                "Follow the guide.",
                "- one more",
                "- two",
                "| a | b |",
                "| c | d |"
            ]
        );
    }

    #[test]
    fn headings_have_a_level_and_a_text() {
        assert_eq!(heading("## Sort ##"), Some((2, "Sort")));
        assert_eq!(heading("#tag"), None);
        assert_eq!(heading("text"), None);
    }
}
