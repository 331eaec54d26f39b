//! What nobody gave: defaults, and values that the host knows.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use skill_core::{AutoFill, Declaration, state};

use crate::entry::host::SkillHost;

/// Completes parameters without overwriting any; returns the names of those that were filled.
pub(super) fn complete(
    declaration: &Declaration,
    params: &mut Map<String, Value>,
    host: &SkillHost,
    now: &str,
    session: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut filled = Vec::new();
    for parameter in &declaration.parameters {
        let given = params.get(&parameter.name);
        let is_empty = match given {
            None => true,
            // A null that may be one was given.
            Some(Value::Null) => !parameter.nullable && parameter.auto_fill.is_some(),
            Some(_) => false,
        };
        if !is_empty {
            continue;
        }
        let known = parameter.auto_fill.as_ref().and_then(|fill| match fill {
            AutoFill::Now => Some(Value::from(now)),
            AutoFill::UserId => host.user_id.clone().map(Value::from),
            AutoFill::Config(key) => host.config.get(key).cloned(),
            AutoFill::Session(key) => session.get(&state::fact_key(key)).cloned().map(Value::from),
        });
        if let Some(value) = known.or_else(|| parameter.default.clone()) {
            params.insert(parameter.name.clone(), value);
            filled.push(parameter.name.clone());
        }
    }
    filled
}
