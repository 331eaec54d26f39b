//! What an earlier turn left open: it is settled before anything else happens.

use skill_core::{StateDelta, ToolCall, Usage};

use super::Driver;
use crate::journal::JournalEvent;
use crate::projection::{Progress, missing_result};
use crate::turn::TurnOutcome;

impl Driver<'_, '_> {
    /// Says that a damaged session goes on as another one.
    pub(super) fn tell_what_was_recovered(&mut self) {
        if let Some(what) = self.session.take_recovery() {
            self.notice("session_recovered", what);
        }
    }

    /// Deals with calls that the last turn left open: those with an unknown end are named, those
    /// that waited for a decision are asked about afresh, the others changed nothing.
    pub(super) async fn settle_open_calls(&mut self) {
        let open: Vec<(ToolCall, Progress)> = self
            .session
            .projection()
            .open_calls()
            .map(|(call, progress)| (call.clone(), progress))
            .collect();
        // A profile without tools runs none, not even those that only waited for a yes.
        let ask = self.agent.profile.enable_tools && self.session.projection().awaits_approval();
        let (waiting, ended): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|(_, progress)| ask && *progress == Progress::NotStarted);
        for (call, progress) in &ended {
            self.end_open_call(call, *progress);
        }
        if !waiting.is_empty() {
            let calls: Vec<ToolCall> = waiting.into_iter().map(|(call, _)| call).collect();
            self.run_calls(&calls).await;
        }
    }

    fn end_open_call(&mut self, call: &ToolCall, progress: Progress) {
        if progress == Progress::Acting {
            let (id, name) = (&call.id, &call.name);
            self.notice(
                "unknown_outcome",
                format!("it is not known whether call `{id}` of `{name}` took effect: it was started, and the program ended before the outcome was recorded"),
            );
        }
        self.session.push(JournalEvent::ToolFinished {
            result: missing_result(call, progress),
            state: StateDelta::default(),
            opened: None,
            duration_ms: 0,
            denied: false,
        });
    }

    /// Ends a turn that a crash left open.
    pub(super) fn settle_open_turn(&mut self) {
        if self.session.projection().open_turn.is_some() {
            self.session.push(JournalEvent::TurnFinished {
                outcome: TurnOutcome::Aborted,
                usage: Usage::default(),
                denied: 0,
                failure: Some("the program ended before the turn did".to_owned()),
            });
        }
    }

    /// Gives every call of a step that will not run the word that nothing was done.
    pub(super) fn end_calls_unstarted(&mut self, calls: &[ToolCall]) {
        for call in calls {
            self.end_open_call(call, Progress::NotStarted);
        }
    }
}
