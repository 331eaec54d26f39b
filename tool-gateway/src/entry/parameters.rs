//! The parameters of a skill: completed, and held against its schema with every problem at once.

use serde_json::{Map, Value, json};
use skill_core::{Declaration, Parameter};

use crate::arguments::Schema;
use crate::entry::zone::Zone;

/// Returns the JSON Schema of the parameters.
pub(super) fn schema(declaration: &Declaration) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in &declaration.parameters {
        properties.insert(parameter.name.clone(), nullable(parameter));
        if parameter.required {
            required.push(Value::from(parameter.name.as_str()));
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the schema of a parameter, with null where it may be.
fn nullable(parameter: &Parameter) -> Value {
    let mut schema = parameter.schema.clone();
    if !parameter.nullable {
        return schema;
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
        Some(Value::Array(_)) => {}
        Some(kind) if kind == "null" => {}
        Some(kind) => *kind = json!([kind.clone(), "null"]),
        None => {}
    }
    if let Some(Value::Array(options)) = schema.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
    schema
}

/// Returns every problem of the parameters; `Err` if the skill's own schema is broken.
pub(super) fn problems(
    declaration: &Declaration,
    params: &Map<String, Value>,
    zone: &Zone,
) -> Result<Vec<String>, String> {
    let schema = Schema::with_formats(schema(declaration));
    let mut problems = schema.problems(&Value::Object(params.clone()))?;
    for parameter in &declaration.parameters {
        let is_time = parameter
            .schema
            .get("format")
            .is_some_and(|format| format == "date-time");
        if let Some(text) = params.get(&parameter.name).and_then(Value::as_str)
            && is_time
            && let Some(problem) = zone.problem(text)
        {
            let at = format!("at `/{}`: ", parameter.name);
            // What the schema says of the same text is the same thing said worse.
            problems.retain(|one| !one.starts_with(&at));
            problems.push(format!("{at}{problem}"));
        }
    }
    Ok(problems)
}
