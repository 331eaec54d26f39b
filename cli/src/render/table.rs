//! Tables for people: columns padded by what they take on a screen.

use unicode_width::UnicodeWidthStr;

/// Returns rows as lines, every column but the last padded to its widest cell.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_as_two_columns() {
        let rows = [
            vec!["周报".to_owned(), "a".to_owned()],
            vec!["ab".to_owned(), "b".to_owned()],
        ];
        assert_eq!(table(&rows), "周报  a\nab    b\n");
    }
}
