//! The keys of a `skill.yaml`, each checked for its shape, with line and column.

mod entry;
mod parameters;
mod policies;
mod scalar;

use crate::skill::Declaration;
use crate::skill::document::Field;
use crate::skill::fields::Reader;
use crate::skill::fields::access::Access;
use crate::skill::findings::{Findings, Place};
use crate::skill::yaml::{Kind, Node};

/// Keys that a `skill.yaml` may have besides those of every form, in their normal spelling.
pub(super) const KEYS: &[&str] = &[
    "skillid",
    "tasks",
    "parameters",
    "policies",
    "entry",
    "services",
];

/// Reads the declaration; what its policies restrict goes into `access`.
pub(super) fn read(reader: &mut Reader<'_, '_>, access: &mut Access) -> Declaration {
    Declaration {
        tasks: texts(reader, "tasks"),
        parameters: parameters::read(reader),
        policies: policies::read(reader, access),
        entry: entry::read(reader),
        services: entry::services(reader),
        updated: None,
    }
}

fn texts(reader: &mut Reader<'_, '_>, key: &str) -> Vec<String> {
    let Some(field) = reader.take(key) else {
        return Vec::new();
    };
    match scalar::texts(&field.value) {
        Some(texts) => texts,
        None => {
            let message = format!("`{key}` is not a list of texts");
            reader
                .findings
                .add("SK053", field.place(), message)
                .text(field.raw);
            Vec::new()
        }
    }
}

/// A value of a field, and where in the file its parts stand.
#[derive(Clone, Copy)]
struct Part<'d> {
    node: &'d Node<'d>,
    /// What the lines of the nodes lack to those of the file.
    offset: u32,
}

impl<'d> Part<'d> {
    fn of(field: &'d Field<'d>) -> Self {
        Self {
            node: &field.value,
            offset: field.line.saturating_sub(field.value.line),
        }
    }

    fn at(self, node: &'d Node<'d>) -> Self {
        Self { node, ..self }
    }

    fn place(self) -> Place {
        Some((self.node.line.saturating_add(self.offset), self.node.column))
    }

    /// Returns the pairs of a map whose keys are texts; `None` for anything else.
    fn pairs(self) -> Option<Vec<(&'d str, Self)>> {
        let Kind::Map { pairs } = &self.node.kind else {
            return None;
        };
        let pair = |(key, value): &'d (Node<'d>, Node<'d>)| match &key.kind {
            Kind::Scalar { text, .. } => Some((text.as_ref(), self.at(value))),
            _ => None,
        };
        pairs.iter().map(pair).collect()
    }

    fn text(self) -> Option<&'d str> {
        self.node
            .text()
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    /// Reports that this value is not what `what` says it should be.
    fn reject(self, findings: &mut Findings, what: impl Into<String>) {
        let text = self
            .node
            .text()
            .map_or_else(|| self.node.value().to_string(), str::to_owned);
        findings.add("SK053", self.place(), what).text(&text);
    }
}
