//! The context of a turn: gathered once, at its beginning.

use super::Driver;
use crate::context::{self, ContextQuery};
use crate::event::EventKind;
use crate::memory;

impl Driver<'_, '_> {
    /// Asks every source; what is missing is a notice, never the end of the turn.
    pub(super) async fn gather_context(&mut self) {
        let query = ContextQuery::from(&self.request);
        let gathering = context::gather(&self.agent.sources, &query);
        let mut context = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return,
            context = gathering => context,
        };
        for message in std::mem::take(&mut context.notices) {
            self.notice("context_degraded", message);
        }
        let given = self.request.context.iter().cloned();
        let facts = memory::fragment(&self.session.projection().state);
        context.turn.extend(given.chain(facts));
        self.context = context;
        let gathered = self.context.session.iter().chain(&self.context.turn);
        let fragments: Vec<String> = gathered.map(|fragment| fragment.name.clone()).collect();
        if !fragments.is_empty() {
            self.emitter.emit(EventKind::ContextGathered { fragments });
        }
    }
}
