//! Versions in order: releases by their numbers, what comes before a release below it.

use std::cmp::Ordering;

/// Orders versions as written; anything is a version, and none is the lowest.
///
/// Parts between dots compare as numbers where both are, a number below a word. `1.2-beta` comes
/// before `1.2`; what follows a `+` does not count, nor does a `v` in front.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left_release, left_before) = parts(left);
    let (right_release, right_before) = parts(right);
    let by_release = dotted(left_release, right_release);
    by_release
        .then_with(|| match (left_before, right_before) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(left), Some(right)) => dotted(left, right),
        })
        .then_with(|| left.cmp(right))
}

/// Tells whether a version is a release, not something before one.
pub(crate) fn is_release(version: &str) -> bool {
    parts(version).1.is_none()
}

/// Returns the release and what comes before it.
fn parts(version: &str) -> (&str, Option<&str>) {
    let version = version.trim();
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let version = version.split_once('+').map_or(version, |(kept, _)| kept);
    match version.split_once('-') {
        Some((release, before)) => (release, Some(before)),
        None => (version, None),
    }
}

fn dotted(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            // `1.2` and `1.2.0` are one release; `1.2` comes before `1.2.1`.
            (Some(part), None) => part_order(part, "0"),
            (None, Some(part)) => part_order("0", part),
            (Some(left), Some(right)) => part_order(left, right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn part_order(left: &str, right: &str) -> Ordering {
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let part = part.trim_start_matches('0').to_owned();
        digits.then_some((part.len(), part))
    };
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) if !right.is_empty() => Ordering::Less,
        (None, Some(_)) if !left.is_empty() => Ordering::Greater,
        _ => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers_and_what_comes_before_a_release() {
        let ordered = [
            "",
            "0.9",
            "1.2-alpha",
            "1.2-beta.2",
            "1.2-beta.10",
            "1.2",
            "1.2.1",
            "1.10",
            "v2",
            "10",
            "99999999999999999999999",
            "2026-x",
        ];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by(|left, right| compare(left, right));
        assert_eq!(
            sorted[..11],
            [
                "",
                "0.9",
                "1.2-alpha",
                "1.2-beta.2",
                "1.2-beta.10",
                "1.2",
                "1.2.1",
                "1.10",
                "v2",
                "10",
                "2026-x"
            ]
        );
        assert_eq!(compare("1.2.0", "1.2"), "1.2.0".cmp("1.2"));
        assert!(is_release("1.2+build") && !is_release("1.2-rc1"));
    }
}
