//! Parameters: a map of properties, or a whole JSON Schema of an object.

use serde_json::{Map, Value};

use super::Part;
use crate::skill::fields::Reader;
use crate::skill::findings::Findings;
use crate::skill::{AutoFill, Parameter};

/// The types of JSON Schema.
const TYPES: &[&str] = &[
    "string", "number", "integer", "boolean", "array", "object", "null",
];

pub(super) fn read(reader: &mut Reader<'_, '_>) -> Vec<Parameter> {
    let Some(field) = reader.take("parameters") else {
        return Vec::new();
    };
    let part = Part::of(field);
    if part.node.is_null() {
        return Vec::new();
    }
    let Some(pairs) = part.pairs() else {
        part.reject(reader.findings, "`parameters` is not a map of parameters");
        return Vec::new();
    };
    let whole = schema_of_object(&pairs);
    let (properties, required) = match whole {
        Some((properties, required)) => (properties.pairs(), required),
        None => (Some(pairs), None),
    };
    let Some(properties) = properties else {
        part.reject(reader.findings, "`properties` is not a map of parameters");
        return Vec::new();
    };
    let each = properties.into_iter();
    each.filter_map(|(name, property)| {
        parameter(name, property, required.as_deref(), reader.findings)
    })
    .collect()
}

/// Returns the properties of a JSON Schema of an object and the names it requires.
fn schema_of_object<'d>(pairs: &[(&'d str, Part<'d>)]) -> Option<(Part<'d>, Option<Vec<String>>)> {
    let get = |key: &str| {
        pairs
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, part)| *part)
    };
    let properties = get("properties")?;
    let is_object = get("type").and_then(Part::text) == Some("object");
    let required = get("required").and_then(|part| super::scalar::texts(part.node));
    is_object.then(|| (properties, Some(required.unwrap_or_default())))
}

fn parameter(
    name: &str,
    part: Part<'_>,
    required: Option<&[String]>,
    findings: &mut Findings,
) -> Option<Parameter> {
    let Some(pairs) = part.pairs() else {
        part.reject(findings, format!("parameter `{name}` is not a map"));
        return None;
    };
    let mut parameter = Parameter {
        name: name.to_owned(),
        ..Parameter::default()
    };
    let mut schema = Map::new();
    let mut said = None;
    for (key, part) in pairs {
        match key {
            "nullable" => parameter.nullable = flag(part, key, findings).unwrap_or(false),
            "required" if part.node.text().is_some() => said = flag(part, key, findings),
            "example" => parameter.example = Some(part.node.typed()),
            "auto_fill" => parameter.auto_fill = auto_fill(part, findings),
            "type" => {
                kind(part, name, findings);
                schema.insert(key.to_owned(), part.node.typed());
            }
            _ => {
                schema.insert(key.to_owned(), part.node.typed());
            }
        }
        if key == "default" {
            parameter.default = Some(part.node.typed());
        }
        if key == "description" {
            parameter.description = part.text().unwrap_or_default().to_owned();
        }
    }
    parameter.schema = Value::Object(schema);
    defaults_fit(&parameter, part, findings);
    let optional =
        parameter.nullable || parameter.default.is_some() || parameter.auto_fill.is_some();
    let listed = required.map(|names| names.iter().any(|required| required == name));
    parameter.required = said.or(listed).unwrap_or(true) && !optional;
    Some(parameter)
}

fn flag(part: Part<'_>, key: &str, findings: &mut Findings) -> Option<bool> {
    let flag = part.node.typed().as_bool();
    if flag.is_none() {
        part.reject(findings, format!("`{key}` is neither `true` nor `false`"));
    }
    flag
}

fn kind(part: Part<'_>, name: &str, findings: &mut Findings) {
    let types = super::scalar::texts(part.node);
    let known = types.is_some_and(|types| types.iter().all(|one| TYPES.contains(&one.as_str())));
    if !known {
        let message = format!(
            "the type of parameter `{name}` is none of {}",
            TYPES.join(", ")
        );
        part.reject(findings, message);
    }
}

fn auto_fill(part: Part<'_>, findings: &mut Findings) -> Option<AutoFill> {
    let text = part.text().unwrap_or_default();
    let key = |prefix: &str| {
        let key = text.strip_prefix(prefix).map(str::trim)?;
        (!key.is_empty()).then(|| key.to_owned())
    };
    let filled = match text {
        "now" => Some(AutoFill::Now),
        "user_id" => Some(AutoFill::UserId),
        _ => key("config:")
            .map(AutoFill::Config)
            .or_else(|| key("session:").map(AutoFill::Session)),
    };
    if filled.is_none() {
        let message = "`auto_fill` is none of now, user_id, config:KEY, session:KEY";
        part.reject(findings, message);
    }
    filled
}

/// Reports a default that is not of the type declared.
fn defaults_fit(parameter: &Parameter, part: Part<'_>, findings: &mut Findings) {
    let (Some(default), Some(kind)) = (&parameter.default, parameter.schema.get("type")) else {
        return;
    };
    let fits = |kind: &str| match kind {
        "string" => default.is_string(),
        "number" => default.is_number(),
        "integer" => default.is_i64() || default.is_u64(),
        "boolean" => default.is_boolean(),
        "array" => default.is_array(),
        "object" => default.is_object(),
        _ => default.is_null(),
    };
    let fits = match kind {
        Value::String(kind) => fits(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    };
    let null_fits = parameter.nullable && default.is_null();
    if !fits && !null_fits {
        let name = &parameter.name;
        part.reject(
            findings,
            format!("the default of parameter `{name}` is not of its type"),
        );
    }
}
