//! What went wrong, in words for a person and with a way out where there is one.

use skill_core::{ProviderError, ProviderErrorKind, StopReason};

use crate::store::{StoreError, StoreErrorKind};
use crate::turn::{ErrorKind, Reply};

/// What to do when the journal cannot be written.
pub(crate) const JOURNAL_HINT: &str =
    "nothing more was done; free space or mend the data directory, then resume the session";

/// What went wrong, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn with_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// The journal could not be written.
    pub(crate) fn of_journal(error: &StoreError) -> Self {
        let hint = match error.kind {
            StoreErrorKind::Conflict | StoreErrorKind::Busy => {
                "another process works on this session; wait until it has ended, then resume"
            }
            _ => JOURNAL_HINT,
        };
        Self::with_hint(error.to_string(), hint)
    }

    /// The provider brought no complete answer.
    pub(crate) fn of_provider(error: ProviderError) -> Self {
        Self {
            message: with_cause(&error),
            hint: error.hint,
        }
    }

    /// Says what is missing from a reply, where its outcome alone does not.
    pub(crate) fn of_reply(reply: &Reply) -> Option<Self> {
        let message = match &reply.stop {
            None => "the answer ended in the middle of the stream".to_owned(),
            Some(StopReason::MaxTokens) => "the model reached its output limit".to_owned(),
            Some(StopReason::Other(reason)) => {
                format!("the model stopped for a reason that is not known here: `{reason}`")
            }
            Some(_) if reply.malformed => "the model called a tool without a name".to_owned(),
            Some(_) => return None,
        };
        Some(Self::new(message))
    }
}

/// Returns a message with its deepest cause, which names what really happened.
fn with_cause(error: &ProviderError) -> String {
    let message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause.and_then(std::error::Error::source) {
        cause = Some(next);
    }
    match cause.map(ToString::to_string) {
        Some(cause) if !message.contains(&cause) => format!("{message}: {cause}"),
        _ => message,
    }
}

/// Returns the kind of a turn's error for that of a provider's.
pub(crate) fn kind_of(kind: ProviderErrorKind) -> ErrorKind {
    match kind {
        ProviderErrorKind::Unauthorized => ErrorKind::Unauthorized,
        ProviderErrorKind::NotFound => ErrorKind::NotFound,
        ProviderErrorKind::InvalidRequest => ErrorKind::InvalidRequest,
        ProviderErrorKind::RateLimited => ErrorKind::RateLimited,
        ProviderErrorKind::Unavailable => ErrorKind::Unavailable,
        ProviderErrorKind::Timeout => ErrorKind::Timeout,
        _ => ErrorKind::Protocol,
    }
}
