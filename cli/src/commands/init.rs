//! `tekne init`: a commented configuration and a first skill; nothing that exists is touched.

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::write_new;
use crate::app::Context;
use crate::error::{CliError, Exit};

/// Arguments of `tekne init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {}

const FILES: &[(&str, &str)] = &[
    (".tekne/config.yaml", include_str!("templates/config.yaml")),
    (
        ".tekne/skills/first-skill/SKILL.md",
        include_str!("templates/SKILL.md"),
    ),
];

/// Runs the command.
pub(crate) fn run(context: &Context, _arguments: &InitArgs) -> Result<Exit, CliError> {
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (path, text) in FILES {
        let new = create(&context.environment.cwd, path, text)?;
        if new {
            written.push((*path, *text))
        } else {
            kept.push(*path)
        }
    }
    trust(context, &written);
    let written: Vec<&str> = written.iter().map(|(path, _)| *path).collect();
    if context.output.is_json() {
        context
            .output
            .json_line(&json!({"v": 1, "written": written, "kept": kept}))?;
        return Ok(Exit::Done);
    }
    written
        .iter()
        .for_each(|path| context.output.talk(&format!("wrote {path}")));
    kept.iter().for_each(|path| {
        context
            .output
            .talk(&format!("kept {path}: it is there already"))
    });
    context
        .output
        .talk("next: `tekne skills list`, then `tekne run \"…\"`");
    Ok(Exit::Done)
}

/// Trusts what was just written; without that, it is what any project's files are.
fn trust(context: &Context, written: &[(&str, &str)]) {
    if let Err(error) = super::trust::trust_written(context, written) {
        context.output.notice(&format!(
            "what was written is not trusted: {}; see `tekne trust`",
            error.full_message()
        ));
    }
}

/// Writes a new file; tells whether it did.
fn create(top: &Path, path: &str, text: &str) -> Result<bool, CliError> {
    let path = top.join(path);
    write_new(top, &path, text).map_err(|error| {
        CliError::usage(format!("cannot write {}", path.display()))
            .with_code("init")
            .with_path(&path)
            .with_hint("make the folder writable, or choose another with -C")
            .with_source(error)
    })
}
