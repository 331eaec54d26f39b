//! Compaction in a turn: when a request runs over the high water, before it is sent.

use prompt_compiler::CompiledPrompt;
use skill_core::{StopReason, Usage};

use super::Driver;
use crate::compact::{Plan, Summariser, excerpts, plan, summary_request};
use crate::exchange::exchange;
use crate::journal::JournalEvent;

/// Who writes a summary where no model does.
const EXCERPTS: &str = "excerpts";

/// A summary, who wrote it, and what that cost.
struct Written {
    summary: String,
    by: String,
    usage: Usage,
}

impl Driver<'_, '_> {
    /// Sums up the oldest part of the conversation if `prompt` runs over the high water and there
    /// is something to gain; tells whether it did.
    pub(super) async fn compact(&mut self, prompt: &CompiledPrompt) -> bool {
        let limit = self.agent.budget.request_limit();
        let before = prompt.report.total;
        let compaction = &self.agent.compaction;
        let over = before > compaction.high_water(limit) || left_something_out(prompt);
        let projection = self.session.projection();
        let messages = projection.messages.len();
        if !over || projection.compacted_in_vain || messages < self.worth_compacting_from {
            return false;
        }
        let Some((plan, after)) = self.plan(prompt) else {
            // Looking costs a count of the whole conversation: it grows before the next look.
            self.worth_compacting_from = messages + messages / 4 + 2;
            return false;
        };
        let Written { summary, by, usage } = self.sum_up(&plan).await;
        if self.cancel.is_cancelled() || summary.is_empty() {
            return false;
        }
        self.tally.usage += usage;
        self.notice(
            "compacted",
            format!(
                "the {} oldest messages are summed up from here on ({by}); the journal keeps them",
                plan.upto
            ),
        );
        self.session.push(JournalEvent::Compacted {
            upto: plan.upto,
            summary,
            by,
            before,
            after,
            usage,
        });
        self.commit().await;
        true
    }

    /// Returns the cut and about what the request takes after it; `None` if it gains too little.
    fn plan(&self, prompt: &CompiledPrompt) -> Option<(Plan, u64)> {
        let compaction = &self.agent.compaction;
        let limit = self.agent.budget.request_limit();
        let messages = &self.session.projection().messages;
        let counter = &self.agent.counter;
        let sizes: Vec<u64> = messages
            .iter()
            .map(|message| counter.count(&serde_json::to_string(message).unwrap_or_default()))
            .collect();
        let all: u64 = sizes.iter().sum();
        let given = prompt.report.sections.iter();
        let of_messages: u64 = given
            .filter(|section| ["history", "user", "tool_groups"].contains(&section.name.as_str()))
            .map(|section| section.given)
            .sum();
        let fixed = prompt
            .report
            .total
            .saturating_sub(of_messages)
            .saturating_add(compaction.summary_tokens);
        let room = compaction.low_water(limit).saturating_sub(fixed);
        let plan = plan(messages, &sizes, room)?;
        let freed = all.saturating_sub(plan.remaining);
        let after = fixed.saturating_add(plan.remaining);
        (freed > compaction.summary_tokens + limit / 20).then_some((plan, after))
    }

    /// Has the summary written: by a model where there is one, else from excerpts.
    async fn sum_up(&mut self, plan: &Plan) -> Written {
        if let Some(summariser) = self.agent.compaction.summariser.clone()
            && let Some(written) = self.ask(plan, &summariser).await
        {
            return written;
        }
        let (old, earlier) = self.old(plan);
        let most = self.agent.compaction.summary_tokens;
        Written {
            summary: excerpts(old, earlier, most, &*self.agent.counter),
            by: EXCERPTS.to_owned(),
            usage: Usage::default(),
        }
    }

    /// Asks a model for the summary; `None` when the budget forbids it or no whole one came.
    async fn ask(&mut self, plan: &Plan, summariser: &Summariser) -> Option<Written> {
        let most = self.agent.compaction.summary_tokens;
        let counter = &*self.agent.counter;
        let (old, earlier) = self.old(plan);
        let request = summary_request(&summariser.model, old, earlier, most, counter);
        let size = counter.count(&serde_json::to_string(&request).unwrap_or_default());
        let now = self.now_ms();
        let room = self.ledger().reserve(size, most, now).ok()?;
        let timed = self.timed_token();
        let used = Default::default();
        let provider = &*summariser.provider;
        let exchange = exchange(provider, request, &used, timed.token(), |_| {}).await;
        let text = exchange.reply.message.joined_text();
        let usage = self
            .ledger()
            .settle(room, exchange.usage, || counter.count(&text));
        let whole = exchange.reply.stop == Some(StopReason::EndTurn) && exchange.error.is_none();
        if !whole || text.trim().is_empty() {
            self.tally.usage += usage;
            let why = "no whole summary came from the model; excerpts stand in for it";
            self.notice("summary_failed", why.to_owned());
            return None;
        }
        Some(Written {
            summary: text.trim().to_owned(),
            by: summariser.model.to_string(),
            usage,
        })
    }

    /// Returns the messages that are summed up, and the summary of what was before them.
    fn old(&self, plan: &Plan) -> (&[std::sync::Arc<skill_core::Message>], Option<&str>) {
        let projection = self.session.projection();
        let old = projection.messages.get(..plan.upto).unwrap_or_default();
        (old, projection.summary.as_deref())
    }
}

/// Tells whether rounds or tool groups had to go to make the request fit.
fn left_something_out(prompt: &CompiledPrompt) -> bool {
    let mut sections = prompt.report.sections.iter();
    sections.any(|section| {
        ["history", "tool_groups"].contains(&section.name.as_str()) && !section.cut.is_empty()
    })
}
