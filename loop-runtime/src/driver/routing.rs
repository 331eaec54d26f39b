//! Routing: what the router chose becomes the first reply of the turn.

use skill_core::{ContentBlock, Message, Role, StopReason, ToolCall, Usage};

use super::Driver;
use crate::journal::JournalEvent;
use crate::route::RoutedCall;
use crate::turn::Reply;

impl Driver<'_, '_> {
    /// Asks the router, where the profile wants it; without a choice the model goes first.
    pub(super) async fn route(&mut self) {
        let wanted = self.agent.profile.routes && self.agent.profile.enable_tools;
        let (true, false, Some(router)) = (wanted, self.is_over(), &self.agent.router) else {
            return;
        };
        let query = self.request.input.joined_text();
        let digest = self.session.projection().digest.clone();
        let view = self.environment.view.clone();
        let chosen = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return self.turn.on_cancel(),
            chosen = router.route(&query, &digest, &view) => chosen,
        };
        if let Some(call) = chosen {
            self.take_routed(call);
        }
    }

    /// Takes a routed call for a reply: from here on it is a call like any other.
    fn take_routed(&mut self, call: RoutedCall) {
        let step = self.turn.step();
        self.emitter.enter_step(step);
        let reply = Reply {
            message: Message {
                role: Role::Assistant,
                content: vec![ContentBlock::ToolCall(ToolCall {
                    id: format!("route_{}", self.tally.turn_id),
                    name: call.tool,
                    arguments: call.arguments,
                })],
            },
            stop: Some(StopReason::ToolCalls),
            malformed: false,
        };
        self.session.push(JournalEvent::ModelReplied {
            step,
            message: reply.message.clone(),
            stop: reply.stop.clone(),
            usage: Usage::default(),
        });
        self.turn.on_reply(&reply);
    }
}
