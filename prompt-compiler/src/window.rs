//! The history window: cut in blocks at round boundaries, so that requests share a prefix.

/// Returns how many of the oldest pieces are left out so that at most `high` tokens are kept.
///
/// `sizes` are tokens a piece, oldest first. Once all of them exceed `high`, a whole block more than
/// needed goes, and then the start stays put until another block has come. Blocks lie on a grid of
/// their own, so that a longer history never starts earlier, and a larger `high` never starts later.
pub(crate) fn start(sizes: &[u64], high: u64) -> usize {
    let total: u64 = sizes.iter().sum();
    let excess = to_drop(total, high);
    let mut dropped = 0_u64;
    sizes
        .iter()
        .take_while(|size| {
            let goes = dropped < excess;
            dropped = dropped.saturating_add(**size);
            goes
        })
        .count()
}

/// Returns the least number of tokens to drop.
fn to_drop(total: u64, high: u64) -> u64 {
    if total <= high {
        return 0;
    }
    let block = block(high);
    let wanted = (total - high).next_multiple_of(block);
    // Where blocks double, the largest window with the smaller ones might keep more.
    let smaller = (4 * block).saturating_sub(1);
    let alternative = match block / 2 {
        0 => wanted,
        half => (total.saturating_sub(smaller)).next_multiple_of(half),
    };
    wanted.min(alternative)
}

/// Returns the size of a block: a power of two between an eighth and a quarter of `high`.
fn block(high: u64) -> u64 {
    match (high / 4).checked_ilog2() {
        Some(exponent) => 1 << exponent,
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_cut_below_the_high_water_mark() {
        assert_eq!(start(&[10, 10, 10], 30), 0);
    }

    #[test]
    fn over_the_high_water_mark_a_whole_block_goes() {
        // High water 32, blocks of 8.
        assert_eq!(start(&[8, 8, 8, 8, 1], 32), 1);
        assert_eq!(start(&[8, 8, 8, 8, 8], 32), 1);
        assert_eq!(start(&[8, 8, 8, 8, 8, 1], 32), 2);
    }

    #[test]
    fn the_start_moves_in_blocks_and_never_back() {
        let starts: Vec<usize> = (1..=16)
            .map(|rounds| start(&vec![10; rounds], 128))
            .collect();
        assert_eq!(starts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 4]);
    }

    #[test]
    fn what_alone_is_too_large_goes() {
        assert_eq!(start(&[500, 1], 20), 1);
        assert_eq!(start(&[500], 20), 1);
        assert_eq!(start(&[], 0), 0);
    }

    proptest! {
        #[test]
        fn a_longer_history_never_starts_earlier_and_a_larger_window_never_later(
            sizes in proptest::collection::vec(0_u64..300, 1..60),
            high in 0_u64..5_000,
            more in 0_u64..600,
        ) {
            let whole = start(&sizes, high);
            prop_assert!(start(&sizes[..sizes.len() - 1], high) <= whole);
            prop_assert!(start(&sizes, high + more) <= whole);
            prop_assert!(sizes[whole..].iter().sum::<u64>() <= high);
        }
    }
}
