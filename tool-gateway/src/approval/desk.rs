//! An approver whose answers arrive from elsewhere: another task, a web page, a chat.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::approval::{Approval, ApprovalRequest, Approver};

/// Holds open requests until somebody answers, each once, or until they expire.
///
/// What is open lives in this value only: with it, every open request dies.
#[derive(Debug)]
pub struct ApprovalDesk {
    expiry: Duration,
    open: Mutex<BTreeMap<String, Open>>,
    changed: watch::Sender<usize>,
}

#[derive(Debug)]
struct Open {
    request: ApprovalRequest,
    answer: oneshot::Sender<Approval>,
}

/// An answer that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nobody asks about this call: it was answered, it expired, or it was never asked.
    #[error("no open approval for call `{0}`: it was answered, has expired or was never asked")]
    NotOpen(String),
    /// The answer was meant for something else than what is asked.
    #[error("the answer for call `{0}` is for another action than the one that is asked")]
    OtherAction(String),
}

impl ApprovalDesk {
    /// Returns a desk whose requests are denied after `expiry`.
    pub fn new(expiry: Duration) -> Self {
        Self {
            expiry,
            open: Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }

    /// Returns what is open, by call id.
    pub fn requests(&self) -> Vec<ApprovalRequest> {
        self.lock()
            .values()
            .map(|open| open.request.clone())
            .collect()
    }

    /// Waits until at least one request is open.
    pub async fn wait_for_request(&self) {
        let mut changed = self.changed.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = changed.wait_for(|open| *open > 0).await;
    }

    /// Answers one request; of several answers at once exactly one counts.
    pub fn answer(
        &self,
        call_id: &str,
        arguments_digest: &str,
        approval: Approval,
    ) -> Result<(), AnswerError> {
        let mut open = self.lock();
        let asked = open
            .get(call_id)
            .ok_or_else(|| AnswerError::NotOpen(call_id.to_owned()))?;
        if asked.request.arguments_digest != arguments_digest {
            return Err(AnswerError::OtherAction(call_id.to_owned()));
        }
        let sent = open
            .remove(call_id)
            .is_some_and(|asked| asked.answer.send(approval).is_ok());
        self.changed.send_replace(open.len());
        if sent {
            Ok(())
        } else {
            Err(AnswerError::NotOpen(call_id.to_owned()))
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, request: &ApprovalRequest) -> Option<oneshot::Receiver<Approval>> {
        let mut open = self.lock();
        if open.contains_key(&request.call_id) {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        open.insert(
            request.call_id.clone(),
            Open {
                request: request.clone(),
                answer,
            },
        );
        self.changed.send_replace(open.len());
        Some(answered)
    }

    fn take(&self, call_id: &str) {
        let mut open = self.lock();
        open.remove(call_id);
        self.changed.send_replace(open.len());
    }
}

/// Takes the request off the desk when the asking ends, however it ends.
struct Asking<'a> {
    desk: &'a ApprovalDesk,
    call_id: &'a str,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.desk.take(self.call_id);
    }
}

#[async_trait::async_trait]
impl Approver for ApprovalDesk {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        let deny = |reason: &str| Approval::Deny {
            reason: reason.to_owned(),
        };
        let Some(answered) = self.put(request) else {
            return deny("another call with the same id is being asked about");
        };
        let _asking = Asking {
            desk: self,
            call_id: &request.call_id,
        };
        match tokio::time::timeout(self.expiry, answered).await {
            Ok(Ok(approval)) => approval,
            Ok(Err(_)) => deny("the request was withdrawn"),
            Err(_) => deny("nobody answered in time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            call_id: "c1".into(),
            tool: "t".into(),
            action: "t {}".into(),
            details: None,
            arguments_digest: "d1".into(),
            reason: "r".into(),
        }
    }

    fn asked(desk: &Arc<ApprovalDesk>) -> tokio::task::JoinHandle<Approval> {
        let desk = Arc::clone(desk);
        tokio::spawn(async move { desk.decide(&request()).await })
    }

    #[tokio::test(start_paused = true)]
    async fn of_ten_answers_at_once_exactly_one_counts() {
        let desk = Arc::new(ApprovalDesk::new(Duration::from_secs(60)));
        let decision = asked(&desk);
        desk.wait_for_request().await;
        let answers: Vec<_> = (0..10)
            .map(|_| {
                let desk = Arc::clone(&desk);
                tokio::spawn(async move { desk.answer("c1", "d1", Approval::Allow) })
            })
            .collect();
        let mut accepted = 0;
        for answer in answers {
            match answer.await.unwrap() {
                Ok(()) => accepted += 1,
                Err(error) => assert_eq!(error, AnswerError::NotOpen("c1".into())),
            }
        }
        assert_eq!((accepted, decision.await.unwrap()), (1, Approval::Allow));
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_request_is_denied_and_a_later_answer_refused() {
        let desk = Arc::new(ApprovalDesk::new(Duration::from_secs(60)));
        let decision = asked(&desk);
        assert_eq!(
            decision.await.unwrap(),
            Approval::Deny {
                reason: "nobody answered in time".into()
            }
        );
        assert_eq!(
            desk.answer("c1", "d1", Approval::Allow),
            Err(AnswerError::NotOpen("c1".into()))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_for_another_action_is_refused_and_the_request_stays_open() {
        let desk = Arc::new(ApprovalDesk::new(Duration::from_secs(60)));
        let decision = asked(&desk);
        desk.wait_for_request().await;
        assert_eq!(
            desk.answer("c1", "d2", Approval::Allow),
            Err(AnswerError::OtherAction("c1".into()))
        );
        assert_eq!(desk.requests(), [request()]);
        desk.answer("c1", "d1", Approval::Defer).unwrap();
        assert_eq!(decision.await.unwrap(), Approval::Defer);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_nobody_waits_for_any_more_leaves_the_desk() {
        let desk = Arc::new(ApprovalDesk::new(Duration::from_secs(60)));
        let decision = asked(&desk);
        desk.wait_for_request().await;
        decision.abort();
        let _ = decision.await;
        assert!(desk.requests().is_empty());
        assert_eq!(
            desk.answer("c1", "d1", Approval::Allow),
            Err(AnswerError::NotOpen("c1".into()))
        );
    }
}
