//! What a request says, as far as the offline model asks: task, tools, results, open bodies.

use std::sync::Arc;

use serde_json::Value;
use skill_core::{CompletionRequest, ContentBlock, Message, Role, ToolResult};

use crate::offline::OPENERS;
use crate::offline::index::escaped;

/// A view of one request.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    request: &'a CompletionRequest,
    /// What the user wants, without the context that was put beside it.
    pub(super) task: String,
    /// The messages of the current turn, behind the user's.
    turn: &'a [Arc<Message>],
}

impl<'a> Conversation<'a> {
    pub(super) fn new(request: &'a CompletionRequest) -> Self {
        let last = request
            .messages
            .iter()
            .rposition(|message| message.role == Role::User && task(message).is_some());
        let turn = last.and_then(|last| request.messages.split_at_checked(last));
        let (message, turn) = match turn.and_then(|(_, turn)| turn.split_first()) {
            Some((message, turn)) => (Some(message.as_ref()), turn),
            None => (None, request.messages.as_slice()),
        };
        Self {
            request,
            task: message.and_then(task).unwrap_or_default(),
            turn,
        }
    }

    pub(super) fn system(&self) -> &'a [String] {
        &self.request.system
    }

    /// Tells whether any tool is on offer.
    pub(super) fn has_tools(&self) -> bool {
        !self.request.tools.is_empty()
    }

    /// Tells whether the tool `name` is on offer.
    pub(super) fn offers(&self, name: &str) -> bool {
        self.request.tools.iter().any(|tool| tool.name == name)
    }

    /// Returns this turn's results of the tool `name` with the arguments they were asked with,
    /// oldest first.
    pub(super) fn answered(&self, name: &str) -> Vec<(Value, &'a ToolResult)> {
        let results = self.turn.iter().flat_map(|message| message.results());
        results
            .filter(|result| result.name == name)
            .map(|result| {
                let mut calls = self.turn.iter().flat_map(|message| message.tool_calls());
                let call = calls.find(|call| call.id == result.call_id);
                let arguments = call.and_then(|call| serde_json::from_str(&call.arguments).ok());
                (arguments.unwrap_or_default(), result)
            })
            .collect()
    }

    /// Returns the tool on offer that opens skills, and the argument that names one.
    pub(super) fn opener(&self) -> Option<(&'static str, &'static str)> {
        let mut openers = OPENERS.iter().copied();
        openers.find(|(tool, _)| self.offers(tool))
    }

    /// Returns what came of opening a skill in this turn.
    pub(super) fn opened(&self) -> Option<&'a ToolResult> {
        let (opener, _) = self.opener()?;
        let answered = self.answered(opener).into_iter();
        let mut opened = answered.filter(|(arguments, _)| arguments.get("resource").is_none());
        opened.next().map(|(_, result)| result)
    }

    /// Returns the newest body of the skill `id` that stands in the request.
    pub(super) fn body_of(&self, id: &str) -> Option<&'a str> {
        let results = self
            .request
            .messages
            .iter()
            .flat_map(|message| message.results());
        let results = results.filter(|result| !result.is_error());
        let results = results.map(|result| result.content.as_str());
        let system = self.request.system.iter().map(String::as_str);
        system
            .chain(results)
            .filter_map(|text| enveloped(text, id).or_else(|| loaded(text, id)))
            .last()
    }

    /// Returns the first number of a call that no call of the request has.
    pub(super) fn next_call(&self) -> u64 {
        let calls = self
            .request
            .messages
            .iter()
            .flat_map(|message| message.tool_calls());
        let numbers =
            calls.filter_map(|call| call.id.strip_prefix("offline_")?.parse::<u64>().ok());
        numbers.max().map_or(0, |number| number.saturating_add(1))
    }
}

/// Returns the text of a message without the blocks that hold context; `None` where none is left.
fn task(message: &Message) -> Option<String> {
    let texts = message.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<&str> = texts
        .filter(|text| !text.starts_with("<context "))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns what stands in the envelope of the skill `id`.
///
/// The closing tag carries the beginning of the digest, so nothing inside can close it.
fn enveloped<'a>(text: &'a str, id: &str) -> Option<&'a str> {
    let opening = format!("<skill id=\"{}\"", escaped(id).replace('"', "&quot;"));
    text.match_indices(&opening).find_map(|(at, _)| {
        let (head, body) = text.get(at..)?.split_once('>')?;
        let (_, digest) = head.rsplit_once("digest=\"")?;
        let short: String = digest.chars().take_while(|c| *c != '"').take(8).collect();
        let (body, _) = body.split_once(&format!("</skill:{short}>"))?;
        Some(body.trim_matches('\n'))
    })
}

/// Returns what stands below `[Loaded] ID`, up to the line about its documents.
fn loaded<'a>(text: &'a str, id: &str) -> Option<&'a str> {
    let heading = format!("[Loaded] {}\n\n", escaped(id).replace('"', "&quot;"));
    let (_, body) = text.split_once(&heading)?;
    let (body, _) = body.rsplit_once("\n\nDocs loaded: ")?;
    Some(body.trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skill_core::{CompletionRequest, ContentBlock, Message, ModelId, Role};

    use super::{Conversation, enveloped};

    #[test]
    fn a_body_is_found_by_its_id_and_ends_at_its_own_digest() {
        let text = "# Open skills\n<skill id=\"other\" digest=\"00000000\">\nno\n</skill:00000000>\n\
                    <skill id=\"week\" version=\"1\" digest=\"0123456789\">\nbody </skill:99999999>\n</skill:01234567>";
        assert_eq!(enveloped(text, "week"), Some("body </skill:99999999>"));
        assert_eq!(enveloped(text, "wee"), None);
    }

    #[test]
    fn context_beside_the_task_is_not_the_task() {
        let request = CompletionRequest {
            model: ModelId::new("offline"),
            system: Vec::new(),
            messages: vec![Arc::new(Message {
                role: Role::User,
                content: vec![
                    ContentBlock::text("<context name=\"file a.md\">\nx\n</context:00000000>"),
                    ContentBlock::text("summarise it"),
                ],
            })],
            tools: [].into(),
            max_output_tokens: None,
        };
        assert_eq!(Conversation::new(&request).task, "summarise it");
    }
}
