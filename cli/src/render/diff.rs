//! Differences between two texts, as a person reads them.

use std::time::Duration;

use similar::TextDiff;
use skill_core::TreeFile;

use crate::render::terminal::on_one_line;

/// How long the comparison may take before it gets coarser.
const TIME: Duration = Duration::from_millis(200);

/// Returns what changes from one text to the other, as a unified diff; empty where nothing does.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    TextDiff::configure()
        .timeout(TIME)
        .diff_lines(before, after)
        .unified_diff()
        .header(&on_one_line(path), &on_one_line(path))
        .to_string()
}

/// Returns how a file of a package changed: what it became, which its text does not show, and the
/// diff of the texts where both are known.
pub(crate) fn with_kind(
    was: Option<&TreeFile>,
    is: Option<&TreeFile>,
    diff: Option<String>,
) -> Option<String> {
    match (was.map(|file| file.kind), is.map(|file| file.kind)) {
        (Some(was), Some(is)) if was != is => {
            let became = format!("{} -> {}\n", was.as_str(), is.as_str());
            Some(became + &diff.unwrap_or_default())
        }
        _ => diff,
    }
}

#[cfg(test)]
mod tests {
    use skill_core::TreeFileKind;

    use super::*;

    #[test]
    fn a_diff_shows_the_changed_lines_and_nothing_for_equal_texts() {
        assert_eq!(
            unified("f", "a\nb\n", "a\nc\n"),
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
        assert_eq!(unified("f", "a\n", "a\n"), "");
    }

    #[test]
    fn what_a_file_became_is_shown_where_its_text_is_the_same() {
        let file = |kind| TreeFile {
            kind,
            sha256: String::new(),
            bytes: 0,
        };
        let (plain, runs) = (file(TreeFileKind::File), file(TreeFileKind::Executable));
        let shown = with_kind(Some(&plain), Some(&runs), Some(String::new()));
        assert_eq!(shown.as_deref(), Some("file -> executable\n"));
        assert_eq!(with_kind(Some(&runs), Some(&runs), None), None);
        assert_eq!(
            with_kind(None, Some(&runs), Some("d".into())).as_deref(),
            Some("d")
        );
    }
}
