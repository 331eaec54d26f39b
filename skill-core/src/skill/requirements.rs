//! What a skill needs of the machine, read from its metadata.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    let parsed;
    let metadata = match metadata {
        // One registry writes all of it as JSON in a text.
        Value::String(text) if text.trim_start().starts_with('{') => {
            parsed = serde_json::from_str(text).unwrap_or_default();
            &parsed
        }
        other => other,
    };
    let mut sound = true;
    for own in DIALECTS.iter().filter_map(|key| metadata.get(key)) {
        let requires = own.get("requires");
        sound &= requires.is_none_or(|requires| requires.is_object() || requires.is_null());
        let below = |key: &str| requires.and_then(|requires| requires.get(key));
        let mut add = |list: &mut Vec<String>, value: Option<&Value>| match value.map(names) {
            Some(Some(more)) => list.extend(more),
            Some(None) => sound = false,
            None => {}
        };
        add(&mut requirements.programs, below("bins"));
        add(&mut requirements.any_program, below("anyBins"));
        add(&mut requirements.env, below("env"));
        add(&mut requirements.os, own.get("os").or_else(|| below("os")));
    }
    (requirements, sound)
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
