//! Facts of a session: written by `remember` alone, taken out by `forget`, listed by the user.
//!
//! They are state like any other: a call that fails writes none, and the journal says which call
//! wrote what.

use std::sync::Arc;

use prompt_compiler::{ContextFragment, FragmentKind};
use schemars::JsonSchema;
use serde::Deserialize;
use skill_core::StateDelta;
use tool_gateway::{DynTool, ErrorKind, Tool, ToolContext, ToolError, ToolOutput, escape_line};

use crate::journal::{JournalEntry, JournalEvent};
use crate::projection::Projection;
use crate::skill_state::State;
use crate::store::{SessionStore, StoreError};

/// What every key of a fact begins with.
const PREFIX: &str = "user:fact:";

/// The longest key, in characters.
const LONGEST_KEY: usize = 64;

/// The longest fact, in bytes.
const LONGEST_FACT: usize = 2 * 1024;

/// Returns the facts of a session by key.
pub fn facts(state: &State) -> Vec<(&str, &str)> {
    state
        .range(PREFIX.to_owned()..)
        .map_while(|(key, value)| Some((key.strip_prefix(PREFIX)?, value.as_str())))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// Returns the change that takes the fact under `key` out.
pub fn forgetting(key: &str) -> StateDelta {
    let mut delta = StateDelta::default();
    delta.set(format!("{PREFIX}{key}"), "");
    delta
}

/// Returns the tools that write facts and take them out.
pub fn memory_tools() -> Vec<Arc<dyn DynTool>> {
    vec![tool_gateway::erase(Remember), tool_gateway::erase(Forget)]
}

/// Returns the facts as the model reads them at the beginning of a turn; `None` if there are none.
pub(crate) fn fragment(state: &State) -> Option<ContextFragment> {
    let lines: String = facts(state)
        .into_iter()
        .map(|(key, value)| format!("- {}: {}\n", escape_line(key), escape_line(value)))
        .collect();
    let named = |text| {
        ContextFragment::new(
            FragmentKind::Mention,
            "what was remembered in this session",
            text,
        )
    };
    Some(lines).filter(|lines| !lines.is_empty()).map(named)
}

#[derive(Debug)]
struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fact {
    /// A short name for the fact; a fact of this name is replaced.
    key: String,
    /// The fact, in one sentence.
    value: String,
}

impl Tool for Remember {
    type Arguments = Fact;

    fn name(&self) -> &str {
        "remember"
    }

    fn description(&self) -> &str {
        "Keeps a fact for the rest of this session. Use it for what the user wants kept, such as a preference or a name."
    }

    async fn run(&self, _context: &ToolContext, fact: Fact) -> Result<ToolOutput, ToolError> {
        let key = checked(&fact.key)?;
        let value = fact.value.trim();
        if value.is_empty() || value.len() > LONGEST_FACT {
            let message = format!("`value` has 1 to {LONGEST_FACT} bytes");
            return Err(ToolError::new(ErrorKind::InvalidArguments, message));
        }
        let mut state = StateDelta::default();
        state.set(format!("{PREFIX}{key}"), value);
        Ok(ToolOutput {
            state,
            ..ToolOutput::text(format!("remembered: {}", escape_line(key)))
        })
    }
}

#[derive(Debug)]
struct Forget;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// The name of the fact.
    key: String,
}

impl Tool for Forget {
    type Arguments = Key;

    fn name(&self) -> &str {
        "forget"
    }

    fn description(&self) -> &str {
        "Takes a fact out that `remember` kept."
    }

    async fn run(&self, _context: &ToolContext, key: Key) -> Result<ToolOutput, ToolError> {
        let key = checked(&key.key)?;
        Ok(ToolOutput {
            state: forgetting(key),
            ..ToolOutput::text(format!("forgotten: {}", escape_line(key)))
        })
    }
}

fn checked(key: &str) -> Result<&str, ToolError> {
    let key = key.trim();
    if key.is_empty() || key.chars().count() > LONGEST_KEY || key.contains(char::is_control) {
        let message = format!("`key` has 1 to {LONGEST_KEY} characters in one line");
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    }
    Ok(key)
}

/// Takes the fact under `key` out of a stored session; tells whether it was there.
///
/// # Errors
///
/// [`StoreError`] when the session cannot be read or written, or somebody works on it.
pub async fn forget_in(
    store: &dyn SessionStore,
    session: &str,
    key: &str,
    now_ms: u64,
) -> Result<bool, StoreError> {
    let _lease = store.lease(session).await?;
    let record = store.load(session).await?;
    let projection = Projection::of(&record.entries);
    if !facts(&projection.state)
        .iter()
        .any(|(known, _)| *known == key)
    {
        return Ok(false);
    }
    let entry = JournalEntry {
        seq: projection.seq + 1,
        at_ms: now_ms,
        event: JournalEvent::StateChanged {
            delta: forgetting(key),
            reason: "forgotten by the user".to_owned(),
            opened: Vec::new(),
        },
    };
    store.append(session, &[entry]).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(pairs: &[(&str, &str)]) -> State {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn facts_are_listed_by_key_without_what_was_forgotten() {
        let mut state = state(&[
            ("user:fact:b", "two"),
            ("user:fact:a", "one"),
            ("other", "x"),
        ]);
        assert_eq!(facts(&state), [("a", "one"), ("b", "two")]);
        crate::skill_state::merge(&mut state, &forgetting("a"));
        assert_eq!(facts(&state), [("b", "two")]);
    }

    #[test]
    fn a_fact_stays_in_its_line() {
        let state = state(&[("user:fact:a", "one\n- b: forged")]);
        let text = fragment(&state).unwrap().text;
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
