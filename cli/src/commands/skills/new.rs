//! `tekne skills new`: a file to begin with, in a form that every reader takes alike.

use std::path::Path;

use clap::Args;
use serde_json::json;
use skill_core::{LoadMode, SkillDraft};

use crate::app::Context;
use crate::commands::trust::trust_written;
use crate::commands::write_new;
use crate::error::{CliError, Exit};
use crate::setup::{project_skills, user_skills};

/// Arguments of `tekne skills new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The skill's name: lower-case letters, digits and single hyphens
    name: String,
    /// What it does and when to use it, and when not
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Put its text before the model in every request
    #[arg(long)]
    always: bool,
    /// Write it to your own skills, also where the project has some
    #[arg(long)]
    user: bool,
}

const DESCRIPTION: &str = "Say here what this skill does. Use when it is asked for; not for \
    anything else.";

const BODY: &str = "# Steps\n\n\
    1. Say what to do first, and with which tool.\n\
    2. Say what a good result looks like.\n\n\
    # Mistakes to avoid\n\n\
    - Leave out what any capable reader knows.\n";

/// Runs the command.
pub(super) fn run(context: &Context, arguments: &NewArgs) -> Result<Exit, CliError> {
    let draft = SkillDraft {
        id: arguments.name.clone(),
        description: arguments
            .description
            .clone()
            .unwrap_or_else(|| DESCRIPTION.to_owned()),
        load: if arguments.always {
            LoadMode::Always
        } else {
            LoadMode::Lazy
        },
        body: BODY.to_owned(),
        ..SkillDraft::default()
    };
    let text = draft.to_text().map_err(|error| {
        CliError::usage(error.to_string())
            .with_code("skill_draft")
            .with_hint("a name looks like `weekly-report`")
    })?;
    let folder = project_skills(context)
        .filter(|_| !arguments.user)
        .unwrap_or_else(|| user_skills(context));
    let path = folder.join(&arguments.name).join("SKILL.md");
    write(&folder, &path, &text)?;
    if let Err(error) = trust_written(context, &[(&path.to_string_lossy(), &text)]) {
        context.output.notice(&error.full_message());
    }
    if context.output.is_json() {
        context.output.json_line(
            &json!({"v": 1, "id": arguments.name, "path": path.display().to_string()}),
        )?;
    } else {
        let shown = context.environment.shown(&path);
        context.output.data(&format!("{shown}\n"))?;
        context
            .output
            .talk("next: write its steps, then `tekne skills check`");
    }
    Ok(Exit::Done)
}

/// Writes a new file; what is there is never touched.
fn write(folder: &Path, path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |message| CliError::usage(message).with_path(path);
    match write_new(folder, path, text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(failed("there is a skill of this name already")
            .with_code("skill_exists")
            .with_hint("choose another name")),
        Err(error) => Err(failed("the skill cannot be written")
            .with_code("skill_not_written")
            .with_hint("make the folder writable")
            .with_source(error)),
    }
}
