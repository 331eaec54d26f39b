//! YAML text into a tree, refusing what is broken, ambiguous or too much.
//!
//! Works on parser events rather than on a deserialiser: only they show a key that stands twice, a
//! value's exact column, and how deep a file goes before anything is built from it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::Number;

use super::error::ConfigError;
use super::node::{Entry, Kind, Node, described};
use super::origin::{Layer, Origin};

/// Deeper than any setting, and far from what would slow a parser down.
const DEEPEST: usize = 32;
/// More values than anybody writes by hand.
const MOST_VALUES: usize = 20_000;

/// Reads a text; an empty one is a map without keys.
pub(super) fn parse(text: &str, layer: Layer, path: &Arc<Path>) -> Result<Node, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        layer,
        path,
        depth: 0,
        values: 0,
    };
    reader.document()
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    layer: Layer,
    path: &'a Arc<Path>,
    depth: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node, ConfigError> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(self.error(
                        &span.start,
                        "a second document starts here",
                        ONE_DOCUMENT,
                    ));
                }
                Event::DocumentStart(_) => {
                    let (event, span) = self.next()?;
                    root = Some(self.node(event, span)?);
                }
                _ => return Err(self.error(&span.start, "not valid YAML", SYNTAX)),
            }
        }
        let start = self.origin(&Marker::new(0, 1, 0));
        let root = root.unwrap_or(Node {
            kind: Kind::Null,
            origin: start,
        });
        match root.kind {
            Kind::Map(_) => Ok(root),
            Kind::Null => Ok(Node {
                kind: Kind::Map(Vec::new()),
                ..root
            }),
            _ => Err(root.origin.error(
                format!("expected a map of settings, found {}", described(&root)),
                Some("a setting is written `key: value`".to_owned()),
            )),
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), ConfigError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.syntax(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, ConfigError> {
        self.values += 1;
        if self.values > MOST_VALUES {
            let message = format!("more than {MOST_VALUES} values");
            return Err(self.error(&span.start, message, "no configuration is that long"));
        }
        let kind = match event {
            Event::Scalar(text, style, _, tag) => {
                self.scalar(&text, style, tag.as_deref(), &span)?
            }
            Event::SequenceStart(_, tag) => {
                self.refuse_tag(tag.as_deref(), &span)?;
                self.descend(&span)?;
                let items = self.list()?;
                self.depth -= 1;
                Kind::List(items)
            }
            Event::MappingStart(_, tag) => {
                self.refuse_tag(tag.as_deref(), &span)?;
                self.descend(&span)?;
                let entries = self.map()?;
                self.depth -= 1;
                Kind::Map(entries)
            }
            Event::Alias(_) => {
                return Err(self.error(&span.start, "aliases (`*name`) are not supported", ALIAS));
            }
            _ => return Err(self.error(&span.start, "not valid YAML", SYNTAX)),
        };
        Ok(Node {
            kind,
            origin: self.origin(&span.start),
        })
    }

    fn list(&mut self) -> Result<Vec<Node>, ConfigError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn map(&mut self) -> Result<Vec<Entry>, ConfigError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: BTreeMap<String, Origin> = BTreeMap::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let Event::Scalar(key, ..) = event else {
                return Err(self.error(&span.start, "a key must be plain text", SYNTAX));
            };
            let origin = self.origin(&span.start);
            if let Some(first) = seen.insert(key.to_string(), origin.clone()) {
                let message = format!("the key `{key}` stands twice, first at {first}");
                return Err(self.error(&span.start, message, "keep one of the two"));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span)?;
            entries.push(Entry {
                key: key.into_owned(),
                origin,
                value,
            });
        }
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<Kind, ConfigError> {
        match tag {
            None if style == ScalarStyle::Plain => Ok(plain(text)),
            None => Ok(Kind::Text(text.to_owned())),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => {
                Ok(Kind::Text(text.to_owned()))
            }
            tag => self.refuse_tag(tag, span).map(|()| plain(text)),
        }
    }

    fn refuse_tag(&self, tag: Option<&Tag>, span: &Span) -> Result<(), ConfigError> {
        match tag {
            Some(tag) if !tag.is_yaml_core_schema() => {
                let message = format!("the tag `{tag}` is not supported");
                Err(self.error(&span.start, message, "quote text that starts with `!`"))
            }
            _ => Ok(()),
        }
    }

    fn descend(&mut self, span: &Span) -> Result<(), ConfigError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("nested deeper than {DEEPEST} levels");
            return Err(self.error(&span.start, message, "no setting goes that deep"));
        }
        Ok(())
    }

    fn syntax(&self, error: &ScanError) -> ConfigError {
        let message = format!("not valid YAML: {}", error.info());
        self.error(error.marker(), message, SYNTAX)
    }

    fn error(&self, marker: &Marker, message: impl Into<String>, hint: &str) -> ConfigError {
        self.origin(marker).error(message, Some(hint.to_owned()))
    }

    fn origin(&self, marker: &Marker) -> Origin {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Origin::File {
            layer: self.layer,
            path: Arc::clone(self.path),
            line: number(marker.line().max(1)),
            column: number(marker.col().saturating_add(1)),
        }
    }
}

const SYNTAX: &str = "check the indentation (blanks, no tabs) here and in the line above, and \
                      quote text that holds `: ` or starts with a special character";
const ALIAS: &str = "write the value out, or quote text that starts with `*`";
const ONE_DOCUMENT: &str = "a configuration is one document: remove the line `---`";

/// Reads an unquoted scalar as YAML 1.2 does; `yes`, `0755` and `1_000` stay text.
fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Kind::Text(text.to_owned()), Kind::Number)
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = digits.split(['.', 'e', 'E']).next().unwrap_or_default();
    let octal_looking = whole.len() > 1 && whole.starts_with('0');
    let numeric = digits
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if octal_looking || !numeric || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(value) = unsigned.parse::<u64>() {
        return Some(value.into());
    }
    if let Ok(value) = unsigned.parse::<i64>() {
        return Some(value.into());
    }
    unsigned.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests;
