//! What a skill needs of the machine, read from its metadata.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skill::keys::normal;
use crate::skill::yaml::{self, Kind, Node};

/// What has to be there for a skill to work; everything empty needs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// Programs that must all be found.
    pub programs: Vec<String>,
    /// Programs of which one must be found.
    pub any_program: Vec<String>,
    /// Environment variables that must all be set.
    pub env: Vec<String>,
    /// Operating systems of which one must be running: `linux`, `darwin`, `win32`.
    pub os: Vec<String>,
}

impl Requirements {
    /// Tells whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        [&self.programs, &self.any_program, &self.env, &self.os]
            .iter()
            .all(|list| list.is_empty())
    }
}

/// The keys of `metadata` below which requirements are written: one dialect under all its names.
const DIALECTS: &[&str] = &["openclaw", "clawdbot", "clawdis", "moltbot", "tekne"];

/// Returns what `metadata` requires, and whether some of it could not be understood.
pub(crate) fn read(metadata: &Value) -> (Requirements, bool) {
    let mut requirements = Requirements::default();
    let mut sound = true;
    let parsed;
    let metadata = match metadata {
        // One registry writes all of it as JSON in a text.
        Value::String(text) if text.trim_start().starts_with('{') => {
            parsed = serde_json::from_str(text).unwrap_or_default();
            sound = parsed != Value::Null || !mentions(text);
            &parsed
        }
        other => other,
    };
    for own in below(metadata, DIALECTS) {
        let requires: Vec<&Value> = below(own, &["requires"]).collect();
        sound &= match own {
            Value::Object(_) | Value::Null => true,
            Value::String(text) => !mentions(text),
            Value::Array(list) => list.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        };
        let is_sound = |requires: &&Value| requires.is_object() || requires.is_null();
        sound &= requires.iter().all(is_sound);
        let all = |key: &'static [&'static str]| {
            let within = requires
                .iter()
                .flat_map(move |requires| below(requires, key));
            within.collect::<Vec<_>>()
        };
        let mut add = |list: &mut Vec<String>, values: Vec<&Value>| {
            for value in values {
                match names(value) {
                    Some(more) => list.extend(more),
                    None => sound = false,
                }
            }
        };
        add(&mut requirements.programs, all(&["bins"]));
        add(&mut requirements.any_program, all(&["anybins"]));
        add(&mut requirements.env, all(&["env"]));
        let os: Vec<&Value> = below(own, &["os"]).collect();
        let os = if os.is_empty() { all(&["os"]) } else { os };
        add(&mut requirements.os, os);
    }
    (requirements, sound)
}

/// Returns the values of an object whose keys, in their normal spelling, are among `keys`.
fn below<'v>(value: &'v Value, keys: &'v [&str]) -> impl Iterator<Item = &'v Value> {
    let object = value.as_object().into_iter().flatten();
    object
        .filter(|(key, _)| keys.contains(&&*normal(key)))
        .map(|(_, value)| value)
}

/// Tells whether a text that could not be read may ask for something.
fn mentions(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = ["requires", "bins"];
    words.iter().any(|word| lower.contains(word))
}

/// Tells whether a tree shows all that it may require: nothing stands behind an alias or a merge, and
/// no key is there twice.
pub(crate) fn is_clear(metadata: &Node<'_>) -> bool {
    match &metadata.kind {
        Kind::Alias(_) => false,
        Kind::List { .. } => true,
        Kind::Scalar { text, .. } if text.trim_start().starts_with('{') => {
            // Two keys of one name show in the tree alone; what is no YAML was judged as JSON.
            yaml::parse(text)
                .ok()
                .flatten()
                .is_none_or(|root| !matches!(root.kind, Kind::Map { .. }) || is_clear(&root))
        }
        Kind::Scalar { .. } => true,
        Kind::Map { pairs } => {
            let keys = || pairs.iter().map(|(key, _)| dialect(key));
            let twins = keys().flatten().count() > 1
                && pairs.iter().enumerate().any(|(at, (key, _))| {
                    let mut before = pairs.iter().take(at);
                    dialect(key).is_some() && before.any(|(other, _)| same_key(key, other))
                });
            let open = |(key, value): &(Node<'_>, Node<'_>)| match &key.kind {
                Kind::Scalar { text, .. } if text == "<<" => false,
                Kind::Scalar { .. } if dialect(key).is_some() => {
                    !value.has_alias() && has_no_twins(value)
                }
                Kind::Scalar { .. } => true,
                Kind::Alias(_) | Kind::List { .. } | Kind::Map { .. } => false,
            };
            !twins && pairs.iter().all(open)
        }
    }
}

/// Returns the name of the dialect that a key is.
fn dialect(key: &Node<'_>) -> Option<&'static str> {
    let text = key.text()?;
    let normal = normal(text);
    DIALECTS.iter().copied().find(|known| *known == normal)
}

fn same_key(one: &Node<'_>, other: &Node<'_>) -> bool {
    let texts = one.text().zip(other.text());
    texts.is_some_and(|(one, other)| normal(one) == normal(other))
}

/// Tells whether no map in a tree has two keys of one spelling, or one that merges.
pub(crate) fn has_no_twins(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Scalar { .. } | Kind::Alias(_) => true,
        Kind::List { items, .. } => items.iter().all(has_no_twins),
        Kind::Map { pairs } => {
            let mut seen = std::collections::HashSet::new();
            pairs.iter().all(|(key, value)| {
                let single = key
                    .text()
                    .is_some_and(|text| text != "<<" && seen.insert(normal(text)));
                single && has_no_twins(value)
            })
        }
    }
}

/// Returns a list of names, or one name, without blank ones; `None` for anything else.
fn names(value: &Value) -> Option<Vec<String>> {
    let texts: Vec<&str> = match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let trimmed = texts.into_iter().map(str::trim);
    Some(
        trimmed
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requirements_are_read_under_every_name_of_the_dialect() {
        let wanted = Requirements {
            programs: vec!["jq".to_owned()],
            env: vec!["TOKEN".to_owned()],
            os: vec!["linux".to_owned()],
            ..Requirements::default()
        };
        let own = json!({"os": ["linux"], "requires": {"bins": ["jq"], "env": "TOKEN"}});
        for key in ["openclaw", "clawdbot", "moltbot"] {
            assert_eq!(read(&json!({key: own})), (wanted.clone(), true));
        }
        let text = json!({"openclaw": own}).to_string();
        assert_eq!(read(&Value::String(text)), (wanted, true));
    }

    #[test]
    fn what_is_no_list_of_names_is_not_understood() {
        for odd in [json!({"bins": {"a": 1}}), json!("jq"), json!(["jq"])] {
            let odd = json!({"openclaw": {"requires": odd}});
            assert_eq!(read(&odd), (Requirements::default(), false));
        }
        for nothing in [
            json!(null),
            json!("text"),
            json!({"openclaw": {"emoji": "x"}}),
        ] {
            assert_eq!(read(&nothing), (Requirements::default(), true));
        }
    }
}
