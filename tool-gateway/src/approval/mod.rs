//! Asking before a call runs: what is shown, who answers, what an answer binds.

mod desk;

use std::fmt;

pub use desk::{AnswerError, ApprovalDesk};

/// A call that somebody is asked about.
///
/// An answer is good once, and only for what `arguments_digest` stands for: after an `Allow` the
/// gateway resolves the call again and refuses it if the digest is another one by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Exactly what would run, on one line, with everything invisible escaped.
    pub action: String,
    /// More to decide on, such as a diff; may have many lines, escaped like the action.
    pub details: Option<String>,
    /// The digest of exactly what would run.
    pub arguments_digest: String,
    /// Why it is asked: the rule or the default that says so.
    pub reason: String,
}

/// An answer to an [`ApprovalRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Run it, once.
    Allow,
    /// Do not run it.
    Deny {
        /// What the model is told about why.
        reason: String,
    },
    /// Nobody answers now: the call stays open, and the turn ends waiting for it.
    Defer,
}

/// Somebody who can be asked.
///
/// `decide` is called for one call at a time, in call order. It may take as long as it needs: the
/// gateway stops waiting when the call is cancelled. A panic is a no.
#[async_trait::async_trait]
pub trait Approver: Send + Sync + fmt::Debug {
    /// Returns the answer to one request.
    async fn decide(&self, request: &ApprovalRequest) -> Approval;
}

/// The approver of a program before which nobody sits: it says no, at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadlessApprover;

#[async_trait::async_trait]
impl Approver for HeadlessApprover {
    async fn decide(&self, _request: &ApprovalRequest) -> Approval {
        Approval::Deny {
            reason: "nobody can be asked here".to_owned(),
        }
    }
}
