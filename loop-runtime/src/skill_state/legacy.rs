//! State of an older format, whose keys name no agent: moved to the agent that loaded the skill.

use std::collections::BTreeMap;

use skill_core::StateDelta;
use skill_core::state::{docs_key, loaded_key};

use super::{State, apply, merge};

const LOADED: &str = "temp:skill:loaded:";
const DOCS: &str = "temp:skill:docs:";
const ORDER: &str = "temp:skill:loaded_order:";

/// Returns the change that moves what has keys of the older format; `None` where nothing has.
///
/// A skill goes to the agent that `loaders` names, which is the one whose call loaded it last, else
/// to `agent`. What that agent has under its own keys already stays. The old keys become
/// tombstones. Keys with a slash are those of the present format and never taken for old ones.
pub fn migration(
    state: &State,
    loaders: &BTreeMap<String, String>,
    agent: &str,
) -> Option<StateDelta> {
    if agent.trim().is_empty() {
        return None;
    }
    let (mut moved, mut delta) = (state.clone(), StateDelta::default());
    for (skill, value) in old(state, LOADED) {
        let owner = loaders.get(skill).map_or(agent, String::as_str);
        let mut own = StateDelta::default();
        if state.get(&loaded_key(owner, skill)).is_none() {
            own.set(loaded_key(owner, skill), value);
            if let Some(docs) = state.get(&format!("{DOCS}{skill}"))
                && state.get(&docs_key(owner, skill)).is_none()
            {
                own.set(docs_key(owner, skill), docs);
            }
        }
        let applied = apply(&mut moved, owner, &own, None);
        delta.0.extend(applied.0);
    }
    let prefixes = [LOADED, DOCS].into_iter();
    let stale = prefixes
        .flat_map(|prefix| old(state, prefix).map(move |(skill, _)| format!("{prefix}{skill}")));
    let order = state.get(ORDER).filter(|value| !value.is_empty());
    for key in stale.chain(order.map(|_| ORDER.to_owned())) {
        delta.set(key, "");
    }
    merge(&mut moved, &delta);
    (!delta.is_empty()).then_some(delta)
}

/// Returns skill and value of the keys of the older format under `prefix`.
fn old<'s>(state: &'s State, prefix: &'static str) -> impl Iterator<Item = (&'s str, &'s str)> {
    state
        .range(prefix.to_owned()..)
        .map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value.as_str())))
        .filter(|(skill, value)| !skill.is_empty() && !skill.contains('/') && !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill_state::{DocsSelection, docs, loaded};

    fn state(pairs: &[(&str, &str)]) -> State {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(pair).collect()
    }

    fn migrated(mut state: State, loaders: &[(&str, &str)], agent: &str) -> State {
        let loaders = loaders
            .iter()
            .map(|(skill, agent)| ((*skill).to_owned(), (*agent).to_owned()))
            .collect();
        if let Some(delta) = migration(&state, &loaders, agent) {
            merge(&mut state, &delta);
        }
        assert_eq!(migration(&state, &loaders, agent), None, "a second time");
        state
    }

    #[test]
    fn d_070_old_keys_move_to_the_agent_that_loaded_the_skill() {
        let old = state(&[
            ("temp:skill:loaded:demo", "1"),
            ("temp:skill:docs:demo", "[\"USAGE.md\"]"),
            ("other", "kept"),
        ]);
        let new = migrated(old, &[("demo", "sub")], "coordinator");
        assert_eq!(loaded(&new, "sub"), ["demo"]);
        assert_eq!(
            docs(&new, "sub", "demo"),
            Some(DocsSelection::Some(vec!["USAGE.md".into()]))
        );
        assert!(loaded(&new, "coordinator").is_empty());
        assert_eq!(new["temp:skill:loaded:demo"], "");
        assert_eq!(new["other"], "kept");
    }

    #[test]
    fn d_070_what_nobody_is_known_to_have_loaded_goes_to_the_agent_at_hand() {
        let old = state(&[
            ("temp:skill:loaded:demo", "1"),
            ("temp:skill:loaded_order:", "[]"),
        ]);
        let new = migrated(old, &[], "main");
        assert_eq!(loaded(&new, "main"), ["demo"]);
        assert_eq!(new["temp:skill:loaded_order:"], "");
    }

    #[test]
    fn d_070_what_an_agent_has_of_its_own_stays() {
        let old = state(&[
            ("temp:skill:loaded:demo", "1"),
            ("temp:skill:docs:demo", "*"),
            ("temp:skill:loaded:main/demo", "1"),
            ("temp:skill:docs:main/demo", "[]"),
        ]);
        let new = migrated(old, &[], "main");
        assert_eq!(
            docs(&new, "main", "demo"),
            Some(DocsSelection::Some(vec![]))
        );
    }

    #[test]
    fn d_070_without_an_agent_nothing_is_touched_and_present_keys_are_no_old_ones() {
        let old = state(&[("temp:skill:loaded:demo", "1")]);
        assert_eq!(migrated_blank(&old), None);
        let present = state(&[("temp:skill:loaded:coordinator/demo", "1")]);
        assert_eq!(migration(&present, &BTreeMap::new(), "other"), None);
    }

    fn migrated_blank(state: &State) -> Option<StateDelta> {
        migration(state, &BTreeMap::new(), " ")
    }
}
