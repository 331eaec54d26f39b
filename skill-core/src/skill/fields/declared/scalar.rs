//! Durations, rates, numbers and lists as people write them.

use std::time::Duration;

use crate::skill::yaml::{Kind, Node};

/// Returns `500ms`, `30s`, `10m`, `1h` as a duration.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text
        .trim()
        .split_at(text.trim().find(|letter: char| !letter.is_ascii_digit())?);
    let count: u64 = digits.parse().ok()?;
    let milliseconds = match unit.trim() {
        "ms" => count,
        "s" | "sec" => count.checked_mul(1_000)?,
        "m" | "min" => count.checked_mul(60_000)?,
        "h" => count.checked_mul(3_600_000)?,
        _ => return None,
    };
    Some(Duration::from_millis(milliseconds)).filter(|duration| !duration.is_zero())
}

/// Returns `60/min` as a count and a time.
pub(super) fn rate(text: &str) -> Option<(u32, Duration)> {
    let (count, per) = text.split_once('/')?;
    let per = match per.trim() {
        "s" | "sec" | "second" => 1,
        "m" | "min" | "minute" => 60,
        "h" | "hour" => 3_600,
        "d" | "day" => 86_400,
        _ => return None,
    };
    let count = count.trim().parse().ok().filter(|count| *count > 0)?;
    Some((count, Duration::from_secs(per)))
}

/// Returns a list of texts, or one text, that are not blank.
pub(super) fn texts(node: &Node<'_>) -> Option<Vec<String>> {
    let filled = |node: &Node<'_>| {
        let text = node.text()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    match &node.kind {
        Kind::List { items, .. } => items.iter().map(filled).collect(),
        Kind::Scalar { .. } if node.is_null() => Some(Vec::new()),
        Kind::Scalar { .. } => Some(vec![filled(node)?]),
        Kind::Map { .. } | Kind::Alias(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_are_read_as_people_write_them() {
        assert_eq!(duration("200ms"), Some(Duration::from_millis(200)));
        assert_eq!(duration(" 30s"), Some(Duration::from_secs(30)));
        assert_eq!(duration("10 m"), Some(Duration::from_secs(600)));
        for wrong in [
            "",
            "30",
            "s",
            "-1s",
            "0s",
            "1.5s",
            "1 week",
            "99999999999999999h",
        ] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert_eq!(rate("60/min"), Some((60, Duration::from_secs(60))));
        for wrong in ["60", "0/s", "x/s", "5/fortnight"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
