//! Suggestions for a name that was not found, made from visible names alone.

use crate::skill::fold;

/// Returns at most `limit` of `names` that look like `wanted`, nearest first.
///
/// Near is: the part after the last `/`, `:` or `.` is equal, one name begins with the other, or
/// the edit distance is at most a third of the length.
pub(crate) fn nearest<'a>(
    names: impl Iterator<Item = &'a str>,
    wanted: &str,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = fold(wanted);
    if wanted.is_empty() || wanted.chars().count() > LONGEST {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &str)> = names
        .filter_map(|name| rank(&fold(name), &wanted).map(|rank| (rank, name)))
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(limit)
        .map(|(_, name)| name)
        .collect()
}

/// A longer name is no misspelling of one of ours; comparing it would only cost time.
const LONGEST: usize = 128;

fn rank(name: &str, wanted: &str) -> Option<usize> {
    let distance = distance(name, wanted);
    let longer = name.chars().count().max(wanted.chars().count());
    let leaf = leaf(name) == leaf(wanted);
    let prefix =
        wanted.chars().count() >= 3 && (name.starts_with(wanted) || wanted.starts_with(name));
    (leaf || prefix || distance * 3 <= longer).then_some(if leaf { 0 } else { distance })
}

fn leaf(name: &str) -> &str {
    name.rsplit(['/', ':', '.']).next().unwrap_or(name)
}

/// Returns the number of letters to insert, delete, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut last = None;
    for (row, letter) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in right.iter().enumerate() {
            let at =
                |list: &[usize], index: usize| list.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&above, column + 1) + 1)
                .min(at(&current, column) + 1)
                .min(at(&above, column) + usize::from(letter != other));
            let crossed =
                column > 0 && last == Some(other) && right.get(column - 1) == Some(&letter);
            if crossed {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
        last = Some(letter);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_leaves_and_beginnings_are_near_and_the_rest_is_not() {
        let names = ["commit", "commit-commands:commit", "pdf", "deploy-site"];
        let check = |wanted| nearest(names.into_iter(), wanted, 5);
        assert_eq!(check("comit"), ["commit"]);
        assert_eq!(check("x:commit"), ["commit", "commit-commands:commit"]);
        assert_eq!(check("deploy"), ["deploy-site"]);
        assert_eq!(check("fdp"), Vec::<&str>::new());
        assert_eq!(check("pfd"), ["pdf"]);
        assert_eq!(check(""), Vec::<&str>::new());
    }
}
