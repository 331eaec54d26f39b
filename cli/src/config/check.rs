//! One layer against the types: the first wrong key or value, with its place and the way out.

use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::error::ConfigError;
use super::nearest;
use super::node::{Node, described};
use super::origin::{Step, spelled};
use super::schema::{Config, json_schema};

/// Reads a tree as a configuration.
pub(super) fn check(root: &Node) -> Result<Config, ConfigError> {
    serde_path_to_error::deserialize(root.to_json()).map_err(|error| {
        // A key that is not known explains most wrong values, so it goes first.
        let schema = json_schema();
        Schema {
            root: &schema,
            node: &schema,
        }
        .unknown_key(root, &mut Vec::new())
        .unwrap_or_else(|| wrong_value(root, error.path(), &error.inner().to_string()))
    })
}

fn wrong_value(root: &Node, path: &Path, said: &str) -> ConfigError {
    let steps: Vec<Step> = path.iter().filter_map(step).collect();
    let node = root.follow(&steps);
    let key = spelled(&steps);
    let Complaint { message, hint } = complaint(&key, said, node);
    node.origin.error(message, hint)
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

struct Complaint {
    message: String,
    hint: Option<String>,
}

/// Turns what the deserialiser said into a sentence for somebody who wrote a file.
fn complaint(key: &str, said: &str, node: &Node) -> Complaint {
    if let Some(rest) = said.strip_prefix("unknown variant ") {
        let mut names = rest.split('`').skip(1).step_by(2);
        let wrong = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let message = format!("`{key}` can't be `{wrong}`; it is {}", known.join(", "));
        let hint = nearest::nearest(wrong, &known).map(|name| format!("did you mean `{name}`?"));
        return Complaint { message, hint };
    }
    if let Some(missing) = said.strip_prefix("missing field ") {
        return Complaint {
            message: format!("`{key}` has no {missing}"),
            hint: None,
        };
    }
    if let Some((_, expected)) = said.split_once(", expected ") {
        let found = described(node);
        let message = format!("`{key}` takes {}, found {found}", in_plain_words(expected));
        return Complaint {
            message,
            hint: quoting_hint(expected, node),
        };
    }
    Complaint {
        message: format!("`{key}`: {said}"),
        hint: None,
    }
}

fn in_plain_words(expected: &str) -> &str {
    match expected {
        "u32" | "u64" => "a whole number, not negative",
        "a nonzero u32" | "a nonzero u64" => "a whole number above zero",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" | "string or map" => "text",
        "a sequence" => "a list",
        other if other.starts_with("struct ") || other == "a map" => "a map of settings",
        other => other,
    }
}

fn quoting_hint(expected: &str, node: &Node) -> Option<String> {
    use super::node::Kind;
    match (&node.kind, expected) {
        (Kind::Number(_) | Kind::Bool(_), "a string") => {
            Some("put it in quotes to make it text".to_owned())
        }
        (Kind::Text(_), "a sequence") => {
            Some("a list of one is written `[value]`, or `- value` on a line of its own".to_owned())
        }
        _ => None,
    }
}

/// A JSON Schema and the part of it that describes the value at hand.
#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
}

impl<'a> Schema<'a> {
    /// Finds the first key, in the order of the file, that the schema does not know.
    fn unknown_key(self, node: &Node, steps: &mut Vec<Step>) -> Option<ConfigError> {
        let here = self.resolved();
        let known = here.names();
        for entry in node.entries() {
            let below = here
                .property(&entry.key)
                .or_else(|| here.below("additionalProperties"));
            let Some(below) = below else {
                if known.is_empty() {
                    continue;
                }
                let message = match spelled(steps) {
                    path if path.is_empty() => format!("unknown key `{}`", entry.key),
                    path => format!("unknown key `{}` in `{path}`", entry.key),
                };
                let hint = here.hint(&entry.key, &known);
                return Some(entry.origin.error(message, hint));
            };
            steps.push(Step::Key(entry.key.clone()));
            let found = below.unknown_key(&entry.value, steps);
            steps.pop();
            if found.is_some() {
                return found;
            }
        }
        for (index, item) in node.items().iter().enumerate() {
            steps.push(Step::Index(index));
            let found = here
                .below("items")
                .and_then(|items| items.unknown_key(item, steps));
            steps.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Follows a reference, and an optional value to what it is when it is there.
    fn resolved(self) -> Self {
        if let Some(reference) = self.node.get("$ref").and_then(Value::as_str) {
            let pointer = reference.trim_start_matches('#');
            if let Some(node) = self.root.pointer(pointer) {
                return Self { node, ..self }.resolved();
            }
        }
        let choices = self.node.get("anyOf").and_then(Value::as_array);
        let filled = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
        filled.map_or(self, |node| Self { node, ..self }.resolved())
    }

    fn names(self) -> Vec<&'a str> {
        let properties = self.node.get("properties").and_then(Value::as_object);
        properties
            .map(|map| map.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    fn property(self, name: &str) -> Option<Self> {
        self.node
            .get("properties")?
            .get(name)
            .map(|node| Self { node, ..self })
    }

    fn below(self, keyword: &str) -> Option<Self> {
        let node = self.node.get(keyword).filter(|node| node.is_object())?;
        Some(Self { node, ..self })
    }

    /// The nearest key here; else the section that has a key of this very name.
    fn hint(self, wrong: &str, known: &[&str]) -> Option<String> {
        if nearest::nearest(wrong, known).is_none() {
            let top = Self {
                node: self.root,
                ..self
            };
            let section = top.names().into_iter().find(|name| {
                let section = top.property(name).map(Self::resolved);
                section.is_some_and(|section| section.property(wrong).is_some())
            });
            if let Some(section) = section {
                return Some(format!("`{wrong}` is a key of `{section}`"));
            }
        }
        nearest::hint(wrong, known)
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

#[cfg(test)]
mod tests;
