//! YAML events to a tree that keeps the source text of scalars, where they stand, and duplicates.
//!
//! Aliases are never expanded, and depth and number of nodes are bounded.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Map, Value};

/// How deep a document may nest.
const DEEPEST: usize = 64;
/// How many nodes a document may have.
const MOST_NODES: usize = 50_000;

/// A node of a document, with its place counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
    pub(crate) mark: Mark,
}

/// What a node has before its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of its anchor, zero for none.
    pub(crate) anchor: usize,
    pub(crate) tag: TagKind,
}

/// Whose tag a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TagKind {
    /// It has none.
    #[default]
    None,
    /// One of YAML's own, `!!str`.
    Core,
    /// One of the file's, `!important`.
    Local,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind<'a> {
    Scalar { text: Cow<'a, str>, plain: bool },
    List { items: Vec<Node<'a>>, flow: bool },
    Map { pairs: Vec<(Node<'a>, Node<'a>)> },
    Alias(usize),
}

impl Node<'_> {
    /// Returns the text of a scalar; a plain null has none.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, plain } if !(*plain && is_null(text)) => Some(text),
            _ => None,
        }
    }

    /// Tells whether it is a plain scalar that means nothing.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true } if is_null(text))
    }

    /// Returns the tree; scalars as their source text, nulls and aliases as null.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar { .. } => self.text().map_or(Value::Null, Value::from),
            Kind::Alias(_) => Value::Null,
            Kind::List { items, .. } => items.iter().map(Node::value).collect(),
            Kind::Map { pairs } => Value::Object(object(pairs)),
        }
    }

    /// Returns the tree with plain scalars as the JSON values that YAML 1.2 says they are.
    pub(crate) fn typed(&self) -> Value {
        match &self.kind {
            Kind::Scalar { text, plain: true } => typed(text),
            Kind::Scalar { text, .. } => Value::from(text.as_ref()),
            Kind::Alias(_) => Value::Null,
            Kind::List { items, .. } => items.iter().map(Node::typed).collect(),
            Kind::Map { pairs } => {
                let pair = |(key, value): &(Node<'_>, Node<'_>)| (key_text(key), value.typed());
                Value::Object(pairs.iter().map(pair).collect())
            }
        }
    }

    /// Calls `look` with every text below, keys and values.
    pub(crate) fn each_text(&self, look: &mut impl FnMut(&str)) {
        match &self.kind {
            Kind::Scalar { text, .. } => look(text),
            Kind::Alias(_) => {}
            Kind::List { items, .. } => items.iter().for_each(|item| item.each_text(look)),
            Kind::Map { pairs } => {
                for (key, value) in pairs {
                    key.each_text(look);
                    value.each_text(look);
                }
            }
        }
    }

    /// Tells whether an alias stands anywhere below.
    pub(crate) fn has_alias(&self) -> bool {
        match &self.kind {
            Kind::Scalar { .. } => false,
            Kind::Alias(_) => true,
            Kind::List { items, .. } => items.iter().any(Node::has_alias),
            Kind::Map { pairs } => pairs
                .iter()
                .any(|(key, value)| key.has_alias() || value.has_alias()),
        }
    }
}

fn object(pairs: &[(Node<'_>, Node<'_>)]) -> Map<String, Value> {
    pairs
        .iter()
        .map(|(key, value)| (key_text(key), value.value()))
        .collect()
}

fn key_text(key: &Node<'_>) -> String {
    match &key.kind {
        Kind::Scalar { text, .. } => text.to_string(),
        _ => key.value().to_string(),
    }
}

/// Returns what a plain scalar means by the core schema; a number too large for JSON stays text.
fn typed(text: &str) -> Value {
    match text {
        _ if is_null(text) => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number_in(text).unwrap_or_else(|| Value::from(text)),
    }
}

fn number_in(text: &str) -> Option<Value> {
    let digits = text.trim_start_matches(['-', '+']);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if let Ok(number) = text.trim_start_matches('+').parse::<i64>() {
        return Some(Value::from(number));
    }
    let number = text.parse::<f64>().ok()?;
    serde_json::Number::from_f64(number).map(Value::Number)
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Why a text is no YAML, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) message: String,
}

/// Returns the root of the only document in `text`, or `None` where there is nothing in it.
pub(crate) fn parse(text: &str) -> Result<Option<Node<'_>>, YamlError> {
    let mut parser = Parser::new(StrInput::new(text));
    let mut tree = Tree::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| YamlError {
            line: number(error.marker().line()),
            column: number(error.marker().col() + 1),
            message: error.info().to_owned(),
        })?;
        tree.take(event, span)?;
    }
    Ok(tree.root)
}

/// A tree in the making.
#[derive(Default)]
struct Tree<'a> {
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    nodes: usize,
}

struct Open<'a> {
    node: Node<'a>,
    key: Option<Node<'a>>,
}

impl<'a> Tree<'a> {
    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let mark = mark(anchor, tag.as_deref());
                self.put(node(Kind::Scalar { text, plain }, span, mark))
            }
            Event::Alias(anchor) => self.put(node(Kind::Alias(anchor), span, Mark::default())),
            Event::SequenceStart(anchor, tag) => {
                // A block list begins where its first dash stands, with an empty span.
                let flow = !span.is_empty();
                let items = Vec::new();
                let kind = Kind::List { items, flow };
                self.push(node(kind, span, mark(anchor, tag.as_deref())))
            }
            Event::MappingStart(anchor, tag) => {
                let kind = Kind::Map { pairs: Vec::new() };
                self.push(node(kind, span, mark(anchor, tag.as_deref())))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn push(&mut self, node: Node<'a>) -> Result<(), YamlError> {
        if self.open.len() >= DEEPEST {
            return Err(at(&node, "nested too deep"));
        }
        self.open.push(Open { node, key: None });
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), YamlError> {
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        open.node.end_line = number(span.end.line());
        open.node.end_column = number(span.end.col() + 1);
        self.put(open.node)
    }

    fn put(&mut self, node: Node<'a>) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(at(&node, "too many values"));
        }
        let Some(open) = self.open.last_mut() else {
            return match &self.root {
                Some(_) => Err(at(&node, "a second document")),
                None => {
                    self.root = Some(node);
                    Ok(())
                }
            };
        };
        match &mut open.node.kind {
            Kind::List { items, .. } => items.push(node),
            Kind::Map { pairs } => match open.key.take() {
                Some(key) => pairs.push((key, node)),
                None => open.key = Some(node),
            },
            Kind::Scalar { .. } | Kind::Alias(_) => {}
        }
        Ok(())
    }
}

fn node(kind: Kind<'_>, span: Span, mark: Mark) -> Node<'_> {
    Node {
        kind,
        line: number(span.start.line()),
        column: number(span.start.col() + 1),
        end_line: number(span.end.line()),
        end_column: number(span.end.col() + 1),
        mark,
    }
}

fn mark(anchor: usize, tag: Option<&Tag>) -> Mark {
    Mark {
        anchor,
        tag: match tag {
            None => TagKind::None,
            Some(tag) if tag.is_yaml_core_schema() => TagKind::Core,
            Some(_) => TagKind::Local,
        },
    }
}

fn at(node: &Node<'_>, message: &str) -> YamlError {
    YamlError {
        line: node.line,
        column: node.column,
        message: message.to_owned(),
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
