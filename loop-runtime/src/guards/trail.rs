//! The trail of a turn's calls: tells work that goes on from a loop that leads nowhere.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use skill_core::{CallStatus, ToolCall, ToolResult};

use super::Stop;
use crate::turn::TurnOutcome;

/// How many calls are remembered: as many as the longest loop that is looked for.
const REMEMBERED: usize = 10;

/// The longest cycle that is looked for, in calls.
const LONGEST_CYCLE: usize = 5;

/// A cycle that brings back the same results ends before this many rounds are complete.
const ROUNDS: usize = 3;

/// The longest cycle that is looked for where results differ: a thing that is asked for again and
/// again may be waited for, within reason.
const LONGEST_WAITING_CYCLE: usize = 2;

/// Failures of one tool in a row after which the model is warned; the next one ends the turn.
const FAILURES_OF_A_TOOL: u32 = 3;

/// Failures in a row, whatever the tool, after which the model is warned.
const FAILURES: u32 = 7;

/// The calls of a turn so far, as far as they tell a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    recent: VecDeque<Seen>,
    failing_tool: Option<String>,
    failures_of_tool: u32,
    failures: u32,
}

/// One call: what was asked, and what came back where that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    call: String,
    result: Option<String>,
}

impl Trail {
    /// Judges calls before they run.
    ///
    /// # Errors
    ///
    /// [`Stop`] when one of them would go on with a loop; then none of them runs.
    pub fn admit(&self, calls: &[ToolCall]) -> Result<(), Stop> {
        let mut trail = self.recent.clone();
        for call in calls {
            push(&mut trail, seen(call, None));
            if let Some(cycle) = looping(&trail, 0) {
                return Err(Stop {
                    outcome: TurnOutcome::RepeatedCall,
                    message: repeated(&call.name, cycle),
                });
            }
        }
        Ok(())
    }

    /// Takes in what the calls of one reply came to, in call order.
    ///
    /// Returns advice for the model, to be put behind the last result.
    ///
    /// # Errors
    ///
    /// [`Stop`] when too many have failed in a row.
    pub fn observe<'a>(
        &mut self,
        results: impl IntoIterator<Item = (&'a ToolCall, &'a ToolResult)>,
    ) -> Result<Option<String>, Stop> {
        let results: Vec<_> = results.into_iter().collect();
        for (call, result) in &results {
            push(&mut self.recent, seen(call, Some(result)));
        }
        let failed = self.count_failures(&results)?;
        let looping = looping(&self.recent, 1).map(about_to_loop);
        Ok(looping.or(failed))
    }

    /// Counts replies of which every call failed: calls of one reply do not know of each other, so
    /// together they are one attempt.
    fn count_failures(
        &mut self,
        results: &[(&ToolCall, &ToolResult)],
    ) -> Result<Option<String>, Stop> {
        let Some((last, _)) = results.last() else {
            return Ok(None);
        };
        if results.iter().any(|(_, result)| !failed(result)) {
            (self.failing_tool, self.failures_of_tool, self.failures) = (None, 0, 0);
            return Ok(None);
        }
        self.failures += 1;
        let one_tool = results.iter().all(|(call, _)| call.name == last.name);
        if one_tool && self.failing_tool.as_deref() == Some(&last.name) {
            self.failures_of_tool += 1;
        } else {
            self.failing_tool = one_tool.then(|| last.name.clone());
            self.failures_of_tool = 1;
        }
        let name = &last.name;
        let (tool, all) = (self.failures_of_tool, self.failures);
        if tool > FAILURES_OF_A_TOOL || all > FAILURES {
            let what = if tool > FAILURES_OF_A_TOOL {
                format!("`{name}` failed {tool} times in a row")
            } else {
                format!("the last {all} attempts failed")
            };
            return Err(Stop {
                outcome: TurnOutcome::RepeatedFailure,
                message: what,
            });
        }
        let warned = tool == FAILURES_OF_A_TOOL || all == FAILURES;
        Ok(warned.then(|| {
            let times = tool.max(if all == FAILURES { all } else { 0 });
            format!("This failed {times} times in a row. One more failure ends the turn: do it another way, or go on without it and say so.")
        }))
    }
}

/// Tells whether a result is a failure that counts; a call that somebody cancelled is none.
fn failed(result: &ToolResult) -> bool {
    matches!(
        result.status,
        CallStatus::Error | CallStatus::TimedOut | CallStatus::Rejected
    )
}

fn seen(call: &ToolCall, result: Option<&ToolResult>) -> Seen {
    let arguments = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| serde_json::Value::from(call.arguments.as_str()));
    Seen {
        call: tool_gateway::arguments_digest(&call.name, &arguments, &[]),
        result: result.map(|result| {
            let text = serde_json::Value::from(result.content.as_str());
            tool_gateway::arguments_digest(result.status.as_str(), &text, &[])
        }),
    }
}

fn push(trail: &mut VecDeque<Seen>, seen: Seen) {
    trail.push_back(seen);
    if trail.len() > REMEMBERED {
        trail.pop_front();
    }
}

/// Returns the length of the cycle that the end of `trail` is in, `early` calls before it counts.
fn looping(trail: &VecDeque<Seen>, early: usize) -> Option<usize> {
    (1..=LONGEST_CYCLE).find(|cycle| {
        let rounds = (ROUNDS * cycle).clamp(4, REMEMBERED) - early;
        let waiting = *cycle <= LONGEST_WAITING_CYCLE;
        repeats(trail, *cycle, rounds, true)
            || (waiting && repeats(trail, *cycle, REMEMBERED - early, false))
    })
}

/// Tells whether the last `length` calls repeat every `cycle` calls, with equal results if asked
/// for; a result that is not known yet is taken for equal.
fn repeats(trail: &VecDeque<Seen>, cycle: usize, length: usize, results: bool) -> bool {
    let Some(start) = trail.len().checked_sub(length) else {
        return false;
    };
    trail
        .iter()
        .skip(start)
        .zip(trail.iter().skip(start + cycle))
        .all(|(one, other)| {
            let known = one.result.is_some() && other.result.is_some();
            one.call == other.call && (!results || !known || one.result == other.result)
        })
}

fn repeated(tool: &str, cycle: usize) -> String {
    match cycle {
        1 => format!("`{tool}` was called with the same arguments again and again"),
        cycle => format!("the same {cycle} calls were made again and again, up to `{tool}`"),
    }
}

fn about_to_loop(cycle: usize) -> String {
    let what = match cycle {
        1 => "This call was made several times with the same arguments".to_owned(),
        cycle => format!("The same {cycle} calls were made several times"),
    };
    format!("{what}. Once more ends the turn: use what you have, or do something else.")
}

#[cfg(test)]
#[path = "trail_tests.rs"]
mod tests;
