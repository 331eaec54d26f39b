//! Keys of the typed session state that says which skills are loaded.
//!
//! `temp:skill:loaded:<agent>/<skill>`, `temp:skill:docs:<agent>/<skill>` and
//! `temp:skill:order:<agent>`; the agent is percent-encoded, so that no agent's prefix can match
//! another agent's keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns the key that says `skill` is loaded for `agent`.
pub fn loaded_key(agent: &str, skill: &str) -> String {
    format!("{}{skill}", loaded_prefix(agent))
}

/// Returns the prefix of every loaded key of `agent`.
pub fn loaded_prefix(agent: &str) -> String {
    format!("temp:skill:loaded:{}/", encode(agent))
}

/// What every key of selected documents begins with.
pub const DOCS_PREFIX: &str = "temp:skill:docs:";

/// What a value begins with that adds documents to those selected.
pub const DOCS_ADDITION: &str = "+";

/// Returns the key of the documents of `skill` selected by `agent`: `*` or a JSON array.
pub fn docs_key(agent: &str, skill: &str) -> String {
    format!("{}{skill}", docs_prefix(agent))
}

/// Returns the prefix of every key of documents that `agent` selected.
pub fn docs_prefix(agent: &str) -> String {
    format!("{DOCS_PREFIX}{}/", encode(agent))
}

/// Returns the value that adds `docs` to those selected when the change is applied, so that calls
/// that run at the same time lose nothing of each other.
pub fn docs_addition<'a>(docs: impl IntoIterator<Item = &'a str>) -> String {
    format!("{DOCS_ADDITION}{}", serde_json::Value::from_iter(docs))
}

/// Returns the key of the recency list of `agent`: a JSON array, oldest first.
pub fn order_key(agent: &str) -> String {
    format!("temp:skill:order:{}", encode(agent))
}

/// Returns the key of a fact that the session keeps for the user.
pub fn fact_key(name: &str) -> String {
    format!("{FACTS}{name}")
}

/// Returns the facts in a session's state, by name; what was taken back is not among them.
pub fn facts(state: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let facts = state.iter().filter_map(|(key, value)| {
        let name = key.strip_prefix(FACTS)?;
        (!value.is_empty()).then(|| (name.to_owned(), value.clone()))
    });
    facts.collect()
}

/// The prefix of the keys of facts.
const FACTS: &str = "memory:";

/// Percent-encodes everything but the unreserved characters of RFC 3986.
fn encode(agent: &str) -> String {
    let mut encoded = String::with_capacity(agent.len());
    for byte in agent.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_never_matches_a_key_of_an_agent_below_its_name() {
        assert!(!loaded_key("agent/child", "x").starts_with(&loaded_prefix("agent")));
        assert_eq!(
            loaded_key("agent/child", "x"),
            "temp:skill:loaded:agent%2Fchild/x"
        );
        assert_eq!(
            loaded_key("代理", "calc"),
            "temp:skill:loaded:%E4%BB%A3%E7%90%86/calc"
        );
        assert_eq!(order_key("a b"), "temp:skill:order:a%20b");
    }
}
