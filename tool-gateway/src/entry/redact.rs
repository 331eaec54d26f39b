//! Secrets, taken out of every text that leaves a run.

use std::collections::BTreeMap;

use serde_json::Value;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

/// The shortest value that is looked for: of a shorter one every text is full.
const SHORTEST: usize = 4;

/// Takes the values of secrets out of texts.
pub(super) struct Redactor {
    values: Vec<String>,
}

impl Redactor {
    pub(super) fn new(secrets: &BTreeMap<String, String>) -> Self {
        let mut values: Vec<String> = secrets
            .values()
            .filter(|value| value.len() >= SHORTEST)
            .cloned()
            .collect();
        // The longest first, or a part of one would be left.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REDACTED);
            }
        }
        text
    }

    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (self.text(&name), self.value(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            other => other,
        }
    }
}
