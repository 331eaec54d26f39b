//! Descriptions, lists of names, tools and metadata.

use serde_json::Value;

use crate::skill::SkillFormat;
use crate::skill::document::Field;
use crate::skill::fields::Reader;
use crate::skill::findings::quoted;
use crate::skill::yaml::{Kind, Node, TagKind};

/// The longest description the standard allows, in characters.
const LONGEST_DESCRIPTION: usize = 1024;
/// The longest one of an executable skill, which is chosen by its description alone.
const LONGEST_DECLARED: usize = 200;
/// What a description says where it tells what the skill is not for.
const LIMITS: &[&str] = &[
    "不适用",
    "不用于",
    "不要",
    "不支持",
    "除外",
    "not for",
    "do not use",
    "don't use",
    "not when",
    "not applicable",
    "except",
    "does not",
    "unless",
];

/// Returns the text of a field that should be one, keeping what YAML would take for a mark.
///
/// A tag or an anchor that nothing refers to is the beginning of the text; a list of one word in
/// brackets is that text; any other list or map is its JSON. Null is nothing.
pub(super) fn plain_text(reader: &mut Reader<'_, '_>, field: &Field<'_>) -> Option<String> {
    let value = &field.value;
    match &value.kind {
        Kind::Scalar { text, plain } => {
            let marked =
                *plain && (value.mark.tag == TagKind::Local || is_lone_anchor(reader, value));
            if marked && !field.raw.is_empty() {
                mended(reader, field, field.raw);
                return Some(field.raw.to_owned());
            }
            if *plain {
                cut_by_comment(reader, field, text);
            }
            value.text().map(printable)
        }
        Kind::Alias(_) => None,
        Kind::List { .. } | Kind::Map { .. } if value.mark.tag != TagKind::None => {
            wrong_type(reader, field, "a text");
            None
        }
        Kind::List { flow: true, .. } | Kind::Map { .. } if !field.raw.is_empty() => {
            wrong_type(reader, field, "a text");
            Some(field.raw.to_owned())
        }
        Kind::List { .. } | Kind::Map { .. } => {
            wrong_type(reader, field, "a text");
            Some(value.value().to_string())
        }
    }
}

/// Leaves out control characters other than line breaks and tabs.
fn printable(text: &str) -> String {
    // A byte of a longer letter that can be of a control is 0xc2, which text seldom holds.
    let suspicious = |byte: u8| byte < b' ' || byte == 0x7f || byte == 0xc2;
    if !text.bytes().any(suspicious) {
        return text.to_owned();
    }
    text.chars()
        .filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t'))
        .collect()
}

/// Tells whether a node has an anchor that no alias refers to.
fn is_lone_anchor(reader: &Reader<'_, '_>, node: &Node<'_>) -> bool {
    let anchor = node.mark.anchor;
    anchor != 0
        && !reader
            .document
            .fields
            .iter()
            .any(|field| refers_to(&field.value, anchor))
}

fn refers_to(node: &Node<'_>, anchor: usize) -> bool {
    match &node.kind {
        Kind::Scalar { .. } => false,
        Kind::Alias(to) => *to == anchor,
        Kind::List { items, .. } => items.iter().any(|item| refers_to(item, anchor)),
        Kind::Map { pairs } => pairs
            .iter()
            .any(|(key, value)| refers_to(key, anchor) || refers_to(value, anchor)),
    }
}

fn mended(reader: &mut Reader<'_, '_>, field: &Field<'_>, text: &str) {
    reader
        .findings
        .add(
            "SK021",
            field.place(),
            format!("`{}` begins with a mark of YAML", field.key),
        )
        .text(text)
        .fix(quoted(&field.key, text));
}

fn wrong_type(reader: &mut Reader<'_, '_>, field: &Field<'_>, wanted: &str) {
    reader
        .findings
        .add(
            "SK053",
            field.place(),
            format!("`{}` is not {wanted}", field.key),
        )
        .text(field.raw);
}

/// Reports a plain text that goes on behind ` #`, where YAML sees a comment.
fn cut_by_comment(reader: &mut Reader<'_, '_>, field: &Field<'_>, text: &str) {
    let comment = field
        .raw
        .strip_prefix(text)
        .map(str::trim_start)
        .filter(|rest| rest.starts_with('#'));
    if comment.is_some() {
        reader
            .findings
            .add(
                "SK023",
                field.place(),
                format!("` #` ends `{}`: it reads `{text}`", field.key),
            )
            .text(field.raw)
            .fix(quoted(&field.key, field.raw));
    }
}

/// Returns the description; empty for none.
pub(super) fn description(
    reader: &mut Reader<'_, '_>,
    complete: bool,
    format: SkillFormat,
) -> String {
    let required = complete && format != SkillFormat::Lite;
    let field = reader.take("description");
    let text = field.and_then(|field| plain_text(reader, field));
    let text = text.as_deref().map(str::trim).unwrap_or_default();
    let place = field.and_then(Field::place);
    if text.is_empty() && required {
        reader
            .findings
            .add(
                "SK040",
                place,
                "the description is missing; the skill is not listed",
            )
            .fix("description: \"what it does and when to use it\"");
    }
    let length = text.chars().count();
    let longest = match format {
        SkillFormat::Declared => LONGEST_DECLARED,
        _ => LONGEST_DESCRIPTION,
    };
    if length > longest {
        let message = format!("the description has {length} characters, more than {longest}");
        reader.findings.add("SK041", place, message);
    }
    if format == SkillFormat::Declared && !text.is_empty() && !says_limits(text) {
        let message = "the description does not say what the skill is not for";
        reader.findings.add("SK044", place, message);
    }
    text.to_owned()
}

fn says_limits(description: &str) -> bool {
    let lower = description.to_lowercase();
    LIMITS.iter().any(|limit| lower.contains(limit))
}

/// Returns what says when to use the skill.
pub(super) fn when_to_use(reader: &mut Reader<'_, '_>) -> Option<String> {
    let field = reader.take("whentouse")?;
    let text = plain_text(reader, field)?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the names in a list of texts or in one text with commas between; `None` for any other
/// value and for a blank name.
pub(super) fn names(node: &Node<'_>) -> Option<Vec<String>> {
    listed(node, |letter| letter == ',')
}

/// Returns the globs in a list or in one text with commas between, outside of braces.
pub(super) fn globs(node: &Node<'_>) -> Option<Vec<String>> {
    let mut depth = 0usize;
    listed(node, |letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && letter == ','
    })
}

fn listed(node: &Node<'_>, between: impl FnMut(char) -> bool) -> Option<Vec<String>> {
    if node.is_null() {
        return Some(Vec::new());
    }
    let names: Vec<&str> = match &node.kind {
        Kind::Scalar { text, .. } => text.split(between).map(str::trim).collect(),
        Kind::List { items, .. } => items
            .iter()
            .map(|item| item.text().map(str::trim))
            .collect::<Option<_>>()?,
        Kind::Map { .. } | Kind::Alias(_) => return None,
    };
    let blank = names.iter().any(|name| name.is_empty());
    (!blank).then(|| names.into_iter().map(str::to_owned).collect())
}

/// Returns the tools named by a list, or by one text with commas or else blanks between, outside
/// of parentheses; `None` for any other value.
pub(super) fn tools(node: &Node<'_>) -> Option<Vec<String>> {
    match &node.kind {
        Kind::Scalar { .. } => Some(node.text().map(split_tools).unwrap_or_default()),
        Kind::List { .. } => names(node),
        Kind::Map { .. } | Kind::Alias(_) => None,
    }
}

fn split_tools(text: &str) -> Vec<String> {
    let commas = pieces(text, |letter| letter == ',');
    let list = if commas.len() > 1 {
        commas
    } else {
        pieces(text, char::is_whitespace)
    };
    list.into_iter()
        .map(str::trim)
        .filter(|tool| !tool.is_empty())
        .map(str::to_owned)
        .collect()
}

fn pieces(text: &str, between: impl Fn(char) -> bool) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && between(letter)
    })
    .collect()
}

/// Returns the tools the skill asks for; a damaged field asks for none.
pub(super) fn allowed_tools(reader: &mut Reader<'_, '_>) -> Vec<String> {
    let Some(field) = reader.take("allowedtools") else {
        return Vec::new();
    };
    if matches!(field.value.kind, Kind::List { .. }) {
        reader.findings.add(
            "SK051",
            field.place(),
            format!("`{}` is a list; the standard writes one text", field.key),
        );
    }
    let Some(granted) = tools(&field.value).filter(|_| !field.damaged) else {
        wrong_type(reader, field, "a list of tools, and grants nothing");
        return Vec::new();
    };
    reader
        .granting("allowedtools", tools)
        .filter(|_| !granted.is_empty())
        .unwrap_or_default()
}

/// Returns the metadata as a tree.
pub(super) fn metadata(reader: &mut Reader<'_, '_>, format: SkillFormat) -> Value {
    let Some(field) = reader.take("metadata") else {
        return Value::Null;
    };
    let flat = match &field.value.kind {
        Kind::Map { pairs } => pairs
            .iter()
            .all(|(_, value)| matches!(value.kind, Kind::Scalar { .. })),
        _ => field.value.is_null(),
    };
    // A declaration keeps a list of tags in it.
    if !flat && format != SkillFormat::Declared {
        reader.findings.add(
            "SK050",
            field.place(),
            "`metadata` is not a map from texts to texts",
        );
    }
    field.value.value()
}
