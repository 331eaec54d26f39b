//! What a call knows of where it runs.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skill_core::{Principal, ScanLimits, SkillCatalog, SkillView};
use tokio_util::sync::CancellationToken;

use crate::access::{Access, PathTarget};
use crate::policy::{Effect, Policy};

/// What a call knows of where it runs: who asks, what is visible, what was granted.
///
/// The runtime makes one for a turn; the gateway hands each call its own copy.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The agent on whose behalf the call runs; it scopes the keys of session state.
    pub agent: String,
    /// The skills that the principal sees in this turn.
    pub view: SkillView,
    /// Cancelled when the call should stop; a tool that cannot be dropped watches it.
    pub cancel: CancellationToken,
    /// The open skills, each with its documents as state holds them.
    pub open_docs: Arc<BTreeMap<String, String>>,
    /// The only tools allowed just now, where active skills restrict them.
    pub restrict: Option<Arc<BTreeSet<String>>>,
    host: Option<Arc<dyn Any + Send + Sync>>,
    /// The session's state when the calls were asked for: open skills, facts.
    pub state: Arc<BTreeMap<String, String>>,
    /// The session, for traces.
    pub session: Option<String>,
    /// What the user said, for traces.
    pub query: Option<String>,
    scope: Option<Scope>,
}

/// What the gateway adds for one call.
#[derive(Clone, Debug)]
struct Scope {
    call_id: String,
    granted: Arc<[Access]>,
    basis: Option<String>,
    policy: Arc<Policy>,
}

impl ToolContext {
    /// Returns a context without restriction.
    pub fn new(agent: impl Into<String>, view: SkillView, cancel: CancellationToken) -> Self {
        Self {
            agent: agent.into(),
            view,
            cancel,
            open_docs: Arc::default(),
            restrict: None,
            host: None,
            state: Arc::default(),
            session: None,
            query: None,
            scope: None,
        }
    }

    /// Adds what the program that runs the turn hands to tools of its own.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn Any + Send + Sync>) -> Self {
        self.host = Some(host);
        self
    }

    /// Returns what the program that runs the turn handed on, where it is of this type.
    pub fn host<T: Any>(&self) -> Option<&T> {
        self.host.as_deref()?.downcast_ref()
    }

    /// Returns a context for a program that has no skills.
    pub fn without_skills(agent: impl Into<String>, cancel: CancellationToken) -> Self {
        let catalog = SkillCatalog::new(Vec::new(), ScanLimits::default());
        Self::new(agent, catalog.view(&Principal::default()), cancel)
    }

    /// Returns the copy for one call, with a cancellation token of its own.
    pub(crate) fn for_call(
        &self,
        call_id: &str,
        granted: Arc<[Access]>,
        basis: Option<String>,
        policy: Arc<Policy>,
    ) -> Self {
        Self {
            agent: self.agent.clone(),
            view: self.view.clone(),
            cancel: self.cancel.child_token(),
            open_docs: Arc::clone(&self.open_docs),
            restrict: self.restrict.clone(),
            host: self.host.clone(),
            state: Arc::clone(&self.state),
            session: self.session.clone(),
            query: self.query.clone(),
            scope: Some(Scope {
                call_id: call_id.to_owned(),
                granted,
                basis,
                policy,
            }),
        }
    }

    /// Returns the id of the call, or nothing outside a gateway.
    pub fn call_id(&self) -> &str {
        self.scope
            .as_ref()
            .map(|scope| scope.call_id.as_str())
            .unwrap_or_default()
    }

    /// Tells whether exactly this capability was judged and granted for this call.
    ///
    /// Paths can change between check and run; a tool that resolves one anew asks here before it
    /// acts. Outside a gateway nothing is granted.
    pub fn is_granted(&self, access: &Access) -> bool {
        self.scope
            .as_ref()
            .is_some_and(|scope| scope.granted.contains(access))
    }

    /// Returns the digest of what a person saw when they approved this call, where its preview
    /// had one: [`crate::Preview::basis`].
    pub fn approved_basis(&self) -> Option<&str> {
        self.scope.as_ref()?.basis.as_deref()
    }

    /// Returns what was judged and granted for this call.
    #[cfg(feature = "files")]
    pub(crate) fn granted(&self) -> &[Access] {
        self.scope.as_ref().map_or(&[], |scope| &scope.granted)
    }

    /// Tells whether the policy lets this call read `path` below the root without asking.
    ///
    /// A tool that reads a whole folder leaves out what this refuses.
    pub fn may_read(&self, path: &str) -> bool {
        self.scope.as_ref().is_some_and(|scope| {
            let access = Access::Read(PathTarget::Inside(path.to_owned()));
            scope.policy.effect_of(&access) == Effect::Allow
        })
    }
}
