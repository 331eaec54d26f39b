//! Opening a skill in the spelling of a preset: another name, and one argument that names the skill.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skill_core::ToolDefinition;

use super::open_skill::{Arguments, open_skill};
use crate::access::Access;
use crate::context::ToolContext;
use crate::escape::escape_line;
use crate::tool::{DynTool, ErrorKind, ToolError, ToolOutput};

/// How opening a skill is spelled, where it is not `open_skill`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSpelling {
    /// The name of the tool.
    pub tool: String,
    /// The argument that names the skill.
    pub argument: String,
    /// The answer for a skill that cannot be found; `{name}` stands for what was asked for.
    pub not_found: String,
    /// Whether documents of the skill can be loaded with it.
    pub docs: bool,
}

/// Returns the tool that opens skills in this spelling.
pub fn open_skill_as(spelling: OpenSpelling) -> Arc<dyn DynTool> {
    Arc::new(SpelledOpen {
        definition: definition(&spelling),
        spelling,
    })
}

#[derive(Debug)]
struct SpelledOpen {
    definition: ToolDefinition,
    spelling: OpenSpelling,
}

fn definition(spelling: &OpenSpelling) -> ToolDefinition {
    let mut properties = Map::new();
    properties.insert(
        spelling.argument.clone(),
        json!({"type": "string", "description": "Name of the skill."}),
    );
    if spelling.docs {
        let docs = json!({"type": "array", "items": {"type": "string"},
            "description": "Documents of the skill to load with it."});
        let all = json!({"type": "boolean", "description": "Load every document of the skill."});
        properties.insert("docs".to_owned(), docs);
        properties.insert("include_all_docs".to_owned(), all);
    }
    ToolDefinition {
        name: spelling.tool.clone(),
        description: format!(
            "Opens a skill, so that its instructions stand before you from then on. Give its name \
             as `{}`.",
            spelling.argument
        ),
        parameters: json!({"type": "object", "properties": properties,
            "required": [spelling.argument], "additionalProperties": false}),
    }
}

#[async_trait::async_trait]
impl DynTool for SpelledOpen {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::OpenSkill])
    }

    fn opens_skills_by(&self) -> Option<&str> {
        Some(&self.spelling.argument)
    }

    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let name = arguments.get(&self.spelling.argument);
        let name = name.and_then(Value::as_str).unwrap_or_default().to_owned();
        if name.trim().is_empty() {
            let argument = &self.spelling.argument;
            let message = format!("give `{argument}`: which skill to open is missing");
            return Err(ToolError::new(ErrorKind::InvalidArguments, message));
        }
        let docs = arguments.get("docs").and_then(Value::as_array);
        let docs = docs.map(|docs| {
            docs.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        });
        let all = arguments.get("include_all_docs").and_then(Value::as_bool);
        let wanted = Arguments::named(name.clone(), docs, all);
        match open_skill(context, wanted).await {
            Ok(output) => Ok(ToolOutput {
                content: format!("loaded: {}", escape_line(&name)),
                ..output
            }),
            Err(error)
                if error.kind == ErrorKind::NotFound
                    && context.view.find(None, Some(&name)).is_none() =>
            {
                let text = self
                    .spelling
                    .not_found
                    .replace("{name}", &escape_line(&name));
                Err(ToolError::new(ErrorKind::NotFound, text))
            }
            Err(error) => Err(error),
        }
    }
}
