//! A stand-in for a language model that is none: it finds a skill by its words and follows it.
//!
//! Everything it says is a function of the request alone, so a run with it goes through every
//! part of an agent without a key, a server or chance.

mod answer;
mod asked;
mod conversation;
mod excerpt;
mod extensions;
mod files;
mod index;
mod language;
mod markdown;
mod mentions;
mod purpose;
mod reading;
mod recall;
mod search;
mod similarity;
mod spaced;
mod steps;
mod stop_words;
mod words;

pub use files::named_files;

use async_trait::async_trait;
use serde_json::{Value, json};
use skill_core::{
    CompletionEvent, CompletionRequest, CompletionStream, Provider, ProviderError, StopReason,
    Usage,
};

use crate::offline::conversation::Conversation;
use crate::offline::index::Entry;
use crate::offline::reading::Files;
use crate::offline::recall::Ranking;

/// The tools whose calls and results it knows.
const OPEN_SKILL: &str = "open_skill";

/// The spellings of the tool that opens skills, with the argument that names one.
const OPENERS: [(&str, &str); 3] = [
    (OPEN_SKILL, "id"),
    ("skill_load", "skill"),
    ("view_skill", "name"),
];
const READ_FILE: &str = "read_file";

/// How many skills are named where none fits.
const NEAREST: usize = 3;

/// The provider `offline`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider;

impl OfflineProvider {
    /// Its name, as in `--model offline`.
    pub const NAME: &str = "offline";
}

#[async_trait]
impl Provider for OfflineProvider {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn stream(&self, request: CompletionRequest) -> Result<CompletionStream, ProviderError> {
        let events = reply(&request).into_iter().map(Ok);
        Ok(Box::pin(futures_util::stream::iter(events)))
    }
}

/// One thing to do next.
#[derive(Debug, PartialEq)]
enum Move {
    Call(Vec<(&'static str, Value)>),
    Say(String),
}

/// Returns the whole answer to `request`.
fn reply(request: &CompletionRequest) -> Vec<CompletionEvent> {
    let conversation = Conversation::new(request);
    let (mut events, stop) = match next_move(&conversation) {
        Move::Say(text) => (said(&text), StopReason::EndTurn),
        Move::Call(calls) => (
            called(calls, conversation.next_call()),
            StopReason::ToolCalls,
        ),
    };
    events.push(CompletionEvent::Finished {
        stop,
        usage: Usage::default(),
    });
    events
}

fn said(text: &str) -> Vec<CompletionEvent> {
    let lines = text.split_inclusive('\n').map(str::to_owned);
    lines.map(CompletionEvent::TextDelta).collect()
}

fn called(calls: Vec<(&'static str, Value)>, first: u64) -> Vec<CompletionEvent> {
    let numbered = calls.into_iter().zip(first..).enumerate();
    numbered
        .map(
            |(index, ((name, arguments), number))| CompletionEvent::ToolCallDelta {
                index,
                id: Some(format!("offline_{number}")),
                name: Some(name.to_owned()),
                arguments: arguments.to_string(),
            },
        )
        .collect()
}

/// Decides from what stands in the request: list, open, read, answer.
fn next_move(conversation: &Conversation<'_>) -> Move {
    let (entries, listing) = match search::skills_on_offer(conversation) {
        Ok(offer) => offer,
        Err(list) => return list,
    };
    let ranking = Ranking::new(&entries, &conversation.task, listing);
    let Some(best) = ranking.best() else {
        let nearest = ranking.nearest(NEAREST);
        return Move::Say(answer::no_match(conversation, entries.len(), &nearest));
    };
    let Some((opener, argument)) = conversation.opener() else {
        return Move::Say(answer::described(conversation, best));
    };
    match conversation.body_of(&best.id) {
        Some(body) => follow(conversation, &ranking, best, body),
        None => match conversation.opened() {
            Some(result) => Move::Say(answer::not_opened(conversation, best, result)),
            None => Move::Call(vec![(opener, json!({ argument: best.id }))]),
        },
    }
}

/// Reads what the task and the skill name, then answers.
fn follow(
    conversation: &Conversation<'_>,
    ranking: &Ranking<'_>,
    skill: &Entry,
    body: &str,
) -> Move {
    let files = Files::new(conversation, &skill.id, body);
    let calls = files.calls();
    if !calls.is_empty() {
        return Move::Call(calls);
    }
    let rivals = ranking.rivals();
    Move::Say(answer::followed(
        conversation,
        skill,
        &rivals,
        body,
        &files.readings(),
    ))
}

#[cfg(test)]
mod tests;
