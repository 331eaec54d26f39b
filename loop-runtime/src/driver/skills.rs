//! The set of open skills of a turn: read for each request, closed when it may not stay.

use prompt_compiler::Residency;

use super::Driver;
use crate::event::EventKind;
use crate::failure::Failure;
use crate::gather::{self, Gathered};
use crate::journal::JournalEvent;
use crate::skill_state;
use crate::turn::{ErrorKind, TurnOutcome};

impl Driver<'_, '_> {
    /// Closes what a preset keeps for one turn only.
    pub(super) fn expire_skills(&mut self) {
        if self.agent.preset.residency != Residency::Session {
            let open = skill_state::loaded(&self.session.projection().state, self.assistant());
            self.close_skills(&open, "expired");
        }
    }

    pub(super) fn close_skills(&mut self, skills: &[String], reason: &str) {
        if skills.is_empty() {
            return;
        }
        let delta = skill_state::close(&self.session.projection().state, self.assistant(), skills);
        let keys = delta.0.keys().cloned().collect();
        self.session.push(JournalEvent::StateChanged {
            delta,
            reason: reason.to_owned(),
        });
        self.emitter.emit(EventKind::StateDelta { keys });
    }

    /// Reads skills; one that is gone or changed is closed with a notice, and then read again.
    pub(super) fn gather(&mut self) -> Option<Gathered> {
        let gathered = self.gather_once()?;
        if gathered.dropped.is_empty() {
            return Some(gathered);
        }
        for skill in &gathered.dropped {
            self.notice("skill_dropped", format!(
                "skill `{skill}` is not available as it was opened; it can be opened again if it is listed"
            ));
        }
        self.close_skills(&gathered.dropped, "dropped");
        self.gather_once()
    }

    fn gather_once(&mut self) -> Option<Gathered> {
        let view = &self.environment.view;
        match gather::gather(view, self.session.projection(), self.assistant()) {
            Ok(gathered) => Some(gathered),
            Err(error) => {
                let hint = "run again: the next turn takes the skills as they are now";
                self.fail(
                    TurnOutcome::Error(ErrorKind::Environment),
                    Failure::with_hint(error.to_string(), hint),
                );
                None
            }
        }
    }
}
