//! Fields that narrow who may use a skill and what may run meanwhile. Damaged, they close.

use crate::glob::{Globs, Over};
use crate::skill::document::Field;
use crate::skill::fields::{Reader, text};
use crate::skill::keys::RESTRICTING;

/// What was read of the restricting keys.
#[derive(Debug, Default)]
pub(super) struct Access {
    pub(super) groups: Vec<String>,
    pub(super) roles: Vec<String>,
    pub(super) contexts: Vec<String>,
    pub(super) paths: Vec<String>,
    pub(super) restrict_tools: Option<Vec<String>>,
    pub(super) disallowed_tools: Vec<String>,
    /// The model may use it.
    pub(super) model: bool,
    /// A person may start it.
    pub(super) user: bool,
}

pub(super) fn read(reader: &mut Reader<'_, '_>) -> Access {
    if reader.has_none(RESTRICTING) {
        return Access {
            model: true,
            user: true,
            ..Access::default()
        };
    }
    let mut gate = Gate::default();
    let mut access = Access {
        groups: gate.names(reader, "groups"),
        roles: gate.names(reader, "roles"),
        paths: gate.globs(reader, "paths"),
        contexts: gate.names(reader, "contexts"),
        restrict_tools: gate.tools(reader, "restricttools"),
        disallowed_tools: gate.tools(reader, "disallowedtools").unwrap_or_default(),
        ..Access::default()
    };
    let disabled = gate.flag(reader, "disablemodelinvocation").unwrap_or(false);
    access.user = gate.flag(reader, "userinvocable").unwrap_or(true);
    gate.left(reader);
    access.model = !disabled && !gate.damaged;
    access
}

/// Remembers whether some restriction could not be read.
#[derive(Default)]
struct Gate {
    damaged: bool,
}

impl Gate {
    fn names(&mut self, reader: &mut Reader<'_, '_>, key: &str) -> Vec<String> {
        self.each(reader, key, |field| text::names(&field.value))
            .unwrap_or_default()
    }

    /// Reads globs over paths; too many in braces cannot be read either.
    fn globs(&mut self, reader: &mut Reader<'_, '_>, key: &str) -> Vec<String> {
        let few = |globs: &Vec<String>| {
            Globs::new(globs.iter().map(String::as_str), Over::Paths).is_some()
        };
        self.each(reader, key, |field| text::globs(&field.value).filter(few))
            .unwrap_or_default()
    }

    fn tools(&mut self, reader: &mut Reader<'_, '_>, key: &str) -> Option<Vec<String>> {
        self.each(reader, key, |field| text::tools(&field.value))
    }

    fn flag(&mut self, reader: &mut Reader<'_, '_>, key: &str) -> Option<bool> {
        let flag = self.each(reader, key, |field| field.value.text().and_then(boolean));
        let there = !reader.all(key).is_empty() || reader.lost(key);
        // What was said and not understood counts as the narrower answer.
        flag.or_else(|| there.then_some(key == "disablemodelinvocation"))
    }

    /// Reads every field with `key`; one that was mended, lost, or says something else than
    /// another of them closes the gate.
    fn each<T: PartialEq>(
        &mut self,
        reader: &mut Reader<'_, '_>,
        key: &str,
        read: impl Fn(&Field<'_>) -> Option<T>,
    ) -> Option<T> {
        let last = reader.take(key);
        let values: Vec<Option<T>> = reader
            .all(key)
            .into_iter()
            .map(|field| read(field).filter(|_| !field.damaged))
            .collect();
        let agree = values
            .windows(2)
            .all(|pair| matches!(pair, [one, other] if one == other));
        let sound = agree && values.iter().all(Option::is_some);
        if (!sound && last.is_some()) || reader.lost(key) {
            self.close(reader, key, last);
            return None;
        }
        values.into_iter().next_back().flatten()
    }

    /// Closes the gate for restricting keys that are kept as they are but were damaged.
    fn left(&mut self, reader: &mut Reader<'_, '_>) {
        for key in ["hooks", "policy"] {
            let damaged = reader.all(key).into_iter().find(|field| field.damaged);
            if damaged.is_some() || reader.lost(key) {
                self.close(reader, key, damaged);
            }
        }
    }

    fn close(&mut self, reader: &mut Reader<'_, '_>, key: &str, field: Option<&Field<'_>>) {
        self.damaged = true;
        let name = field.map_or(key, |field| &*field.key);
        reader
            .findings
            .add(
                "SK101",
                field
                    .and_then(Field::place)
                    .or_else(|| reader.lost_place(key)),
                format!(
                    "`{name}` restricts and could not be read; the model does not see the skill"
                ),
            )
            .text(field.map_or("", |field| field.raw));
    }
}

/// Returns the meaning of a word for true or false.
fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
