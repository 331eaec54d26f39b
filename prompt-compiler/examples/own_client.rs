//! Compiles a prompt for another program's own client, and prints it as OpenAI and Anthropic JSON.
//!
//! `cargo run -p prompt-compiler --example own_client`

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "an example prints what it made, and sets keys of JSON objects that it wrote"
)]

use std::error::Error;
use std::sync::Arc;

use prompt_compiler::{
    Breakpoint, Budget, CompileInput, CompiledPrompt, ContextFragment, FragmentKind, Opening,
    Preset, SkillEntry, SkillInput, SkillText, VocabularyCounter, compile,
};
use serde_json::{Value, json};
use skill_core::{
    CallStatus, ContentBlock, LoadMode, Message, ModelId, Role, ToolCall, ToolDefinition,
    ToolResult,
};

fn main() -> Result<(), Box<dyn Error>> {
    let model = ModelId::new("gpt-4o");
    let preset = Preset::built_in("default")?;
    let (skills, messages, tools) = (skills(), messages(), tools());
    let kind = FragmentKind::CurrentFile;
    let turn_context = [ContextFragment::new(
        kind,
        "file week.md",
        "- shipped the importer\n",
    )];
    let budget = Budget {
        allow_bound: false,
        ..Budget::default()
    };
    let input = CompileInput {
        model: &model,
        preset: &preset,
        instructions: "You keep the notes of a small team.",
        session_context: &[],
        skills: &skills,
        messages: &messages,
        turn_context: &turn_context,
        tools: &tools,
        budget: &budget,
        previous: None,
    };
    let prompt = compile(&input, &VocabularyCounter::for_model(&model))?;
    println!("{:#}", openai(&prompt));
    println!("{:#}", anthropic(&prompt));
    for line in &prompt.report.sections {
        println!(
            "{:<12} {:>6} of {:>6} tokens",
            line.name, line.given, line.asked
        );
    }
    Ok(())
}

/// A skill that is open: the first call of the turn opened it.
fn skills() -> SkillInput {
    let digest = "5f2c9a7e01b3";
    let entry = SkillEntry {
        id: "weekly".into(),
        name: "weekly".into(),
        description: "Writes the weekly review.".into(),
        load: LoadMode::Lazy,
        listed: true,
        tier: Default::default(),
    };
    let text = SkillText {
        id: "weekly".into(),
        name: "weekly".into(),
        version: None,
        digest: digest.into(),
        body: "1. Read the notes.\n2. Write three lines.\n".into(),
        docs: Vec::new(),
    };
    let opening = Opening {
        skill: "weekly".into(),
        digest: digest.into(),
    };
    SkillInput {
        visible: vec![entry],
        loaded: vec![text],
        openings: [("call_1".to_owned(), opening)].into(),
        ..SkillInput::default()
    }
}

fn messages() -> Vec<Arc<Message>> {
    let call = ToolCall {
        id: "call_1".into(),
        name: "open_skill".into(),
        arguments: r#"{"id":"weekly"}"#.into(),
    };
    let result = ToolResult {
        call_id: "call_1".into(),
        name: "open_skill".into(),
        status: CallStatus::Success,
        content: "loaded: weekly".into(),
    };
    let asked = Message {
        role: Role::Assistant,
        content: vec![ContentBlock::ToolCall(call)],
    };
    let messages = [
        Message::user("Write the weekly review."),
        asked,
        Message::tool_results(vec![result]),
    ];
    messages.into_iter().map(Arc::new).collect()
}

fn tools() -> Arc<[ToolDefinition]> {
    [ToolDefinition {
        name: "open_skill".into(),
        description: "Opens a skill.".into(),
        parameters: json!({"type": "object", "properties": {"id": {"type": "string"}}}),
    }]
    .into()
}

/// Chat completions: one system message, results as messages of their own.
fn openai(prompt: &CompiledPrompt) -> Value {
    let request = &prompt.request;
    let mut messages = vec![json!({"role": "system", "content": request.system.join("\n\n")})];
    for message in &request.messages {
        let text = texts(message).join("\n\n");
        match message.role {
            Role::Assistant => {
                let calls: Vec<Value> = message
                    .tool_calls()
                    .map(|call| {
                        json!({"id": call.id, "type": "function",
                               "function": {"name": call.name, "arguments": call.arguments}})
                    })
                    .collect();
                let mut said = json!({"role": "assistant"});
                said["content"] = if text.is_empty() { Value::Null } else { text.into() };
                if !calls.is_empty() {
                    said["tool_calls"] = calls.into();
                }
                messages.push(said);
            }
            Role::Tool => messages.extend(message.results().map(|result| {
                json!({"role": "tool", "tool_call_id": result.call_id, "content": result.content})
            })),
            _ => messages.push(json!({"role": "user", "content": text})),
        }
    }
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {"name": tool.name,
                   "description": tool.description, "parameters": tool.parameters}})
        })
        .collect();
    json!({"model": request.model.as_str(), "messages": messages, "tools": tools})
}

/// Messages: system blocks, results inside a user message, and breakpoints of the cache.
fn anthropic(prompt: &CompiledPrompt) -> Value {
    let request = &prompt.request;
    let cached = |breakpoint: Breakpoint, mut block: Value| {
        if prompt.breakpoints.contains(&breakpoint) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        block
    };
    let system: Vec<Value> = request
        .system
        .iter()
        .enumerate()
        .map(|(at, text)| {
            cached(
                Breakpoint::System(at),
                json!({"type": "text", "text": text}),
            )
        })
        .collect();
    let messages: Vec<Value> = request
        .messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            let role = if message.role == Role::Assistant {
                "assistant"
            } else {
                "user"
            };
            let mut blocks: Vec<Value> = message.content.iter().map(anthropic_block).collect();
            if let Some(last) = blocks.pop() {
                blocks.push(cached(Breakpoint::Message(at), last));
            }
            json!({"role": role, "content": blocks})
        })
        .collect();
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description,
                   "input_schema": tool.parameters})
        })
        .collect();
    json!({"model": request.model.as_str(), "max_tokens": request.max_output_tokens,
           "system": system, "messages": messages, "tools": tools})
}

fn anthropic_block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text { text } => json!({"type": "text", "text": text}),
        ContentBlock::ToolCall(call) => {
            // The compiler sends no arguments that are no JSON object.
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        ContentBlock::ToolResult(result) => json!({"type": "tool_result",
            "tool_use_id": result.call_id, "content": result.content,
            "is_error": result.is_error()}),
        ContentBlock::Unknown { value } => value.clone(),
        _ => Value::Null,
    }
}

fn texts(message: &Message) -> Vec<&str> {
    message
        .content
        .iter()
        .filter_map(ContentBlock::as_text)
        .collect()
}
