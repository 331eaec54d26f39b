//! Layers laid over each other, lowest first; every value keeps the place it came from.

use std::collections::{BTreeMap, BTreeSet};

use super::node::{Entry, Kind, Node};
use super::origin::{Layer, Origin, Origins, Step, spelled};

/// How two values of one key become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The upper one stands; maps are merged key by key.
    Replace,
    /// Both lists, the lower one first.
    Append,
    /// Both lists, the upper one first.
    Prepend,
    /// A list of the only things allowed: who is not free to widen it can only narrow it.
    Narrow,
}

fn rule(steps: &[Step]) -> Rule {
    let keys: Vec<&str> = steps
        .iter()
        .map(|step| {
            if let Step::Key(key) = step {
                key.as_str()
            } else {
                ""
            }
        })
        .collect();
    match keys.as_slice() {
        ["tools", "policy"] | ["skills", "disabled" | "exclude" | "name_only"] => Rule::Append,
        ["skills", "roots"] => Rule::Prepend,
        ["tools", "allow"] | ["assistants", _, "tools"] => Rule::Narrow,
        _ => Rule::Replace,
    }
}

/// Merges layers, lowest first.
pub(super) fn merge(layers: impl IntoIterator<Item = Node>) -> Node {
    let empty = Node {
        kind: Kind::Map(Vec::new()),
        origin: Origin::BuiltIn,
    };
    layers
        .into_iter()
        .fold(empty, |lower, upper| lay(lower, upper, &mut Vec::new()))
}

fn lay(lower: Node, upper: Node, steps: &mut Vec<Step>) -> Node {
    let kind = match (lower.kind, upper.kind) {
        (Kind::Map(lower), Kind::Map(upper)) => Kind::Map(lay_maps(lower, upper, steps)),
        (Kind::List(below), Kind::List(above)) => match rule(steps) {
            Rule::Replace => Kind::List(above),
            Rule::Append => Kind::List(distinct(below.into_iter().chain(above))),
            Rule::Prepend => Kind::List(distinct(above.into_iter().chain(below))),
            Rule::Narrow => return narrowed((below, lower.origin), (above, upper.origin)),
        },
        (_, above) => above,
    };
    Node {
        kind,
        origin: upper.origin,
    }
}

fn lay_maps(lower: Vec<Entry>, upper: Vec<Entry>, steps: &mut Vec<Step>) -> Vec<Entry> {
    let mut merged = lower;
    let places: BTreeMap<String, usize> = merged
        .iter()
        .enumerate()
        .map(|(place, entry)| (entry.key.clone(), place))
        .collect();
    for entry in upper {
        let existing = places
            .get(&entry.key)
            .and_then(|place| merged.get_mut(*place));
        let Some(existing) = existing else {
            merged.push(entry);
            continue;
        };
        steps.push(Step::Key(entry.key));
        let lower = std::mem::replace(&mut existing.value, entry.value.clone());
        existing.value = lay(lower, entry.value, steps);
        existing.origin = entry.origin;
        steps.pop();
    }
    merged
}

fn distinct(items: impl Iterator<Item = Node>) -> Vec<Node> {
    let mut seen = BTreeSet::new();
    items
        .filter(|item| seen.insert(item.to_json().to_string()))
        .collect()
}

/// The user's own layers replace each other; what the machine's owner allows, nobody widens, and
/// a project never widens anything.
fn narrowed(
    (below, below_origin): (Vec<Node>, Origin),
    (above, above_origin): (Vec<Node>, Origin),
) -> Node {
    let bound = is_from(&below_origin, Layer::Managed);
    if !bound && !is_from(&above_origin, Layer::Project) {
        return Node {
            kind: Kind::List(above),
            origin: above_origin,
        };
    }
    let kept: BTreeSet<&str> = above.iter().filter_map(Node::text).collect();
    let kept = |item: &Node| item.text().is_some_and(|text| kept.contains(text));
    let items = below.into_iter().filter(kept).collect();
    // A bound list stays the owner's, so that the layers to come are bound too.
    let origin = if bound { below_origin } else { above_origin };
    Node {
        kind: Kind::List(items),
        origin,
    }
}

fn is_from(origin: &Origin, wanted: Layer) -> bool {
    matches!(origin, Origin::File { layer, .. } if *layer == wanted)
}

/// Lists where every value of a tree came from.
pub(super) fn origins(root: &Node) -> Origins {
    let mut origins = Origins::default();
    collect(root, &mut Vec::new(), &mut origins);
    origins
}

fn collect(node: &Node, steps: &mut Vec<Step>, origins: &mut Origins) {
    let leaf = node.entries().is_empty() && node.items().is_empty();
    if leaf && !steps.is_empty() {
        origins.insert(spelled(steps), node.origin.clone());
    }
    for entry in node.entries() {
        steps.push(Step::Key(entry.key.clone()));
        collect(&entry.value, steps, origins);
        steps.pop();
    }
    for (index, item) in node.items().iter().enumerate() {
        steps.push(Step::Index(index));
        collect(item, steps, origins);
        steps.pop();
    }
}

#[cfg(test)]
mod tests;
