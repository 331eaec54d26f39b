//! The one cap on what a tool's result may put before the model.

/// The largest result, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Room kept for the sentence that says what was cut.
pub(crate) const NOTICE_BYTES: usize = 200;

/// Cuts `content` to `limit` bytes, never inside a character, and says what was cut.
///
/// The cut falls on a line end where one is near. Tools that can continue from a position cut
/// themselves before this and name the position; this is the net below them.
pub(crate) fn cap(content: String, limit: usize) -> String {
    if content.len() <= limit {
        return content;
    }
    let total = content.len();
    let kept = cut_at_line(&content, limit.saturating_sub(NOTICE_BYTES));
    format!(
        "{kept}\n[cut: these are the first {} of {total} bytes; to read on, ask for a smaller or later part]",
        kept.len()
    )
}

/// Returns the longest start of `text` of at most `limit` bytes that ends on a character.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn cut_at_line(text: &str, limit: usize) -> &str {
    let kept = cut(text, limit);
    match kept.rfind('\n') {
        Some(end) if end >= kept.len() / 2 => kept.get(..end).unwrap_or(kept),
        _ => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_exactly_the_limit_is_left_alone() {
        let content = "x".repeat(MAX_OUTPUT_BYTES);
        assert_eq!(cap(content.clone(), MAX_OUTPUT_BYTES), content);
    }

    #[test]
    fn a_longer_result_is_cut_between_characters_and_says_so_within_the_limit() {
        for filler in ["a", "é", "中", "😀"] {
            let content = filler.repeat(100_000);
            let total = content.len();
            let capped = cap(content, MAX_OUTPUT_BYTES);
            assert!(capped.len() <= MAX_OUTPUT_BYTES);
            let (kept, notice) = capped.split_once('\n').unwrap();
            assert!(kept.replace(filler, "").is_empty());
            assert_eq!(
                notice,
                format!(
                    "[cut: these are the first {} of {total} bytes; to read on, ask for a smaller or later part]",
                    kept.len()
                )
            );
        }
    }

    #[test]
    fn a_cut_falls_on_a_line_end_where_one_is_near() {
        let capped = cap("0123456789\n".repeat(10_000), MAX_OUTPUT_BYTES);
        assert!(capped.contains("0123456789\n[cut: "));
    }
}
