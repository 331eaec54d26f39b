//! How a gateway is put together.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::approval::{Approver, HeadlessApprover};
use crate::builtin::read_output;
use crate::gateway::Gateway;
use crate::nearest::did_you_mean;
use crate::output::MAX_OUTPUT_BYTES;
use crate::policy::{Mode, Policy};
use crate::registry::{Registry, RegistryError};
use crate::spill::Spill;
use crate::tool::DynTool;
use crate::trace::TraceSink;

/// Bounds of every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may run, where its tool does not say.
    pub deadline: Duration,
    /// The longest result, in bytes.
    pub output_bytes: usize,
    /// The longest argument text, in bytes.
    pub arguments_bytes: usize,
    /// How many calls of one dispatch may run; those after them are rejected.
    pub calls: usize,
    /// How many calls run at the same time.
    pub together: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            output_bytes: MAX_OUTPUT_BYTES,
            arguments_bytes: 1024 * 1024,
            calls: 128,
            together: 8,
        }
    }
}

/// Puts a [`Gateway`] together.
///
/// What is left out is the strictest: no tools, the default table for a program before which
/// nobody sits, and an approver that says no.
#[derive(Debug)]
pub struct GatewayBuilder {
    tools: Vec<Arc<dyn DynTool>>,
    allowed: Option<BTreeSet<String>>,
    policy: Policy,
    approver: Arc<dyn Approver>,
    limits: Limits,
    spill: Option<Arc<dyn Spill>>,
    trace: Option<Arc<dyn TraceSink>>,
}

impl Default for GatewayBuilder {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            allowed: None,
            policy: Policy::new(Mode::Headless),
            approver: Arc::new(HeadlessApprover),
            limits: Limits::default(),
            spill: None,
            trace: None,
        }
    }
}

impl GatewayBuilder {
    /// Adds a tool.
    #[must_use]
    pub fn tool(self, tool: Arc<dyn DynTool>) -> Self {
        self.tools([tool])
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Allows only these tools; without a list, all are allowed.
    #[must_use]
    pub fn allow_only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.allowed = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the policy.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets who is asked.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets the bounds of every call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps results that are too long, and adds the tool `read_output` that reads on in them.
    #[must_use]
    pub fn spill(mut self, spill: Arc<dyn Spill>) -> Self {
        self.tools.push(read_output(Arc::clone(&spill)));
        self.spill = Some(spill);
        self
    }

    /// Keeps a trace of every call.
    #[must_use]
    pub fn trace(mut self, trace: Arc<dyn TraceSink>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Returns the gateway, or what is wrong with its tools.
    pub fn build(self) -> Result<Gateway, RegistryError> {
        let mut definitions: Vec<_> = self
            .tools
            .iter()
            .map(|tool| tool.definition().clone())
            .collect();
        let registry = Registry::new(self.tools)?;
        let allowed = match self.allowed {
            None => registry.names().map(str::to_owned).collect(),
            Some(names) => known(&registry, names)?,
        };
        definitions.retain(|definition| allowed.contains(&definition.name));
        Ok(Gateway {
            registry,
            definitions,
            allowed,
            policy: Arc::new(self.policy),
            approver: self.approver,
            limits: self.limits,
            spill: self.spill,
            trace: self.trace,
        })
    }
}

fn known(registry: &Registry, names: BTreeSet<String>) -> Result<BTreeSet<String>, RegistryError> {
    match names.iter().find(|name| registry.get(name).is_none()) {
        None => Ok(names),
        Some(name) => Err(RegistryError::Unknown {
            suggestion: did_you_mean(name, registry.names()),
            name: name.clone(),
        }),
    }
}
