//! Caps of sections of a request, under the names that the compiler knows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prompt_compiler::Budget;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The most tokens of a section, by its name; a name that is none is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, u64>")]
pub(crate) struct SectionCaps(BTreeMap<String, u64>);

impl SectionCaps {
    /// Tells whether no section has a cap of the user's.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the caps as the compiler takes them.
    pub(crate) fn as_map(&self) -> &BTreeMap<String, u64> {
        &self.0
    }
}

impl TryFrom<BTreeMap<String, u64>> for SectionCaps {
    type Error = String;

    fn try_from(caps: BTreeMap<String, u64>) -> Result<Self, String> {
        let known = |name: &&String| Budget::CAPPED.contains(&name.as_str());
        match caps.keys().find(|name| !known(name)) {
            Some(wrong) => Err(format!("no section named `{wrong}` has a cap")),
            None => Ok(Self(caps)),
        }
    }
}

impl JsonSchema for SectionCaps {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SectionCaps".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let tokens = json!({"type": "integer", "minimum": 0});
        let sections = Budget::CAPPED.iter();
        let sections: Map<String, Value> = sections
            .map(|name| ((*name).to_owned(), tokens.clone()))
            .collect();
        schemars::json_schema!({
            "type": "object", "properties": sections, "additionalProperties": false,
        })
    }
}
