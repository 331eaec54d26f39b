//! A configuration as a tree in which every key and value knows its place.

use serde_json::{Map, Number, Value};

use super::origin::{Origin, Step};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) origin: Origin,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Where the key was written; its value has a place of its own.
    pub(super) origin: Origin,
    pub(super) value: Node,
}

impl Node {
    /// Builds a tree whose every value came from the same place.
    pub(super) fn from_json(value: Value, origin: &Origin) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(value) => Kind::Number(value),
            Value::String(value) => Kind::Text(value),
            Value::Array(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| Self::from_json(item, origin))
                    .collect(),
            ),
            Value::Object(map) => {
                let entry = |(key, value)| Entry {
                    key,
                    origin: origin.clone(),
                    value: Self::from_json(value, origin),
                };
                Kind::Map(map.into_iter().map(entry).collect())
            }
        };
        Self {
            kind,
            origin: origin.clone(),
        }
    }

    /// Returns the tree without its places.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(value) => Value::Number(value.clone()),
            Kind::Text(value) => Value::String(value.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Kind::Map(entries) => {
                let pairs = entries.iter().map(|e| (e.key.clone(), e.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the entries of a map, or none of anything else.
    pub(super) fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind {
            entries
        } else {
            &[]
        }
    }

    /// Returns the items of a list, or none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        if let Kind::List(items) = &self.kind {
            items
        } else {
            &[]
        }
    }

    /// Returns the value under a key of a map.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    }

    /// Returns the text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind {
            Some(text)
        } else {
            None
        }
    }

    /// Returns the value at the end of the steps, or the last one that exists on the way.
    pub(super) fn follow(&self, steps: &[Step]) -> &Self {
        let Some((step, rest)) = steps.split_first() else {
            return self;
        };
        let next = match step {
            Step::Key(key) => self.get(key),
            Step::Index(index) => self.items().get(*index),
        };
        next.map_or(self, |next| next.follow(rest))
    }

    /// Drops keys without a value: `skills:` with every line below it commented out sets nothing.
    pub(super) fn without_nulls(mut self) -> Self {
        match &mut self.kind {
            Kind::Map(entries) => {
                let kept = std::mem::take(entries).into_iter();
                let kept = kept.filter(|entry| entry.value.kind != Kind::Null);
                *entries = kept
                    .map(|entry| Entry {
                        value: entry.value.without_nulls(),
                        ..entry
                    })
                    .collect();
            }
            Kind::List(items) => {
                *items = std::mem::take(items)
                    .into_iter()
                    .map(Self::without_nulls)
                    .collect();
            }
            _ => {}
        }
        self
    }
}

/// Names a value for a message: its kind, and the value itself where it is short.
pub(super) fn described(node: &Node) -> String {
    match &node.kind {
        Kind::Null => "nothing".to_owned(),
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Number(value) => format!("the number `{value}`"),
        Kind::Text(text) if text.chars().count() <= 40 => format!("the text `{text}`"),
        Kind::Text(_) => "a long text".to_owned(),
        Kind::List(_) => "a list".to_owned(),
        Kind::Map(_) => "a map".to_owned(),
    }
}
