//! Finds out which skills there are: from the index, and where it does not list them, by searching.

use serde_json::{Value, json};
use skill_core::ToolResult;

use crate::offline::asked::query;
use crate::offline::conversation::Conversation;
use crate::offline::index::{self, Entry};
use crate::offline::recall::{Listing, Ranking};
use crate::offline::{Move, NEAREST};

/// The tool that lists skills a page at a time.
pub(super) const LIST_SKILLS: &str = "list_skills";

/// The most pages that are asked for, of a search and of the whole list each.
const MAX_PAGES: usize = 6;

/// Returns the skills to choose from and how they were come by, or the call that asks for more.
///
/// What the index lists is enough if something of it fits. Else the tool is asked for the words of
/// the task, page after page, and where they bring nothing near for the list itself.
pub(super) fn skills_on_offer(
    conversation: &Conversation<'_>,
) -> Result<(Vec<Entry>, Listing), Move> {
    let task = &conversation.task;
    let mut entries = index::entries(conversation.system());
    let fits = |entries: &[Entry], listing| Ranking::new(entries, task, listing).best().is_some();
    if !conversation.offers(LIST_SKILLS) || fits(&entries, Listing::Whole) {
        return Ok((entries, Listing::Whole));
    }
    let asked = conversation.answered(LIST_SKILLS);
    let (searched, browsed): (Vec<_>, Vec<_>) = asked
        .into_iter()
        .partition(|(arguments, _)| arguments.get("query").is_some());

    let words = query(task);
    if let Some(offset) = next_page(&searched).filter(|_| !words.is_empty()) {
        return Err(ask(Some(&words), offset));
    }
    extend(&mut entries, &searched);
    if entries.len() >= NEAREST || fits(&entries, Listing::Found) {
        return Ok((entries, Listing::Found));
    }
    if let Some(offset) = next_page(&browsed) {
        return Err(ask(None, offset));
    }
    extend(&mut entries, &browsed);
    Ok((entries, Listing::Whole))
}

/// Returns where the next page begins that is worth asking for.
fn next_page(pages: &[(Value, &ToolResult)]) -> Option<u64> {
    let Some((arguments, last)) = pages.last() else {
        return Some(0);
    };
    if last.is_error() || pages.len() >= MAX_PAGES {
        return None;
    }
    let begin = arguments.get("offset").and_then(Value::as_u64);
    index::next_offset(&last.content).filter(|next| *next > begin.unwrap_or_default())
}

fn ask(query: Option<&str>, offset: u64) -> Move {
    let mut arguments = serde_json::Map::new();
    if let Some(query) = query {
        arguments.insert("query".to_owned(), json!(query));
    }
    if offset > 0 {
        arguments.insert("offset".to_owned(), json!(offset));
    }
    Move::Call(vec![(LIST_SKILLS, Value::Object(arguments))])
}

fn extend(entries: &mut Vec<Entry>, pages: &[(Value, &ToolResult)]) {
    let pages = pages.iter().filter(|(_, page)| !page.is_error());
    let texts: Vec<&str> = pages.map(|(_, page)| page.content.as_str()).collect();
    for entry in index::listed(&texts) {
        if entries.iter().all(|known| known.id != entry.id) {
            entries.push(entry);
        }
    }
}
