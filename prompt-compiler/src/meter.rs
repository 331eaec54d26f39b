//! What text costs: the one place that adds the overhead of messages and tools.

use std::cell::RefCell;

use skill_core::{ContentBlock, Message, ToolDefinition};

use crate::cache::Texts;
use crate::family::Overhead;
use crate::tokens::TokenCounter;

/// Measures text: with a counter, or with the bound that a token is a byte at least.
pub(crate) struct Meter<'a> {
    counter: Option<&'a dyn TokenCounter>,
    ceiling: u64,
    overhead: Overhead,
    texts: RefCell<&'a mut Texts>,
}

impl<'a> Meter<'a> {
    /// Returns a meter that never undercounts and reads no text.
    pub(crate) fn bound(overhead: Overhead, texts: &'a mut Texts) -> Self {
        Self {
            counter: None,
            ceiling: u64::MAX,
            overhead,
            texts: RefCell::new(texts),
        }
    }

    /// Returns a meter for which everything above `ceiling` is the same: too much.
    pub(crate) fn counting(
        counter: &'a dyn TokenCounter,
        ceiling: u64,
        overhead: Overhead,
        texts: &'a mut Texts,
    ) -> Self {
        Self {
            counter: Some(counter),
            ceiling,
            overhead,
            texts: RefCell::new(texts),
        }
    }

    /// Tells whether this is the bound that needs no counter.
    pub(crate) fn is_bound(&self) -> bool {
        self.counter.is_none()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.counter.is_some_and(TokenCounter::is_exact)
    }

    /// Says what counts are made with.
    pub(crate) fn basis(&self) -> String {
        self.counter
            .map_or_else(|| "bytes".to_owned(), TokenCounter::basis)
    }

    /// Returns the tokens of a request beyond all of its parts.
    pub(crate) fn base(&self) -> u64 {
        self.overhead.base
    }

    /// Returns the tokens of a text that the next request may well have again.
    pub(crate) fn text(&self, text: &str) -> u64 {
        match self.counter {
            None => text.len() as u64,
            Some(_) => self.texts.borrow_mut().count(text, || self.once(text)),
        }
    }

    /// Returns the tokens of a text that is only tried.
    pub(crate) fn apart(&self, text: &str) -> u64 {
        self.once(text)
    }

    /// Returns the tokens of a system block; what joins it to the next is counted with it.
    pub(crate) fn block(&self, text: &str) -> u64 {
        self.text(text) + self.overhead.per_block
    }

    /// Returns the tokens of a message; whoever asks remembers the answer.
    pub(crate) fn message(&self, message: &Message) -> u64 {
        let blocks = message.content.iter();
        self.overhead.per_message + blocks.map(|block| self.content(block)).sum::<u64>()
    }

    /// Returns the tokens of a message made for this request, which the next may well have again.
    pub(crate) fn remembered(&self, message: &Message) -> u64 {
        let blocks = message.content.iter();
        let size = |block: &ContentBlock| match block {
            ContentBlock::ToolResult(result) => {
                self.overhead.per_message + self.text(&result.content)
            }
            other => self.content(other),
        };
        self.overhead.per_message + blocks.map(size).sum::<u64>()
    }

    fn content(&self, block: &ContentBlock) -> u64 {
        match block {
            ContentBlock::Text { text } | ContentBlock::Reasoning { text } => self.once(text),
            ContentBlock::ToolCall(call) => {
                self.overhead.per_message + self.once(&call.name) + self.once(&call.arguments)
            }
            ContentBlock::ToolResult(result) => {
                self.overhead.per_message + self.once(&result.content)
            }
            other => self.once(&serde_json::to_string(other).unwrap_or_default()),
        }
    }

    fn once(&self, text: &str) -> u64 {
        match self.counter {
            None => text.len() as u64,
            Some(counter) => counter.count_up_to(text, self.ceiling),
        }
    }

    /// Returns the cost of tool definitions, given their text from [`tools_text`].
    pub(crate) fn tools(&self, tools: &[ToolDefinition], text: &str) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        self.text(text) + self.overhead.tools + self.overhead.per_tool * tools.len() as u64
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
