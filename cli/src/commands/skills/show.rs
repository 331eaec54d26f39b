//! `tekne skills show`: one skill, as it would be opened.

use clap::Args;
use serde_json::json;

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::terminal::visible;
use crate::setup::{self, Assistant};

/// Arguments of `tekne skills show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The skill's id or name
    name: String,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &ShowArgs) -> Result<Exit, CliError> {
    let loaded = setup::configuration(context)?;
    let assistant = Assistant::new(context, &loaded.config)?;
    let catalog = setup::catalog(context, &loaded.config, &[]);
    let view = catalog.view(&assistant.principal(&loaded.config));
    let name = arguments.name.as_str();
    let Some(viewed) = view
        .find(Some(name), None)
        .or_else(|| view.find_for_user(name))
    else {
        let near = view.nearest(name, 5);
        let error =
            CliError::usage(format!("skill not found: {name}")).with_code("skill_not_found");
        return Err(if near.is_empty() {
            error.with_hint("`tekne skills list` shows the skills there are")
        } else {
            error.with_hint(format!("did you mean {}?", near.join(", ")))
        });
    };
    let skill = &viewed.skill;
    let opened = view
        .open(viewed)
        .map_err(|error| CliError::usage(error.to_string()))?;
    let docs = view.docs(viewed);
    if context.output.is_json() {
        context.output.json_line(&json!({
            "v": 1,
            "id": skill.id.as_str(), "name": skill.name, "description": skill.description,
            "format": skill.format.as_str(), "load": viewed.load.as_str(),
            "scope": skill.scope.as_str(), "path": skill.path.display().to_string(), "version": skill.version,
            "digest": skill.content_digest, "listed": viewed.listed, "docs": docs,
            "body": opened.body, "truncated": opened.truncated,
        }))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name:<12} {value}\n"));
        }
    };
    line("id", skill.id.as_str());
    line("name", &skill.name);
    line("description", &skill.description);
    line("load", viewed.load.as_str());
    line("scope", skill.scope.as_str());
    line("path", &context.environment.shown(&skill.path));
    line("version", skill.version.as_deref().unwrap_or_default());
    line("digest", &skill.content_digest);
    line("docs", &docs.join(", "));
    text.push('\n');
    text.push_str(&opened.body);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    context.output.data(&visible(&text))?;
    Ok(Exit::Done)
}
