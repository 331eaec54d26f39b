//! Differences between two texts, as a person reads them.

use std::time::Duration;

use similar::TextDiff;

/// How long the comparison may take before it gets coarser.
const TIME: Duration = Duration::from_millis(200);

/// Returns what changes from one text to the other, as a unified diff; empty where nothing does.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    TextDiff::configure()
        .timeout(TIME)
        .diff_lines(before, after)
        .unified_diff()
        .header(path, path)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_the_changed_lines_and_nothing_for_equal_texts() {
        assert_eq!(
            unified("f", "a\nb\n", "a\nc\n"),
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
        assert_eq!(unified("f", "a\n", "a\n"), "");
    }
}
