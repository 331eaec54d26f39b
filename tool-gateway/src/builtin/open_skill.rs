//! `open_skill`: loads a skill, or serves one file of it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use skill_core::{OpenError, OpenErrorKind, Skill, SkillView, StateDelta, ViewedSkill, state};

use crate::access::Access;
use crate::builtin::skill_text::enveloped_file;
use crate::builtin::{RUN_SKILL, blocking};
use crate::context::ToolContext;
use crate::digest::sha256_hex;
use crate::escape::escape_line;
use crate::output::cut;
use crate::tool::{ErrorKind, SkillOpened, Tool, ToolError, ToolOutput};

/// The name of the tool that opens skills.
const OPEN_SKILL: &str = "open_skill";

/// How much of a file of a skill is shown, below the cap of every result.
const MAX_FILE_BYTES: usize = 60 * 1024;

/// How many documents are named when one is not found.
const MAX_DOCS_NAMED: usize = 50;

/// Opens skills of the call's view.
///
/// The result of opening is a stub and a change of state; the body is placed from the state when
/// the next request is compiled, so that history never holds a second copy.
#[derive(Debug)]
pub(super) struct OpenSkill;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Id of the skill.
    id: Option<String>,
    /// Name of the skill, if the id is not known.
    name: Option<String>,
    /// Documents of the skill to load with it.
    docs: Option<Vec<String>>,
    /// Load every document of the skill.
    include_all_docs: Option<bool>,
    /// Return this one file of the skill instead of opening it: a path below its folder.
    resource: Option<String>,
    /// What the skill is used on, as free text.
    args: Option<String>,
}

impl Tool for OpenSkill {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        OPEN_SKILL
    }

    fn description(&self) -> &str {
        "Opens a skill, so that its instructions stand before you from then on. Give its id or name."
    }

    fn access(&self, _arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::OpenSkill])
    }

    fn opens_skills_by(&self) -> Option<&str> {
        Some("id")
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        open_skill(context, arguments).await
    }
}

impl Arguments {
    /// Returns the arguments that open a skill by one name.
    pub(super) fn named(
        name: String,
        docs: Option<Vec<String>>,
        include_all_docs: Option<bool>,
    ) -> Self {
        Self {
            id: None,
            name: Some(name),
            docs,
            include_all_docs,
            resource: None,
            args: None,
        }
    }
}

/// Opens a skill, or serves one of its files.
pub(super) async fn open_skill(
    context: &ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let (view, agent) = (context.view.clone(), context.agent.clone());
    blocking(move || {
        let skill = find(&view, &arguments)?;
        match &arguments.resource {
            Some(file) => serve(&view, skill, file),
            None => open(&view, skill, &arguments, &agent),
        }
    })
    .await
}

/// Returns the skill meant; missing, hidden and disabled ones give the same answer.
fn find<'v>(view: &'v SkillView, arguments: &Arguments) -> Result<&'v ViewedSkill, ToolError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (id, name) = (given(&arguments.id), given(&arguments.name));
    let Some(wanted) = id.clone().or(name.clone()) else {
        let message = "give `id` or `name`: which skill to open is missing";
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    view.find(id.as_deref(), name.as_deref())
        .ok_or_else(|| skill_not_found(view, &wanted))
}

/// Says that a skill is missing, hidden or disabled: the answer does not tell which.
pub(crate) fn skill_not_found(view: &SkillView, wanted: &str) -> ToolError {
    let near = view.nearest(wanted, 3);
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", near.join(", "))
    };
    let text = format!("skill not found: {}{hint}", escape_line(wanted));
    ToolError::new(ErrorKind::NotFound, text)
}

/// Loads a skill: checks that it is what the view was made from, and declares the state.
fn open(
    view: &SkillView,
    skill: &ViewedSkill,
    arguments: &Arguments,
    agent: &str,
) -> Result<ToolOutput, ToolError> {
    view.open(skill).map_err(not_opened)?;
    let record = &skill.skill;
    let id = record.id.as_str();
    let mut state = StateDelta::default();
    state.set(state::loaded_key(agent, id), "1");
    if let Some(docs) = docs(view, skill, arguments)? {
        state.set(state::docs_key(agent, id), docs);
    }
    let mut content = format!("loaded: {id}");
    content.push_str(&how_to_run(record));
    if let Some(args) = arguments.args.as_deref().filter(|args| !args.is_empty()) {
        content.push_str(&format!("\nargs: {}", Value::from(args)));
    }
    let opened = SkillOpened {
        id: id.to_owned(),
        version: record.version.clone(),
        digest: record.content_digest.clone(),
    };
    Ok(ToolOutput {
        content,
        state,
        opened: Some(opened),
    })
}

/// Says how an executable skill is run, and with what.
fn how_to_run(skill: &Skill) -> String {
    let Some(declaration) = skill
        .declaration
        .as_deref()
        .filter(|one| one.entry.is_some())
    else {
        return String::new();
    };
    let parameters = declaration.parameters.iter().map(|parameter| {
        let mut schema = parameter.schema.clone();
        if let (Some(fields), false) = (schema.as_object_mut(), parameter.required) {
            fields.insert("required".to_owned(), false.into());
        }
        (parameter.name.clone(), schema)
    });
    let parameters: Map<String, Value> = parameters.collect();
    format!(
        "\nit runs by {RUN_SKILL} with these params: {}",
        Value::from(parameters)
    )
}

/// Returns the selection of documents as state holds it: `*`, or a sorted JSON array.
fn docs(
    view: &SkillView,
    skill: &ViewedSkill,
    arguments: &Arguments,
) -> Result<Option<String>, ToolError> {
    let wanted: BTreeSet<&str> = arguments
        .docs
        .iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if wanted.is_empty() {
        return Ok(arguments
            .include_all_docs
            .unwrap_or_default()
            .then(|| "*".to_owned()));
    }
    unknown_docs(view, skill, wanted.iter().copied())?;
    if arguments.include_all_docs.unwrap_or_default() {
        return Ok(Some("*".to_owned()));
    }
    Ok(Some(Value::from_iter(wanted).to_string()))
}

/// Fails for documents that do not belong to a skill, and names those that do.
pub(super) fn unknown_docs<'d>(
    view: &SkillView,
    skill: &ViewedSkill,
    wanted: impl Iterator<Item = &'d str>,
) -> Result<(), ToolError> {
    let known = view.docs(skill);
    let unknown: Vec<String> = wanted
        .filter(|doc| !known.iter().any(|known| known == *doc))
        .map(|doc| format!("`{}`", escape_line(doc)))
        .collect();
    if !unknown.is_empty() {
        let named = known
            .iter()
            .take(MAX_DOCS_NAMED)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        let available = if named.is_empty() {
            "it has none".to_owned()
        } else {
            format!("available: {named}")
        };
        let message = format!(
            "no document {} in skill `{}`; {available}",
            unknown.join(", "),
            skill.skill.id
        );
        return Err(ToolError::new(ErrorKind::NotFound, message));
    }
    Ok(())
}

/// Returns one file of a skill as text, in an envelope.
fn serve(view: &SkillView, skill: &ViewedSkill, file: &str) -> Result<ToolOutput, ToolError> {
    let resource = view.resource(skill, file).map_err(not_opened)?;
    let size = resource.bytes.len();
    if resource.bytes.contains(&0) {
        let message = format!(
            "`{}` is a binary file of {size} bytes; only text can be shown",
            escape_line(file)
        );
        return Err(ToolError::failed(message));
    }
    let digest = sha256_hex(&resource.bytes);
    let text = String::from_utf8_lossy(&resource.bytes);
    let shown = cut(&text, MAX_FILE_BYTES);
    let mut content = enveloped_file(skill, file, &digest, shown);
    if shown.len() < text.len() || resource.truncated {
        content.push_str(&format!(
            "\n[cut: these are the first {} bytes of a longer file]",
            shown.len()
        ));
    }
    Ok(ToolOutput::text(content))
}

fn not_opened(error: OpenError) -> ToolError {
    let (kind, message) = match error.kind {
        OpenErrorKind::Changed => (
            ErrorKind::Environment,
            format!("skill set changed: {error}; the next turn sees the new one"),
        ),
        OpenErrorKind::NotFound => (ErrorKind::NotFound, error.to_string()),
        OpenErrorKind::Outside => (ErrorKind::Denied, error.to_string()),
        _ => (ErrorKind::Tool, error.to_string()),
    };
    ToolError::new(kind, escape_line(&message)).with_source(error)
}
