//! Which skills are open: typed state under the keys of [`skill_core::state`], never text.

mod declared;
mod docs;
mod legacy;

use std::collections::BTreeMap;

use skill_core::StateDelta;
use skill_core::state::{DOCS_PREFIX, docs_key, docs_prefix, loaded_key, loaded_prefix, order_key};

pub(crate) use declared::Declared;
pub use {
    declared::{LoadError, LoadErrorKind, SkillLoad, loads_in},
    docs::DocsSelection,
    legacy::migration,
};

/// A session's state: key → value. An empty value is a tombstone and reads as absent.
pub type State = BTreeMap<String, String>;

/// Applies what one call declares, and keeps the recency list and the cap.
///
/// Deltas are applied in call order. The change that results, with the recency list and the
/// tombstones of skills that had to go, is returned as one delta.
pub fn apply(
    state: &mut State,
    agent: &str,
    declared: &StateDelta,
    max_loaded: Option<usize>,
) -> StateDelta {
    let mut delta = declared.clone();
    merge(state, declared);
    let touched = touched(state, agent, declared);
    if touched.is_empty() {
        return delta;
    }
    let mut order = order(state, agent);
    order.retain(|skill| !touched.contains(skill));
    order.extend(touched);
    let excess = max_loaded.map_or(0, |most| order.len().saturating_sub(most.max(1)));
    let mut kept = StateDelta::default();
    for evicted in order.drain(..excess) {
        kept.set(loaded_key(agent, &evicted), "");
        kept.set(docs_key(agent, &evicted), "");
    }
    kept.set(order_key(agent), order_text(&order));
    merge(state, &kept);
    delta.0.extend(kept.0);
    delta
}

/// Returns the open skills that a change loads, or selects documents of.
fn touched(state: &State, agent: &str, declared: &StateDelta) -> Vec<String> {
    let prefixes = [loaded_prefix(agent), docs_prefix(agent)];
    let mut touched: Vec<String> = Vec::new();
    for (key, value) in &declared.0 {
        let skill = prefixes.iter().find_map(|prefix| key.strip_prefix(prefix));
        let Some(skill) = skill.filter(|_| !value.is_empty()) else {
            continue;
        };
        let open = state
            .get(&loaded_key(agent, skill))
            .is_some_and(|loaded| !loaded.is_empty());
        if open && !touched.iter().any(|known| known == skill) {
            touched.push(skill.to_owned());
        }
    }
    touched
}

/// Applies a delta as it stands; a selection of documents may add to the one there.
pub fn merge(state: &mut State, delta: &StateDelta) {
    for (key, value) in &delta.0 {
        let value = if key.starts_with(DOCS_PREFIX) {
            let current = state.get(key).map_or("", String::as_str);
            docs::changed(current, value)
        } else {
            value.clone()
        };
        state.insert(key.clone(), value);
    }
}

/// Returns the open skills of `agent`, the least recently touched first.
pub fn loaded(state: &State, agent: &str) -> Vec<String> {
    let prefix = loaded_prefix(agent);
    let open: Vec<&str> = state
        .range(prefix.clone()..)
        .take_while(|(key, _)| key.starts_with(&prefix))
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(key, _)| key.strip_prefix(&prefix))
        .collect();
    let mut ordered: Vec<String> = order(state, agent);
    ordered.retain(|skill| open.contains(&skill.as_str()));
    let unordered: Vec<String> = open
        .iter()
        .filter(|skill| !ordered.iter().any(|known| known == *skill))
        .map(|skill| (*skill).to_owned())
        .collect();
    // What has no place in the list is older than whatever has one.
    [unordered, ordered].concat()
}

/// Returns the open skills of `agent`, each with its documents as state holds them.
pub fn open_docs(state: &State, agent: &str) -> BTreeMap<String, String> {
    let docs = |skill: &String| state.get(&docs_key(agent, skill)).cloned();
    loaded(state, agent)
        .into_iter()
        .map(|skill| {
            let docs = docs(&skill).unwrap_or_default();
            (skill, docs)
        })
        .collect()
}

/// Returns the documents selected for `skill`; `None` when the selection cannot be read.
pub fn docs(state: &State, agent: &str, skill: &str) -> Option<DocsSelection> {
    let value = state.get(&docs_key(agent, skill));
    DocsSelection::read(value.map_or("", String::as_str))
}

/// Returns the delta that closes `skills` for `agent`.
pub fn close(state: &State, agent: &str, skills: &[String]) -> StateDelta {
    let mut delta = StateDelta::default();
    for skill in skills {
        delta.set(loaded_key(agent, skill), "");
        delta.set(docs_key(agent, skill), "");
    }
    let mut order = order(state, agent);
    order.retain(|known| !skills.contains(known));
    delta.set(order_key(agent), order_text(&order));
    delta
}

/// Reads the recency list: trimmed, without blanks, each name once; bad JSON is an empty list.
fn order(state: &State, agent: &str) -> Vec<String> {
    let text = state.get(&order_key(agent)).map_or("", String::as_str);
    let names: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    let mut order: Vec<String> = Vec::with_capacity(names.len());
    for name in names
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty())
    {
        if !order.iter().any(|known| known == name) {
            order.push(name.to_owned());
        }
    }
    order
}

fn order_text(order: &[String]) -> String {
    if order.is_empty() {
        return String::new();
    }
    // A list of strings always serialises.
    serde_json::to_string(order).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(state: &mut State, skill: &str, most: Option<usize>) -> StateDelta {
        let mut delta = StateDelta::default();
        delta.set(loaded_key("main", skill), "1");
        apply(state, "main", &delta, most)
    }

    #[test]
    fn a_load_sets_its_key_and_touches_the_order() {
        let mut state = State::new();
        load(&mut state, "calc", None);
        assert_eq!(state["temp:skill:loaded:main/calc"], "1");
        assert_eq!(state["temp:skill:order:main"], "[\"calc\"]");
    }

    #[test]
    fn over_the_cap_the_oldest_goes_in_one_delta() {
        let mut state = State::new();
        for skill in ["a", "b", "c"] {
            load(&mut state, skill, Some(3));
        }
        let delta = load(&mut state, "d", Some(3));
        assert_eq!(delta.0["temp:skill:loaded:main/a"], "");
        assert_eq!(delta.0["temp:skill:docs:main/a"], "");
        assert_eq!(delta.0["temp:skill:order:main"], "[\"b\",\"c\",\"d\"]");
        assert_eq!(loaded(&state, "main"), ["b", "c", "d"]);
    }

    #[test]
    fn d_055_selecting_documents_touches_and_over_the_cap_the_oldest_goes() {
        let mut state = State::new();
        for skill in ["b", "c", "d", "a"] {
            load(&mut state, skill, None);
        }
        let mut delta = StateDelta::default();
        delta.set(docs_key("main", "a"), "[\"x.md\"]");
        apply(&mut state, "main", &delta, Some(3));
        assert_eq!(loaded(&state, "main"), ["c", "d", "a"]);
        delta = StateDelta::default();
        delta.set(docs_key("main", "c"), "*");
        apply(&mut state, "main", &delta, Some(3));
        assert_eq!(loaded(&state, "main"), ["d", "a", "c"]);
    }

    #[test]
    fn documents_of_a_skill_that_is_not_open_open_nothing() {
        let mut state = State::new();
        let mut delta = StateDelta::default();
        delta.set(docs_key("main", "a"), "*");
        apply(&mut state, "main", &delta, None);
        assert!(loaded(&state, "main").is_empty());
    }

    #[test]
    fn touching_moves_to_the_end() {
        let mut state = State::new();
        for skill in ["a", "b", "c", "b"] {
            load(&mut state, skill, None);
        }
        assert_eq!(loaded(&state, "main"), ["a", "c", "b"]);
    }

    #[test]
    fn a_damaged_order_list_is_cleaned_or_empty() {
        let mut state = State::new();
        state.insert(order_key("main"), "[\"a\",\" b \",\"a\",\"\",\"c\"]".into());
        assert_eq!(order(&state, "main"), ["a", "b", "c"]);
        state.insert(order_key("main"), "{".into());
        assert!(order(&state, "main").is_empty());
    }

    #[test]
    fn one_agent_never_sees_what_another_opened() {
        let mut state = State::new();
        load(&mut state, "calc", None);
        let mut delta = StateDelta::default();
        delta.set(loaded_key("main/child", "notes"), "1");
        apply(&mut state, "main/child", &delta, None);
        assert_eq!(loaded(&state, "main"), ["calc"]);
        assert_eq!(loaded(&state, "main/child"), ["notes"]);
    }

    #[test]
    fn closing_writes_tombstones_that_read_as_absent() {
        let mut state = State::new();
        load(&mut state, "calc", None);
        let delta = close(&state, "main", &["calc".into()]);
        merge(&mut state, &delta);
        assert!(loaded(&state, "main").is_empty());
        assert_eq!(state["temp:skill:order:main"], "");
    }

    #[test]
    fn a_corrupt_selection_of_documents_is_told_apart_from_an_empty_one() {
        let mut state = State::new();
        assert_eq!(
            docs(&state, "main", "calc"),
            Some(DocsSelection::Some(Vec::new()))
        );
        state.insert(docs_key("main", "calc"), "*".into());
        assert_eq!(docs(&state, "main", "calc"), Some(DocsSelection::All));
        state.insert(docs_key("main", "calc"), "{".into());
        assert_eq!(docs(&state, "main", "calc"), None);
    }
}
