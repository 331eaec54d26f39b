//! The format of a golden case, and what it becomes.

use std::collections::BTreeMap;
use std::sync::Arc;

use prompt_compiler::{
    ContextFragment, ListingTier, Opening, Placement, Preset, SkillEntry, SkillInput, SkillText,
};
use serde::Deserialize;
use skill_core::{
    CallStatus, ContentBlock, LoadMode, Message, Role, ToolCall, ToolDefinition, ToolResult,
};

/// A case file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The rule, in a sentence.
    pub(crate) rule: String,
    #[serde(default = "default_preset")]
    pub(crate) preset: String,
    #[serde(default = "default_model")]
    pub(crate) model: String,
    #[serde(default = "default_window")]
    pub(crate) window: u64,
    #[serde(default)]
    pub(crate) reserve_output: u64,
    #[serde(default)]
    pub(crate) instructions: String,
    #[serde(default)]
    pub(crate) session_context: Vec<ContextFragment>,
    #[serde(default)]
    pub(crate) turn_context: Vec<ContextFragment>,
    #[serde(default)]
    pub(crate) caps: BTreeMap<String, u64>,
    /// Overrides of the preset.
    #[serde(default)]
    pub(crate) placement: Option<Placement>,
    #[serde(default)]
    pub(crate) describe_at_most: Option<usize>,
    #[serde(default)]
    skills: Vec<CaseSkill>,
    /// Names of tools on offer.
    #[serde(default)]
    tools: Vec<String>,
    conversation: Vec<CaseMessage>,
}

/// A visible skill.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseSkill {
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    always: bool,
    #[serde(default)]
    tier: ListingTier,
    /// Stands for that many skills, numbered.
    #[serde(default)]
    count: Option<usize>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    docs: BTreeMap<String, String>,
    /// The calls that opened it.
    #[serde(default)]
    opened_by: Vec<String>,
    /// Whether it is open now.
    #[serde(default)]
    open: bool,
}

/// One entry of a conversation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct CaseMessage {
    user: Option<String>,
    /// Blocks beside what the user says.
    #[serde(default)]
    blocks: Vec<serde_json::Value>,
    assistant: Option<String>,
    /// The calls of one step with their stored results.
    step: Option<Vec<CaseCall>>,
    /// Rounds of filler.
    rounds: Option<Filler>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filler {
    count: usize,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseCall {
    id: String,
    tool: String,
    #[serde(default = "empty_object")]
    arguments: String,
    #[serde(default)]
    result: Option<String>,
    #[serde(default = "success")]
    status: CallStatus,
}

fn default_preset() -> String {
    "default".into()
}

fn default_model() -> String {
    "gpt-4o".into()
}

fn default_window() -> u64 {
    128_000
}

fn empty_object() -> String {
    "{}".into()
}

fn success() -> CallStatus {
    CallStatus::Success
}

impl Case {
    pub(crate) fn preset(&self) -> Preset {
        let mut preset = Preset::built_in(&self.preset).unwrap();
        preset.placement = self.placement.unwrap_or(preset.placement);
        preset.skills.index.describe_at_most = self.describe_at_most;
        preset
    }

    pub(crate) fn skills(&self) -> SkillInput {
        let mut input = SkillInput::default();
        for skill in &self.skills {
            input.visible.extend(skill.entries());
            for call in &skill.opened_by {
                let opening = Opening {
                    skill: skill.id.clone(),
                    digest: skill.digest(),
                };
                input.openings.insert(call.clone(), opening);
            }
            if skill.always {
                input.always.push(skill.text());
            } else if skill.open {
                input.loaded.push(skill.text());
            }
        }
        input
    }

    pub(crate) fn messages(&self) -> Vec<Arc<Message>> {
        self.conversation
            .iter()
            .flat_map(CaseMessage::messages)
            .map(Arc::new)
            .collect()
    }

    pub(crate) fn tools(&self) -> Arc<[ToolDefinition]> {
        let tool = |name: &String| ToolDefinition {
            name: name.clone(),
            description: format!("The tool {name}."),
            parameters: serde_json::json!({"type": "object"}),
        };
        self.tools.iter().map(tool).collect()
    }
}

impl CaseSkill {
    fn entries(&self) -> impl Iterator<Item = SkillEntry> + '_ {
        (1..=self.count.unwrap_or(1)).map(|number| SkillEntry {
            id: match self.count {
                Some(_) => format!("{}-{number:03}", self.id),
                None => self.id.clone(),
            },
            name: self.name.clone().unwrap_or_else(|| self.id.clone()),
            description: self.description.clone(),
            load: if self.always {
                LoadMode::Always
            } else {
                LoadMode::Lazy
            },
            listed: true,
            tier: self.tier,
        })
    }

    fn text(&self) -> SkillText {
        SkillText {
            id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| self.id.clone()),
            version: self.version.clone(),
            digest: self.digest(),
            body: self.body.clone(),
            docs: self.docs.clone().into_iter().collect(),
        }
    }

    /// A digest that tells skills apart and is easy to read in a snapshot.
    fn digest(&self) -> String {
        let letters: String = self
            .id
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        format!("{letters:0<8}").chars().take(8).collect()
    }
}

impl CaseMessage {
    fn said(&self, text: &str) -> Message {
        let mut message = Message::user(text);
        let unknown = |value: &serde_json::Value| ContentBlock::Unknown {
            value: value.clone(),
        };
        message.content.extend(self.blocks.iter().map(unknown));
        message
    }

    fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        messages.extend(self.user.as_ref().map(|text| self.said(text)));
        messages.extend(self.assistant.as_ref().map(Message::assistant));
        messages.extend(self.step.iter().flat_map(|calls| step(calls)));
        if let Some(filler) = &self.rounds {
            for number in 1..=filler.count {
                messages.push(Message::user(format!("question {number}: {}", filler.text)));
                messages.push(Message::assistant(format!(
                    "answer {number}: {}",
                    filler.text
                )));
            }
        }
        messages
    }
}

fn step(calls: &[CaseCall]) -> Vec<Message> {
    let call = |call: &CaseCall| {
        ContentBlock::ToolCall(ToolCall {
            id: call.id.clone(),
            name: call.tool.clone(),
            arguments: call.arguments.clone(),
        })
    };
    let result = |call: &CaseCall| {
        Some(ToolResult {
            call_id: call.id.clone(),
            name: call.tool.clone(),
            status: call.status,
            content: call.result.clone()?,
        })
    };
    let asked = Message {
        role: Role::Assistant,
        content: calls.iter().map(call).collect(),
    };
    let results: Vec<ToolResult> = calls.iter().filter_map(result).collect();
    if results.is_empty() {
        vec![asked]
    } else {
        vec![asked, Message::tool_results(results)]
    }
}
