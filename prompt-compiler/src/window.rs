//! The history window: cut in blocks at round boundaries, so that requests share a prefix.

/// Returns how many of the oldest rounds are left out.
///
/// `sizes` are tokens per round, oldest first. Once the rounds kept exceed `high`, the oldest are
/// dropped until the rest is at most `low`; then the start stays put until `high` is exceeded
/// again. The answer for a longer history never starts earlier.
pub(crate) fn start(sizes: &[u64], low: u64, high: u64) -> usize {
    let (mut first, mut kept) = (0, 0_u64);
    for (index, size) in sizes.iter().enumerate() {
        kept = kept.saturating_add(*size);
        if kept <= high {
            continue;
        }
        for (dropped, oldest) in sizes.iter().enumerate().take(index).skip(first) {
            if kept <= low {
                break;
            }
            kept = kept.saturating_sub(*oldest);
            first = dropped + 1;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_below_the_high_water_mark() {
        assert_eq!(start(&[10, 10, 10], 10, 30), 0);
    }

    #[test]
    fn over_the_high_water_mark_the_cut_goes_down_to_the_low_one() {
        assert_eq!(start(&[10, 10, 10, 10], 20, 30), 2);
    }

    #[test]
    fn the_start_moves_in_blocks_and_never_back() {
        let starts: Vec<usize> = (1..=12)
            .map(|rounds| start(&vec![10; rounds], 60, 100))
            .collect();
        assert_eq!(starts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5]);
    }

    #[test]
    fn the_newest_round_is_kept_however_large() {
        assert_eq!(start(&[10, 500], 20, 30), 1);
        assert_eq!(start(&[500], 20, 30), 0);
    }
}
