//! A check that says "surely valid" or "ask the validator", for schemas that need no validator.
//!
//! Most calls are valid and most schemas are flat. Compiling a validator costs milliseconds once a
//! process, which a short run would pay for nothing; this costs nothing. It never judges what it
//! does not know: an unknown keyword is not "surely valid".

use serde_json::{Map, Value};

/// Tells whether `value` surely is what `schema` asks for.
pub(super) fn surely_valid(schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(anything) => *anything,
        Value::Object(keywords) => keywords
            .iter()
            .all(|(keyword, asked)| surely_holds(keyword, asked, keywords, value)),
        _ => false,
    }
}

fn surely_holds(
    keyword: &str,
    asked: &Value,
    keywords: &Map<String, Value>,
    value: &Value,
) -> bool {
    match keyword {
        "description" | "title" | "default" | "examples" => true,
        "type" => match asked {
            Value::String(name) => is_type(name, value),
            Value::Array(names) => names
                .iter()
                .filter_map(Value::as_str)
                .any(|name| is_type(name, value)),
            _ => false,
        },
        "enum" => asked
            .as_array()
            .is_some_and(|options| options.contains(value)),
        "properties" => match (asked.as_object(), value.as_object()) {
            (Some(schemas), Some(fields)) => fields.iter().all(|(name, field)| {
                schemas
                    .get(name)
                    .is_none_or(|schema| surely_valid(schema, field))
            }),
            (schemas, None) => schemas.is_some(),
            (None, _) => false,
        },
        "required" => asked.as_array().is_some_and(|names| {
            let given = |name: &Value| {
                name.as_str()
                    .zip(value.as_object())
                    .is_some_and(|(name, fields)| fields.contains_key(name))
            };
            !value.is_object() || names.iter().all(given)
        }),
        "additionalProperties" => {
            let known = keywords.get("properties").and_then(Value::as_object);
            let expected = |name: &String| known.is_some_and(|known| known.contains_key(name));
            *asked == Value::Bool(true)
                || (*asked == Value::Bool(false)
                    && value
                        .as_object()
                        .is_none_or(|fields| fields.keys().all(expected)))
        }
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| surely_valid(asked, item))),
        "minimum" => is_ordered(asked, value, value),
        "maximum" => is_ordered(value, asked, value),
        _ => false,
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

/// Tells whether `low <= high` as integers; a `subject` that is no number has no bounds.
fn is_ordered(low: &Value, high: &Value, subject: &Value) -> bool {
    let integer = |value: &Value| {
        value
            .as_i64()
            .map(i128::from)
            .or(value.as_u64().map(i128::from))
    };
    !subject.is_number()
        || integer(low)
            .zip(integer(high))
            .is_some_and(|(low, high)| low <= high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn flat() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "d"},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                "docs": {"type": "array", "items": {"type": "string"}},
                "mode": {"enum": ["a", 1, null]}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    #[test]
    fn flat_arguments_are_seen_to_be_valid_and_what_is_unknown_is_not() {
        let valid = json!({"path": "a", "limit": 3, "docs": ["x"], "mode": null});
        assert!(surely_valid(&flat(), &valid));
        let mut patterned = flat();
        patterned["properties"]["path"]["pattern"] = json!("^a");
        assert!(!surely_valid(&patterned, &valid));
        assert!(!surely_valid(&json!({"$ref": "#/$defs/x"}), &valid));
    }

    fn some_value() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![
            json!("a"),
            json!(1),
            json!(0),
            json!(9),
            json!(10),
            json!(1.0),
            json!(1.5),
            json!(-3),
            json!(true),
            Value::Null,
            json!([]),
            json!(["x"]),
            json!(["x", 1]),
            json!({}),
            json!({"path": 1}),
            json!(u64::MAX),
        ])
    }

    proptest! {
        #[test]
        fn what_surely_is_valid_is_valid(
            fields in prop::collection::btree_map(
                prop::sample::select(vec!["path", "limit", "docs", "mode", "other"]), some_value(), 0..5),
            bare in some_value(), use_bare in any::<bool>(), dropped in prop::sample::select(
                vec!["type", "properties", "required", "additionalProperties"]),
        ) {
            let mut schema = flat();
            schema.as_object_mut().unwrap().remove(dropped);
            let value = if use_bare { bare } else { json!(fields) };
            if surely_valid(&schema, &value) {
                prop_assert!(jsonschema::is_valid(&schema, &value), "{schema} {value}");
            }
        }
    }
}
