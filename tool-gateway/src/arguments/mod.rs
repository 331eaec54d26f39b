//! Arguments: read strictly, held against a strict schema, every problem in one answer.

mod plain;

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::nearest::did_you_mean;
use crate::output::cut;

/// The longest problem line; values quoted in it are cut.
const MAX_PROBLEM_BYTES: usize = 240;

/// A schema that is compiled when it is first needed, and then kept.
#[derive(Debug)]
pub(crate) struct Schema {
    json: Value,
    /// Whether `format` is held, and not only a remark.
    formats: bool,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Schema {
    pub(crate) fn new(json: Value) -> Self {
        Self {
            json,
            formats: false,
            compiled: OnceLock::new(),
        }
    }

    /// Returns a schema that holds formats, too.
    #[cfg(all(unix, feature = "skills"))]
    pub(crate) fn with_formats(json: Value) -> Self {
        Self {
            formats: true,
            ..Self::new(json)
        }
    }

    /// Returns every problem of `arguments`; `Err` if the schema itself is broken.
    pub(crate) fn problems(&self, arguments: &Value) -> Result<Vec<String>, String> {
        if plain::surely_valid(&self.json, arguments) {
            return Ok(Vec::new());
        }
        let compiled = self.compiled.get_or_init(|| {
            jsonschema::options()
                .offline()
                .should_validate_formats(self.formats)
                .build(&self.json)
                .map_err(|error| error.to_string())
        });
        let validator = compiled.as_ref().map_err(Clone::clone)?;
        if validator.is_valid(arguments) {
            return Ok(Vec::new());
        }
        Ok(validator
            .iter_errors(arguments)
            .flat_map(|error| self.describe(&error))
            .collect())
    }

    /// Returns one line for each thing wrong that `error` stands for.
    fn describe(&self, error: &ValidationError<'_>) -> Vec<String> {
        let path = error.instance_path().as_str();
        let at = if path.is_empty() {
            String::new()
        } else {
            format!("at `{path}`: ")
        };
        let lines = match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                vec![format!(
                    "`{name}` is missing{}",
                    self.expectation(path, name)
                )]
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known = self.fields(path);
                let hint = |name: &str| {
                    let known = known.iter().flat_map(|fields| fields.keys());
                    did_you_mean(name, known.map(String::as_str))
                };
                unexpected
                    .iter()
                    .map(|name| format!("unknown field `{name}`{}", hint(name)))
                    .collect()
            }
            ValidationErrorKind::Type { kind } => {
                vec![format!(
                    "expected {}, got {}",
                    type_names(kind),
                    shown(error.instance())
                )]
            }
            ValidationErrorKind::Enum { options } => {
                vec![format!(
                    "expected one of {options}, got {}",
                    shown(error.instance())
                )]
            }
            _ => vec![error.to_string()],
        };
        lines
            .into_iter()
            .map(|line| cut(&format!("{at}{line}"), MAX_PROBLEM_BYTES).to_owned())
            .collect()
    }

    /// Returns ` (expected TYPE)` for a top-level field.
    fn expectation(&self, path: &str, name: &str) -> String {
        self.fields(path)
            .and_then(|fields| fields.get(name)?.get("type"))
            .and_then(Value::as_str)
            .map(|kind| format!(" (expected {kind})"))
            .unwrap_or_default()
    }

    /// Returns the fields of the top-level object; deeper ones may hide behind references.
    fn fields(&self, path: &str) -> Option<&Map<String, Value>> {
        if !path.is_empty() {
            return None;
        }
        self.json.get("properties")?.as_object()
    }
}

/// Reads the argument text of a call as one JSON object.
///
/// Nothing is repaired: a cut text must never run as its own beginning. Empty text is how some
/// models call a tool without arguments.
pub(crate) fn parse(text: &str, max_bytes: usize) -> Result<Value, String> {
    if text.len() > max_bytes {
        return Err(format!(
            "the arguments have {} bytes; at most {max_bytes} are taken",
            text.len()
        ));
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(other) => Err(format!(
            "the arguments must be a JSON object, got {}",
            shown(&other)
        )),
        Err(error) if error.is_eof() => Err(format!(
            "the arguments are cut off: {error}; send the whole JSON object again, in smaller pieces if it is long"
        )),
        Err(error) => Err(format!(
            "the arguments are not JSON: {error}; send one JSON object"
        )),
    }
}

/// Returns the schema of a type as the model sees it: strict, without references or titles.
pub(crate) fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<A>()
        .to_value();
    make_strict(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Refuses unknown fields of every object and drops what only costs tokens.
fn make_strict(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // As keys of a schema these are texts; a field of that name holds a schema.
            if fields.get("title").is_some_and(Value::is_string) {
                fields.remove("title");
            }
            if fields
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(is_width)
            {
                fields.remove("format");
            }
            if fields.get("type").and_then(Value::as_str) == Some("object") {
                fields
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            fields.values_mut().for_each(make_strict);
        }
        Value::Array(items) => items.iter_mut().for_each(make_strict),
        _ => {}
    }
}

/// Tells whether a format only names the width of a number, which models cannot use.
fn is_width(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint") || matches!(format, "float" | "double")
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            let mut names: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            // What is really wanted comes before its absence.
            names.sort_by_key(|name| name == "null");
            names.join(" or ")
        }
    }
}

/// Returns a short rendering of a value.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        scalar => {
            let text = scalar.to_string();
            let short = cut(&text, 60);
            if short.len() < text.len() {
                format!("{short}…")
            } else {
                text
            }
        }
    }
}
