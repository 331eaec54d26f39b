//! The set of open skills of a turn: read for each request, closed when it may not stay.

use prompt_compiler::Residency;
use skill_core::StateDelta;

use super::Driver;
use crate::event::EventKind;
use crate::failure::Failure;
use crate::gather::{self, Gathered};
use crate::journal::{JournalEvent, OpenedRecord};
use crate::skill_state;
use crate::turn::{ErrorKind, TurnOutcome};

impl Driver<'_, '_> {
    /// Moves state of an older format to where it belongs.
    pub(super) fn migrate_skills(&mut self) {
        let projection = self.session.projection();
        let migration =
            skill_state::migration(&projection.state, &projection.loaders, self.assistant());
        if let Some(delta) = migration {
            self.change_state(delta, "migrated", Vec::new());
        }
    }

    /// Closes what a preset keeps for one turn only, and opens what was declared: one change.
    pub(super) fn begin_skills(&mut self) {
        let preset = &self.agent.preset;
        let expire = preset.residency != Residency::Session;
        let state = &self.session.projection().state;
        let agent = self.assistant();
        let delta = self.declared.delta(state, agent, expire, preset.max_loaded);
        let opened = self.declared.opened();
        let reason = if opened.is_empty() {
            "expired"
        } else {
            "declared"
        };
        self.change_state(delta, reason, opened.clone());
        for opened in opened {
            self.emitter.emit(EventKind::SkillOpened {
                id: opened.id,
                version: opened.version,
                digest: opened.digest,
                via: "declared".to_owned(),
            });
        }
    }

    /// Closes what a preset keeps for one request only.
    pub(super) fn expire_skills(&mut self) {
        let open = skill_state::loaded(&self.session.projection().state, self.assistant());
        self.close_skills(&open, "expired");
    }

    fn close_skills(&mut self, skills: &[String], reason: &str) {
        if !skills.is_empty() {
            let state = &self.session.projection().state;
            let delta = skill_state::close(state, self.assistant(), skills);
            self.change_state(delta, reason, Vec::new());
        }
    }

    fn change_state(&mut self, delta: StateDelta, reason: &str, opened: Vec<OpenedRecord>) {
        if delta.is_empty() {
            return;
        }
        let keys = delta.0.keys().cloned().collect();
        self.session.push(JournalEvent::StateChanged {
            delta,
            reason: reason.to_owned(),
            opened,
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
