//! Context of a turn: sources that are asked side by side, with a deadline, and may fail alone.

#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
mod mentions;
#[cfg(feature = "files")]
mod notes;
#[cfg(feature = "files")]
mod project;
#[cfg(feature = "files")]
mod reader;
#[cfg(feature = "files")]
mod words;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use prompt_compiler::{ContextFragment, FragmentKind};

use crate::agent::TurnRequest;

#[cfg(feature = "files")]
pub use {
    file::CurrentFile, mentions::Mentions, notes::Notes, project::ProjectInstructions,
    reader::ContextReader,
};

/// How long a source has.
const DEADLINE: Duration = Duration::from_secs(5);

/// What context is gathered for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextQuery {
    /// The user's words.
    pub text: String,
    /// The file that is open where the user works, relative to the workspace.
    pub file: Option<String>,
}

impl From<&TurnRequest> for ContextQuery {
    fn from(request: &TurnRequest) -> Self {
        Self {
            text: request.input.joined_text(),
            file: request.file.clone(),
        }
    }
}

/// A source that brought nothing, or not all.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ContextError {
    /// What could not be had, naming it; a person reads this.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ContextError {
    /// Returns an error without a cause.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }
}

/// What a source brought.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Its fragments, in order.
    pub fragments: Vec<ContextFragment>,
    /// What is missing from them, for a person.
    pub notices: Vec<String>,
}

impl From<Vec<ContextFragment>> for Gathered {
    fn from(fragments: Vec<ContextFragment>) -> Self {
        Self {
            fragments,
            notices: Vec::new(),
        }
    }
}

/// Brings context for a turn.
///
/// Asked once a turn, beside all others, and dropped at a deadline. A source that fails or is late
/// costs its own fragments and a notice, never the turn. The text it brings is material for the
/// model and grants nothing. Fragments of [`FragmentKind::Instructions`] stand where what is stable
/// for a session stands, so they should not change from turn to turn.
#[async_trait]
pub trait ContextSource: Send + Sync + fmt::Debug {
    /// Returns its name, for notices.
    fn name(&self) -> &str;

    /// Returns what it has for `query`.
    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError>;
}

/// The context of a turn, and what is missing from it.
#[derive(Debug, Default)]
pub(crate) struct TurnContext {
    /// What stays the same for the session.
    pub(crate) session: Vec<ContextFragment>,
    /// What belongs to this turn.
    pub(crate) turn: Vec<ContextFragment>,
    pub(crate) notices: Vec<String>,
}

/// Asks every source at once; fragments stand in the order of the sources, whoever was first.
pub(crate) async fn gather(
    sources: &[Arc<dyn ContextSource>],
    query: &ContextQuery,
) -> TurnContext {
    let asked = sources.iter().map(|source| async move {
        let gathered = tokio::time::timeout(DEADLINE, source.gather(query)).await;
        (source.name(), gathered)
    });
    let mut context = TurnContext::default();
    for (name, gathered) in join_all(asked).await {
        match gathered {
            Ok(Ok(gathered)) => {
                context.notices.extend(gathered.notices);
                for fragment in gathered.fragments {
                    if fragment.kind == FragmentKind::Instructions {
                        context.session.push(fragment);
                    } else {
                        context.turn.push(fragment);
                    }
                }
            }
            Ok(Err(error)) => context.notices.push(format!("{name}: {error}")),
            Err(_) => context.notices.push(format!(
                "{name}: nothing came within {DEADLINE:?}; the turn goes on without it"
            )),
        }
    }
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Late;

    #[async_trait]
    impl ContextSource for Late {
        fn name(&self) -> &str {
            "late"
        }

        async fn gather(&self, _query: &ContextQuery) -> Result<Gathered, ContextError> {
            std::future::pending().await
        }
    }

    #[derive(Debug)]
    struct Says(FragmentKind, &'static str);

    #[async_trait]
    impl ContextSource for Says {
        fn name(&self) -> &str {
            self.1
        }

        async fn gather(&self, _query: &ContextQuery) -> Result<Gathered, ContextError> {
            if self.1 == "broken" {
                return Err(ContextError::new("the index is damaged"));
            }
            Ok(vec![ContextFragment::new(self.0, self.1, self.1)].into())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_is_late_or_fails_costs_a_notice_and_nothing_else() {
        let sources: Vec<Arc<dyn ContextSource>> = vec![
            Arc::new(Late),
            Arc::new(Says(FragmentKind::Mention, "one")),
            Arc::new(Says(FragmentKind::Mention, "broken")),
            Arc::new(Says(FragmentKind::Instructions, "rules")),
        ];
        let context = gather(&sources, &ContextQuery::default()).await;
        assert_eq!(
            context.notices,
            [
                "late: nothing came within 5s; the turn goes on without it",
                "broken: the index is damaged"
            ]
        );
        let names = |fragments: &[ContextFragment]| -> Vec<String> {
            fragments
                .iter()
                .map(|fragment| fragment.name.clone())
                .collect()
        };
        assert_eq!(names(&context.turn), ["one"]);
        assert_eq!(names(&context.session), ["rules"]);
    }
}
