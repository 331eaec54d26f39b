//! What text costs: the one place that adds the overhead of messages and tools.

use skill_core::{ContentBlock, Message, ToolDefinition};

use crate::tokens::TokenCounter;

/// Tokens a message costs beyond its text.
const PER_MESSAGE: u64 = 4;
/// Tokens a tool definition costs beyond its text.
const PER_TOOL: u64 = 8;

/// Measures text with a counter.
pub(crate) struct Meter<'a> {
    counter: &'a dyn TokenCounter,
    ceiling: u64,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(counter: &'a dyn TokenCounter) -> Self {
        Self {
            counter,
            ceiling: u64::MAX,
        }
    }

    /// Returns a meter for which everything above `ceiling` is the same: too much.
    pub(crate) fn up_to(counter: &'a dyn TokenCounter, ceiling: u64) -> Self {
        Self { counter, ceiling }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.counter.is_exact()
    }

    pub(crate) fn text(&self, text: &str) -> u64 {
        self.counter.count_up_to(text, self.ceiling)
    }

    pub(crate) fn texts(&self, texts: &[String]) -> Vec<u64> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    pub(crate) fn message(&self, message: &Message) -> u64 {
        PER_MESSAGE
            + message
                .content
                .iter()
                .map(|block| self.block(block))
                .sum::<u64>()
    }

    pub(crate) fn messages(&self, messages: &[Message]) -> Vec<u64> {
        messages
            .iter()
            .map(|message| self.message(message))
            .collect()
    }

    fn block(&self, block: &ContentBlock) -> u64 {
        match block {
            ContentBlock::Text { text } | ContentBlock::Reasoning { text } => self.text(text),
            ContentBlock::ToolCall(call) => {
                PER_MESSAGE + self.text(&call.name) + self.text(&call.arguments)
            }
            ContentBlock::ToolResult(result) => PER_MESSAGE + self.text(&result.content),
            other => self.text(&serde_json::to_string(other).unwrap_or_default()),
        }
    }

    /// Returns the cost of tool definitions, given their text from [`tools_text`].
    pub(crate) fn tools(&self, tools: &[ToolDefinition], text: &str) -> u64 {
        self.text(text) + PER_TOOL * tools.len() as u64
    }
}

/// Returns tool definitions as one text: name, description and schema of each.
pub(crate) fn tools_text(tools: &[ToolDefinition]) -> String {
    let mut text = String::new();
    for tool in tools {
        for part in [&tool.name, &tool.description, &tool.parameters.to_string()] {
            text.push_str(part);
            text.push('\n');
        }
    }
    text
}
