//! The end of a turn: written down, shown, reported.

use super::Driver;
use crate::agent::TurnReport;
use crate::event::EventKind;
use crate::failure::Failure;
use crate::journal::JournalEvent;
use crate::turn::{ErrorKind, TurnOutcome};

impl Driver<'_, '_> {
    pub(super) async fn finish(mut self, mut outcome: TurnOutcome) -> TurnReport {
        // What sub-agents spent is spent by the turn that started them.
        let usage = if self.within {
            self.tally.usage
        } else {
            self.ledger().spent()
        };
        self.session.push(JournalEvent::TurnFinished {
            outcome: outcome.clone(),
            usage,
            denied: self.tally.denied,
            failure: self
                .tally
                .failure
                .as_ref()
                .map(|failure| failure.message.clone()),
        });
        if let Err(error) = self.session.commit().await {
            // The first failure is the one to mend; this one only says that it is not on record.
            self.tally
                .failure
                .get_or_insert(Failure::of_journal(&error));
            if outcome == TurnOutcome::Completed {
                outcome = TurnOutcome::Error(ErrorKind::Journal);
            }
        }
        let cost_usd = self.ledger().spent_usd().filter(|_| !self.within);
        let tally = self.tally;
        self.emitter.emit(EventKind::TurnFinished {
            outcome: outcome.clone(),
            text: tally.text.clone(),
            usage,
            denied: tally.denied,
            cost_usd,
        });
        TurnReport {
            session: self.session.id().to_owned(),
            turn: tally.turn_id,
            outcome,
            text: tally.text,
            usage,
            denied: tally.denied,
            cost_usd,
            failure: tally.failure,
        }
    }
}
