//! `tekne config`: the merged configuration, its files, its schema.

use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::app::Context;
use crate::config::json_schema;
use crate::error::{CliError, Exit};
use crate::setup;

/// Subcommands of `tekne config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value and where it comes from
    Show,
    /// Show which files are read
    Path,
    /// Print the JSON Schema of a configuration file, for editors
    Schema,
}

/// Runs the command.
pub(crate) fn run(context: &Context, command: &ConfigCommand) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Show => show(context)?,
        ConfigCommand::Path => path(context)?,
        ConfigCommand::Schema => schema(context)?,
    }
    Ok(Exit::Done)
}

fn schema(context: &Context) -> Result<(), CliError> {
    let schema = json_schema();
    if context.output.is_json() {
        return context.output.json_line(&json!({"v": 1, "schema": schema}));
    }
    context.output.data(&format!("{schema:#}\n"))
}

fn path(context: &Context) -> Result<(), CliError> {
    let loaded = setup::configuration(context)?;
    if context.output.is_json() {
        let files: Vec<Value> = loaded
            .files
            .iter()
            .map(|file| json!({"layer": file.layer.as_str(), "path": file.path.display().to_string(), "exists": file.found}))
            .collect();
        return context.output.json_line(&json!({"v": 1, "files": files}));
    }
    let mut text = String::new();
    for file in &loaded.files {
        let state = if file.found { "" } else { "  (not there)" };
        let _ = writeln!(
            text,
            "{:<8} {}{state}",
            file.layer.as_str(),
            file.path.display()
        );
    }
    context.output.data(&text)
}

fn show(context: &Context) -> Result<(), CliError> {
    let loaded = setup::configuration(context)?;
    let merged = serde_json::to_value(&loaded.config)
        .map_err(|error| CliError::usage("the configuration cannot be shown").with_source(error))?;
    let notices: Vec<Value> = loaded
        .notices
        .iter()
        .map(|notice| json!({"code": notice.code, "key": notice.key, "message": notice.to_string(), "hint": notice.hint}))
        .collect();
    if context.output.is_json() {
        let origins: Map<String, Value> = loaded
            .origins
            .iter()
            .map(|(key, origin)| {
                (
                    key.to_owned(),
                    json!({"layer": origin.kind(), "at": origin.to_string()}),
                )
            })
            .collect();
        return context
            .output
            .json_line(&json!({"v": 1, "config": merged, "origins": origins, "notices": notices}));
    }
    let mut text = String::new();
    for (key, origin) in loaded.origins.iter() {
        let value = merged.pointer(&pointer(key)).unwrap_or(&Value::Null);
        let _ = writeln!(text, "{key}: {value}  # {origin}");
    }
    if text.is_empty() {
        context
            .output
            .notice("nothing is configured; every value is built in");
    }
    for notice in &loaded.notices {
        context.output.notice(&format!("{notice}; {}", notice.hint));
    }
    context.output.data(&text)
}

/// Turns `tools.policy[0]` into `/tools/policy/0`.
fn pointer(key: &str) -> String {
    let mut pointer = String::from("/");
    let mut quoted = false;
    for character in key.chars() {
        match character {
            '"' => quoted = !quoted,
            '.' | '[' if !quoted => pointer.push('/'),
            ']' if !quoted => {}
            '/' => pointer.push_str("~1"),
            '~' => pointer.push_str("~0"),
            other => pointer.push(other),
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_becomes_a_json_pointer() {
        assert_eq!(pointer("tools.policy[0]"), "/tools/policy/0");
        assert_eq!(
            pointer("providers.\"a.b/c\".base_url"),
            "/providers/a.b~1c/base_url"
        );
    }
}
