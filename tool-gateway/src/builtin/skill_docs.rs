//! Documents of skills: which there are, and which stand beside the text of an open skill.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::{SkillView, StateDelta, ToolDefinition, ViewedSkill, state};

use super::open_skill::unknown_docs;
use crate::access::Access;
use crate::builtin::skill_text::one_line;
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{DynTool, ErrorKind, ToolError, ToolOutput};

/// Every document is selected.
const ALL: &str = "*";

/// The ways to select.
const MODES: [&str; 3] = ["add", "replace", "clear"];

/// Returns the tool that lists the documents of a skill, under this name.
pub fn list_skill_docs(name: impl Into<String>) -> Arc<dyn DynTool> {
    let parameters = json!({"type": "object", "properties": {
        "skill": {"type": "string", "description": "Id or name of the skill."},
    }, "required": ["skill"], "additionalProperties": false});
    let description = "Lists the documents that belong to a skill.";
    Arc::new(DocsTool {
        definition: definition(name, description, parameters),
        run: list,
    })
}

/// Returns the tool that selects documents of an open skill, under this name.
pub fn select_skill_docs(name: impl Into<String>) -> Arc<dyn DynTool> {
    let parameters = json!({"type": "object", "properties": {
        "skill": {"type": "string", "description": "Id or name of an open skill."},
        "docs": {"type": "array", "items": {"type": "string"},
            "description": "Documents to select."},
        "include_all_docs": {"type": "boolean", "description": "Select every document."},
        "mode": {"type": "string",
            "description": "add (the default), replace or clear what is selected."},
    }, "required": ["skill"], "additionalProperties": false});
    let description = "Selects the documents that stand beside the instructions of an open skill.";
    Arc::new(DocsTool {
        definition: definition(name, description, parameters),
        run: select,
    })
}

fn definition(name: impl Into<String>, description: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: description.to_owned(),
        parameters,
    }
}

#[derive(Debug)]
struct DocsTool {
    definition: ToolDefinition,
    run: fn(&ToolContext, &Value) -> Result<ToolOutput, ToolError>,
}

#[async_trait::async_trait]
impl DynTool for DocsTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::OpenSkill])
    }

    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let (context, run) = (context.clone(), self.run);
        super::blocking(move || run(&context, &arguments)).await
    }
}

fn list(context: &ToolContext, arguments: &Value) -> Result<ToolOutput, ToolError> {
    let skill = find(&context.view, arguments)?;
    let docs = context.view.docs(skill);
    let lines: Vec<String> = docs.iter().map(|doc| one_line(doc)).collect();
    Ok(ToolOutput::text(if lines.is_empty() {
        "(no documents)".to_owned()
    } else {
        lines.join("\n")
    }))
}

fn select(context: &ToolContext, arguments: &Value) -> Result<ToolOutput, ToolError> {
    let skill = find(&context.view, arguments)?;
    let id = skill.skill.id.as_str();
    let Some(before) = context.open_docs.get(id) else {
        let message = format!("skill `{}` is not open; open it first", escape_line(id));
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let docs = wanted(arguments);
    unknown_docs(&context.view, skill, docs.iter().map(String::as_str))?;
    let all = arguments.get("include_all_docs").and_then(Value::as_bool);
    let selected = match mode(arguments)? {
        "clear" => "[]".to_owned(),
        _ if all.unwrap_or_default() => ALL.to_owned(),
        "replace" => listed(docs),
        _ if before == ALL => ALL.to_owned(),
        _ => {
            // What cannot be read selects nothing, as when a request is made.
            let known: BTreeSet<String> = serde_json::from_str(before).unwrap_or_default();
            listed(known.into_iter().chain(docs).collect())
        }
    };
    let mut state = StateDelta::default();
    // Selecting counts as using the skill.
    state.set(state::loaded_key(&context.agent, id), "1");
    state.set(state::docs_key(&context.agent, id), selected.clone());
    let shown = match selected.as_str() {
        ALL => "all".to_owned(),
        "[]" => "none".to_owned(),
        selected => selected.to_owned(),
    };
    Ok(ToolOutput {
        content: format!("documents of {}: {shown}", one_line(id)),
        state,
        opened: None,
    })
}

fn listed(docs: BTreeSet<String>) -> String {
    Value::from_iter(docs).to_string()
}

fn wanted(arguments: &Value) -> BTreeSet<String> {
    let docs = arguments.get("docs").and_then(Value::as_array);
    let docs = docs.into_iter().flatten().filter_map(Value::as_str);
    docs.map(str::to_owned).collect()
}

fn mode(arguments: &Value) -> Result<&'static str, ToolError> {
    let given = arguments
        .get("mode")
        .and_then(Value::as_str)
        .unwrap_or("add");
    let given = given.trim();
    let known = MODES.iter().find(|mode| mode.eq_ignore_ascii_case(given));
    known.copied().ok_or_else(|| {
        let message = format!(
            "no mode `{}`; there are: {}",
            escape_line(given),
            MODES.join(", ")
        );
        ToolError::new(ErrorKind::InvalidArguments, message)
    })
}

/// Returns the skill meant; missing, hidden and disabled ones give the same answer.
fn find<'v>(view: &'v SkillView, arguments: &Value) -> Result<&'v ViewedSkill, ToolError> {
    let name = arguments
        .get("skill")
        .and_then(Value::as_str)
        .unwrap_or_default();
    view.find(None, Some(name)).ok_or_else(|| {
        let message = format!("skill not found: {}", escape_line(name));
        ToolError::new(ErrorKind::NotFound, message)
    })
}

#[cfg(test)]
mod tests {
    use skill_core::{MemorySource, Principal, ScanLimits, Skill, SkillCatalog};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// Selects for a skill whose selection is `before`, and returns the selection behind it.
    fn selected(before: &str, arguments: Value) -> Result<String, String> {
        let skills = MemorySource::new().with(Skill::new("calc", "Does sums."), "BODY\n");
        let catalog = SkillCatalog::new(vec![Arc::new(skills)], ScanLimits::default());
        let view = catalog.view(&Principal::default());
        let mut context = ToolContext::new("main", view, CancellationToken::new());
        context.open_docs = Arc::new([("calc".to_owned(), before.to_owned())].into());
        let output = select(&context, &arguments).map_err(|error| error.message)?;
        Ok(output.state.0[&state::docs_key("main", "calc")].clone())
    }

    #[test]
    fn adding_to_all_stays_all_and_clearing_leaves_none() {
        let select = |before: &str, mode: &str| {
            selected(before, json!({"skill": "calc", "docs": [], "mode": mode})).unwrap()
        };
        assert_eq!(select("*", "ADD "), "*");
        assert_eq!(select("[\"b.md\",\"a.md\"]", "add"), "[\"a.md\",\"b.md\"]");
        assert_eq!(select("[\"a.md\"]", "replace"), "[]");
        assert_eq!(select("*", "clear"), "[]");
        let all = json!({"skill": "calc", "include_all_docs": true});
        assert_eq!(selected("[]", all).unwrap(), "*");
    }

    #[test]
    fn what_cannot_be_selected_is_named_with_what_can() {
        let error = |arguments| selected("[]", arguments).unwrap_err();
        assert_eq!(
            error(json!({"skill": "calc", "mode": "bogus"})),
            "no mode `bogus`; there are: add, replace, clear"
        );
        assert_eq!(
            error(json!({"skill": "calc", "docs": ["x.md"]})),
            "no document `x.md` in skill `calc`; it has none"
        );
        assert_eq!(error(json!({"skill": "gone"})), "skill not found: gone");
    }
}
