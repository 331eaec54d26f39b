//! `tekne skills register`, `unregister`, `enable` and `disable`: skills that are kept with their
//! digest in a folder of the program's own.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skill_core::{Authority, Registry, RegistryError, RegistryErrorKind};

use crate::app::Context;
use crate::error::{CliError, Exit};
use crate::render::terminal::{counted, on_one_line};
use crate::setup;

/// Arguments of `tekne skills register`.
#[derive(Debug, Args)]
pub(crate) struct RegisterArgs {
    /// A skill's folder or file
    path: PathBuf,
}

/// Arguments of the commands about what is registered.
#[derive(Debug, Args)]
pub(crate) struct RegisteredArgs {
    /// The skill: `ID` for all its versions, or `ID@VERSION`
    name: String,
}

/// Registers a skill.
pub(super) fn register(context: &Context, arguments: &RegisterArgs) -> Result<Exit, CliError> {
    let path = context.environment.cwd.join(&arguments.path);
    let registry = setup::registry(context)?;
    let registered = registry
        .register(&Authority::LocalUser, &path)
        .map_err(failed)?;
    if context.output.is_json() {
        context.output.json_line(&json!({"v": 1, "registered": {
            "id": registered.id.as_str(), "version": registered.version,
            "digest": registered.digest, "path": registered.package.display().to_string(),
        }}))?;
    } else {
        let reference = on_one_line(&registered.reference());
        context.output.talk(&format!("registered {reference}"));
    }
    Ok(Exit::Done)
}

/// Takes a skill out; one that is not there is no failure.
pub(super) fn unregister(context: &Context, arguments: &RegisteredArgs) -> Result<Exit, CliError> {
    let registry = setup::registry(context)?;
    let (id, version) = meant(&registry, &arguments.name);
    let count = registry
        .unregister(&Authority::LocalUser, id, version)
        .map_err(failed)?;
    if context.output.is_json() {
        context
            .output
            .json_line(&json!({"v": 1, "unregistered": count}))?;
    } else if count == 0 {
        let message = format!("`{}` was not registered", arguments.name);
        context.output.notice(&message);
    } else {
        let versions = counted(count, "version");
        context.output.talk(&format!("unregistered {versions}"));
    }
    Ok(Exit::Done)
}

/// Switches versions of a registered skill on or off.
pub(super) fn switch(
    context: &Context,
    arguments: &RegisteredArgs,
    enabled: bool,
) -> Result<Exit, CliError> {
    let registry = setup::registry(context)?;
    let (id, version) = meant(&registry, &arguments.name);
    let count = registry
        .set_enabled(&Authority::LocalUser, id, version, enabled)
        .map_err(failed)?;
    if count == 0 {
        let message = format!("`{}` is not registered", arguments.name);
        return Err(CliError::usage(message)
            .with_code("not_registered")
            .with_hint("`skills.disabled` in the configuration switches other skills off"));
    }
    let done = if enabled { "enabled" } else { "disabled" };
    if context.output.is_json() {
        context.output.json_line(&json!({"v": 1, done: count}))?;
    } else {
        let versions = counted(count, "version");
        context.output.talk(&format!("{done} {versions}"));
    }
    Ok(Exit::Done)
}

/// Reads `ID@VERSION`, or `ID` for all versions; an id may hold an `@` itself.
fn meant<'n>(registry: &Registry, name: &'n str) -> (&'n str, Option<&'n str>) {
    let is_id = registry.list().iter().any(|one| one.id.as_str() == name);
    match name.rsplit_once('@') {
        Some((id, version)) if !is_id => (id, Some(version)),
        _ => (name, None),
    }
}

fn failed(error: RegistryError) -> CliError {
    let (code, hint) = match error.kind {
        RegistryErrorKind::Conflict => (
            "skill_conflict",
            "give it another version, or unregister the one that is there",
        ),
        RegistryErrorKind::NotASkill => (
            "not_a_skill",
            "`tekne skills check PATH` says what is wrong with it",
        ),
        RegistryErrorKind::Refused => ("not_allowed", "ask somebody who may register skills"),
        _ => (
            "registry",
            "make the data folder writable, or set XDG_DATA_HOME to one that is",
        ),
    };
    CliError::usage(error.to_string())
        .with_code(code)
        .with_hint(hint)
        .with_source(error)
}
