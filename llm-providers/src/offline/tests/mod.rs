//! The offline model's moves, one branch each, as transcripts of what it is told and says.

mod choosing;
mod following;
mod reading;

use serde_json::json;
use skill_core::{
    CallStatus, CompletionEvent, CompletionRequest, ContentBlock, Message, ModelId, Role, ToolCall,
    ToolDefinition, ToolResult,
};

use super::reply;

const INDEX: &str = "# Skills\nOpen one before you work.\n\
    - changelog: Write release notes from the commits since the last tag.\n\
    - house-style: How we write in this house. (always on)\n\
    - meeting-minutes: Turn raw meeting notes into minutes with decisions and owners.\n\
    - report.weekly: 当用户要求生成周报时使用。不适用于日报。";

const MINUTES: &str = "# Minutes\n\n1. Read the raw notes.\n2. List every decision with its owner.\n\
    3. Compare with `plan.md`.\n";

struct Scene(CompletionRequest);

impl Scene {
    fn new(task: &str) -> Self {
        Self(CompletionRequest {
            model: ModelId::new("offline"),
            system: vec!["You are an agent.".into(), INDEX.into()],
            messages: vec![Message::user(task).into()],
            tools: [].into(),
            max_output_tokens: None,
        })
    }

    fn tools(mut self, names: &[&str]) -> Self {
        self.0.tools = names
            .iter()
            .map(|name| ToolDefinition {
                name: (*name).into(),
                description: String::new(),
                parameters: json!({"type": "object"}),
            })
            .collect();
        self
    }

    fn agent(task: &str) -> Self {
        Self::new(task).tools(&["open_skill", "read_file", "list_dir", "write_file"])
    }

    fn without_index(mut self) -> Self {
        self.0.system = vec!["# Skills\nSkills are not listed here. Call `list_skills`.".into()];
        self
    }

    /// Takes the next move, which must be calls, and answers them in order.
    fn answered(mut self, expected: &[&str], answers: &[(CallStatus, &str)]) -> Self {
        let calls = calls(&self.0);
        let shown: Vec<String> = calls
            .iter()
            .map(|call| format!("{} {}", call.name, call.arguments))
            .collect();
        assert_eq!(shown, expected);
        assert_eq!(calls.len(), answers.len());
        let results = calls
            .iter()
            .zip(answers)
            .map(|(call, (status, content))| ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                status: *status,
                content: (*content).into(),
            });
        let results = Message::tool_results(results.collect());
        let asked = Message {
            role: Role::Assistant,
            content: calls.into_iter().map(ContentBlock::ToolCall).collect(),
        };
        self.0.messages.extend([asked.into(), results.into()]);
        self
    }

    fn then(mut self, task: &str) -> Self {
        let said = self.says();
        self.0
            .messages
            .extend([Message::assistant(said).into(), Message::user(task).into()]);
        self
    }

    fn says(&self) -> String {
        assert_eq!(calls(&self.0), []);
        reply(&self.0)
            .into_iter()
            .filter_map(|event| match event {
                CompletionEvent::TextDelta(text) => Some(text),
                _ => None,
            })
            .collect()
    }
}

fn calls(request: &CompletionRequest) -> Vec<ToolCall> {
    reply(request)
        .into_iter()
        .filter_map(|event| match event {
            CompletionEvent::ToolCallDelta {
                id,
                name,
                arguments,
                ..
            } => Some(ToolCall {
                id: id.unwrap(),
                name: name.unwrap(),
                arguments,
            }),
            _ => None,
        })
        .collect()
}

fn opened(id: &str, body: &str) -> String {
    format!("<skill id=\"{id}\" version=\"1.0\" digest=\"0123abcd\">\n{body}</skill:0123abcd>")
}

const OPEN_MINUTES: &str = r#"open_skill {"id":"meeting-minutes"}"#;
