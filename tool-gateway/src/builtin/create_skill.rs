//! `create_skill`: a new skill, checked, written so that every reader takes it alike.

use std::io::{self, Write};
use std::path::PathBuf;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use skill_core::{LoadMode, SkillDraft};

use crate::access::Access;
use crate::builtin::blocking;
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::tool::{ErrorKind, Preview, Tool, ToolError, ToolOutput};

/// The name that the model calls.
const NAME: &str = "create_skill";

/// Writes new skills into one folder; what is there is never touched.
///
/// The policy judges it by its name: `tool(create_skill)`.
#[derive(Debug)]
pub(super) struct CreateSkill {
    folder: PathBuf,
    shown: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Id of the skill: lower-case letters, digits and single hyphens, at most 64 characters.
    id: String,
    /// What people call it; may be the id.
    name: String,
    /// What it does and when to use it, and when not: "Use when …. Not for …."
    description: String,
    /// The instructions in Markdown, without frontmatter.
    body: String,
    /// `lazy` is opened when needed; `always` stands in every request.
    load: Load,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Load {
    Lazy,
    Always,
}

impl CreateSkill {
    /// Returns the tool for `folder`, which need not exist; people and models read `shown`.
    pub(super) fn new(folder: PathBuf, shown: String) -> Self {
        Self { folder, shown }
    }
}

/// Returns the text of the skill's file, or everything that is wrong with it.
fn text(arguments: &Arguments) -> Result<String, ToolError> {
    let draft = SkillDraft {
        id: arguments.id.clone(),
        title: Some(arguments.name.clone()),
        description: arguments.description.clone(),
        load: match arguments.load {
            Load::Lazy => LoadMode::Lazy,
            Load::Always => LoadMode::Always,
        },
        body: arguments.body.clone(),
    };
    draft.to_text().map_err(|error| {
        let message = format!("no skill was written: {error}");
        ToolError::new(ErrorKind::InvalidArguments, message)
    })
}

impl Tool for CreateSkill {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Writes a new skill, once the user agreed to its text. It can be used from the next turn on."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        // Whether the id is free shows when it is written: what is there may be hidden from the
        // model, and nobody has agreed to anything yet.
        text(arguments)?;
        Ok(vec![Access::Tool(NAME.to_owned())])
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let text = text(arguments)?;
        let digest = sha256_hex(text.as_bytes());
        let action = format!(
            "create_skill {} in {} ({} bytes, sha256 {digest})",
            Value::from(arguments.id.as_str()),
            self.shown,
            text.len(),
        );
        Ok(Preview {
            action: Some(action),
            details: Some(text),
            ..Preview::default()
        })
    }

    async fn run(
        &self,
        _context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let text = text(&arguments)?;
        let (folder, id) = (self.folder.clone(), arguments.id);
        let shown = self.shown.clone();
        blocking(move || {
            write(&folder, &id, &text).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => taken(&id),
                _ => ToolError::failed(format!("skill `{id}` could not be written"))
                    .with_source(error),
            })?;
            let message =
                format!("created skill `{id}` in {shown}; it can be used from the next turn on");
            Ok(ToolOutput::text(message))
        })
        .await
    }
}

/// The same answer whatever stands in the way, be it visible to the caller or not.
fn taken(id: &str) -> ToolError {
    ToolError::failed(format!("the id `{id}` is taken; choose another one"))
}

/// Writes the skill's folder; nothing is left of one that could not be written whole.
fn write(folder: &std::path::Path, id: &str, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let folder = Dir::open_ambient_dir(folder, ambient_authority())?;
    folder.create_dir(id)?;
    let written = fill(&folder, id, text);
    if written.is_err() {
        // The write failed; what is left of it only gets tidied up.
        let _ = folder.remove_dir_all(id);
    }
    written
}

fn fill(folder: &Dir, id: &str, text: &str) -> io::Result<()> {
    let skill = folder.open_dir(id)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = skill.open_with("SKILL.md", &options)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    // The new names are durable once their folders are.
    skill.open(".")?.sync_all()?;
    folder.open(".")?.sync_all()
}
