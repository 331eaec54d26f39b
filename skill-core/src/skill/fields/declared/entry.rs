//! What runs, and the services it uses. An entry that leaves the skill's folder refuses the skill.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Part, scalar};
use crate::skill::fields::Reader;
use crate::skill::findings::Findings;
use crate::skill::{EntryPoint, Factory};

/// The methods an entry may use.
const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/// Why there is no entry.
enum Wrong {
    /// It is not of a shape that is understood.
    Shape(&'static str),
    /// It leads out of the folder of the skill.
    Outside,
}

pub(super) fn read(reader: &mut Reader<'_, '_>) -> Option<EntryPoint> {
    let Some(field) = reader.take("entry") else {
        let message = "there is no `entry`; the skill cannot be run";
        let fix = "entry: {module: implement, function: run}";
        reader.findings.add("SK053", None, message).fix(fix);
        return None;
    };
    let part = Part::of(field);
    match entry(part) {
        Ok(entry) => Some(entry),
        Err(Wrong::Shape(message)) => {
            part.reject(reader.findings, message);
            None
        }
        Err(Wrong::Outside) => {
            outside(part, reader.findings, "the entry");
            None
        }
    }
}

fn outside(part: Part<'_>, findings: &mut Findings, what: &str) {
    let message = format!("{what} lies outside the folder of the skill");
    let text = part.node.value().to_string();
    let added = findings.add("SK061", part.place(), message).text(&text);
    added.refuses();
}

fn entry(part: Part<'_>) -> Result<EntryPoint, Wrong> {
    let shape =
        Wrong::Shape("`entry` is none of {module, function}, {command}, {http}, {tool}, {native}");
    let Some(pairs) = part.pairs() else {
        return Err(shape);
    };
    match pairs.as_slice() {
        [("command", argv)] => command(*argv),
        [("http", request)] => http(*request),
        [("tool", name)] => tool(*name),
        [("native", name)] => match name.text() {
            Some(name) => Ok(EntryPoint::Native {
                name: name.to_owned(),
            }),
            None => Err(Wrong::Shape("`native` is no name")),
        },
        [("module", module), ("function", function)]
        | [("function", function), ("module", module)] => python(*module, *function),
        _ => Err(shape),
    }
}

fn python(module: Part<'_>, function: Part<'_>) -> Result<EntryPoint, Wrong> {
    let module = module.text().unwrap_or_default();
    let function = function.text().unwrap_or_default();
    if module.contains(['/', '\\']) || module.starts_with('.') || module.contains("..") {
        return Err(Wrong::Outside);
    }
    if !module.split('.').all(is_identifier) {
        return Err(Wrong::Shape("`module` is no name of a Python module"));
    }
    if !is_identifier(function) {
        return Err(Wrong::Shape("`function` is no name of a Python function"));
    }
    Ok(EntryPoint::Python {
        module: module.to_owned(),
        function: function.to_owned(),
    })
}

fn is_identifier(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
}

fn command(part: Part<'_>) -> Result<EntryPoint, Wrong> {
    let is_list = part.node.text().is_none();
    let argv = scalar::texts(part.node).filter(|argv| is_list && !argv.is_empty());
    let argv = argv.ok_or(Wrong::Shape(
        "`command` is no list of a program and its arguments",
    ))?;
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let own_file = program.contains(['/', '\\']);
    if own_file && !is_below(program) || argv.iter().any(|argument| climbs(argument)) {
        return Err(Wrong::Outside);
    }
    Ok(EntryPoint::Command { argv })
}

/// Tells whether a relative path stays in the folder it is taken from.
fn is_below(path: &str) -> bool {
    !path.starts_with(['/', '\\', '~']) && !path.contains(['\\', ':']) && !climbs(path)
}

fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

fn http(part: Part<'_>) -> Result<EntryPoint, Wrong> {
    let shape = || Wrong::Shape("`http` is not {method, url, headers, body}");
    let (mut method, mut url) = ("GET".to_owned(), String::new());
    let (mut headers, mut body) = (BTreeMap::new(), Value::Null);
    for (key, part) in part.pairs().ok_or_else(shape)? {
        match key {
            "method" => method = part.text().ok_or_else(shape)?.to_ascii_uppercase(),
            "url" => part.text().ok_or_else(shape)?.clone_into(&mut url),
            "headers" => {
                for (name, value) in part.pairs().ok_or_else(shape)? {
                    let value = value.text().ok_or_else(shape)?;
                    headers.insert(name.to_owned(), value.to_owned());
                }
            }
            "body" => body = part.node.typed(),
            _ => return Err(shape()),
        }
    }
    if !METHODS.contains(&method.as_str()) {
        return Err(Wrong::Shape(
            "`method` is none of GET, POST, PUT, PATCH, DELETE, HEAD",
        ));
    }
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(Wrong::Shape(
            "`url` is no address that begins with http:// or https://",
        ));
    }
    Ok(EntryPoint::Http {
        method,
        url,
        headers,
        body,
    })
}

fn tool(part: Part<'_>) -> Result<EntryPoint, Wrong> {
    let name = part
        .text()
        .ok_or(Wrong::Shape("`tool` is no name of a tool"))?;
    if let Some(of_server) = name.strip_prefix("mcp:") {
        let named = of_server.split_once('/');
        if !named.is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty()) {
            return Err(Wrong::Shape("`tool` is not `mcp:SERVER/TOOL`"));
        }
    }
    Ok(EntryPoint::Tool {
        name: name.to_owned(),
    })
}

/// Reads the factories of services, `file.py:function` each.
pub(super) fn services(reader: &mut Reader<'_, '_>) -> BTreeMap<String, Factory> {
    let Some(field) = reader.take("services") else {
        return BTreeMap::new();
    };
    let part = Part::of(field);
    let Some(pairs) = part.pairs() else {
        if !part.node.is_null() {
            part.reject(reader.findings, "`services` is not a map of factories");
        }
        return BTreeMap::new();
    };
    let mut services = BTreeMap::new();
    for (name, part) in pairs {
        let named = part.text().and_then(|text| text.rsplit_once(':'));
        match named.filter(|(file, function)| !file.is_empty() && is_identifier(function)) {
            Some((file, _)) if !is_below(file) => {
                outside(
                    part,
                    reader.findings,
                    &format!("the factory of service `{name}`"),
                );
            }
            Some((file, function)) => {
                let factory = Factory {
                    file: file.trim_start_matches("./").to_owned(),
                    function: function.to_owned(),
                };
                services.insert(name.to_owned(), factory);
            }
            None => part.reject(
                reader.findings,
                format!("service `{name}` is not `FILE:FUNCTION`"),
            ),
        }
    }
    services
}
