//! What the tests compile: an input that owns its parts, with all but a few taken for granted.

use std::sync::Arc;

use prompt_compiler::{
    BlockMark, Budget, ByteBound, CompileCache, CompileError, CompileInput, CompiledPrompt,
    ContextFragment, Pipeline, Preset, SectionReport, SkillEntry, SkillInput, SkillText,
    TokenCounter, validate,
};
use skill_core::{
    CallStatus, ContentBlock, LoadMode, Message, ModelId, Role, ToolCall, ToolDefinition,
    ToolResult,
};

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) model: ModelId,
    pub(crate) preset: Preset,
    pub(crate) instructions: String,
    pub(crate) session_context: Vec<ContextFragment>,
    pub(crate) turn_context: Vec<ContextFragment>,
    pub(crate) skills: SkillInput,
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) tools: Arc<[ToolDefinition]>,
    pub(crate) budget: Budget,
    pub(crate) previous: Option<Vec<BlockMark>>,
}

impl Case {
    pub(crate) fn new(preset: &str, messages: Vec<Message>) -> Self {
        Self {
            model: ModelId::new("test"),
            preset: Preset::built_in(preset).unwrap(),
            instructions: String::new(),
            session_context: Vec::new(),
            turn_context: Vec::new(),
            skills: SkillInput::default(),
            messages: messages.into_iter().map(Arc::new).collect(),
            tools: [tool("read_file")].into(),
            budget: Budget {
                allow_bound: false,
                ..Budget::default()
            },
            previous: None,
        }
    }

    pub(crate) fn window(mut self, window: u64) -> Self {
        self.budget.window = window;
        self.budget.reserve_output = 0;
        self
    }

    /// Compiles with a token a byte.
    pub(crate) fn compile(&self) -> Result<CompiledPrompt, CompileError> {
        self.with(&ByteBound, &mut CompileCache::default())
    }

    /// Compiles, and holds the request against the strict validator and the window.
    pub(crate) fn with(
        &self,
        counter: &dyn TokenCounter,
        cache: &mut CompileCache,
    ) -> Result<CompiledPrompt, CompileError> {
        self.through(&Pipeline::standard(), counter, cache)
    }

    pub(crate) fn through(
        &self,
        pipeline: &Pipeline,
        counter: &dyn TokenCounter,
        cache: &mut CompileCache,
    ) -> Result<CompiledPrompt, CompileError> {
        let input = CompileInput {
            model: &self.model,
            preset: &self.preset,
            instructions: &self.instructions,
            session_context: &self.session_context,
            skills: &self.skills,
            messages: &self.messages,
            turn_context: &self.turn_context,
            tools: &self.tools,
            budget: &self.budget,
            previous: self.previous.as_deref(),
        };
        let prompt = pipeline.compile(&input, counter, cache)?;
        let request = &prompt.request;
        assert_eq!(validate(request), Ok(()), "{request:#?}");
        assert!(prompt.report.total <= self.budget.request_limit());
        Ok(prompt)
    }
}

pub(crate) fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: "Does a thing.".into(),
        parameters: serde_json::json!({"type": "object"}),
    }
}

pub(crate) fn entry(id: &str, description: &str, load: LoadMode) -> SkillEntry {
    SkillEntry {
        id: id.into(),
        name: id.into(),
        description: description.into(),
        load,
        listed: true,
        tier: Default::default(),
    }
}

pub(crate) fn text(id: &str, body: &str) -> SkillText {
    SkillText {
        id: id.into(),
        name: id.into(),
        version: None,
        digest: format!("{id:0<8}"),
        body: body.into(),
        docs: Vec::new(),
    }
}

pub(crate) fn group(id: &str, arguments: &str, content: &str) -> [Message; 2] {
    let call = ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let result = ToolResult {
        call_id: id.into(),
        name: "read_file".into(),
        status: CallStatus::Success,
        content: content.into(),
    };
    let asked = Message {
        role: Role::Assistant,
        content: vec![ContentBlock::ToolCall(call)],
    };
    [asked, Message::tool_results(vec![result])]
}

/// Returns the line of a section, or an empty one.
pub(crate) fn section(prompt: &CompiledPrompt, name: &str) -> SectionReport {
    let mut sections = prompt.report.sections.iter();
    sections
        .find(|section| section.name == name)
        .cloned()
        .unwrap_or(SectionReport {
            name: name.into(),
            asked: 0,
            given: 0,
            cut: Vec::new(),
            sources: Vec::new(),
        })
}
