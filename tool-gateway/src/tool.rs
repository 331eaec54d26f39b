//! Tools: typed for their authors, erased for dispatch.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skill_core::{StateDelta, ToolDefinition};

use crate::access::Access;
use crate::arguments::schema_of;
use crate::context::ToolContext;

/// A tool as its author writes it: typed arguments, no JSON.
///
/// The schema that the model sees is derived from [`Tool::Arguments`] and made strict. [`erase`]
/// turns a tool into the [`DynTool`] that a [`crate::Gateway`] runs.
pub trait Tool: Send + Sync + fmt::Debug + 'static {
    /// The arguments; doc comments of the fields become their descriptions.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// Returns the name that the model calls: letters, digits, `_` and `-`, at most 64.
    fn name(&self) -> &str;

    /// Returns what the tool does and when to use it, for the model.
    fn description(&self) -> &str;

    /// Returns what a call with these arguments touches; see [`DynTool::access`].
    fn access(&self, _arguments: &Self::Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(Vec::new())
    }

    /// Returns the approval line and preview of a call; see [`DynTool::preview`].
    fn preview(&self, _arguments: &Self::Arguments) -> Result<Preview, ToolError> {
        Ok(Preview::default())
    }

    /// Returns how long a call may run; `None` leaves it to the gateway.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Returns the argument by which it opens skills; see [`DynTool::opens_skills_by`].
    fn opens_skills_by(&self) -> Option<&str> {
        None
    }

    /// Returns how long a stopped call may take to end by itself; see [`DynTool::wind_down`].
    fn wind_down(&self) -> Duration {
        Duration::ZERO
    }

    /// Runs a call; see [`DynTool::invoke`].
    fn run(
        &self,
        context: &ToolContext,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A tool as the gateway runs it.
#[async_trait::async_trait]
pub trait DynTool: Send + Sync + fmt::Debug {
    /// Returns the definition that the model sees; the same for the life of the tool.
    fn definition(&self) -> &ToolDefinition;

    /// Completes validated arguments: what comes back is what is judged, shown, bound and run.
    ///
    /// Called once for a call, on a thread that answers others meanwhile. An error means that the
    /// call cannot run at all.
    fn prepare(&self, _context: &ToolContext, arguments: Value) -> Result<Value, ToolError> {
        Ok(arguments)
    }

    /// Returns the arguments as they are recorded: complete, and without what is secret.
    fn recorded(&self, arguments: &Value) -> Value {
        arguments.clone()
    }

    /// Returns what a call with these validated arguments touches, with paths resolved.
    ///
    /// Called before the policy judges, and again before an approved call runs. An error means
    /// that the call cannot run at all, so nobody is asked about it. No capabilities means that
    /// the policy judges the tool by its name. It is called between other work, so it looks and
    /// does nothing heavy; what takes time belongs into [`DynTool::invoke`].
    fn access(&self, arguments: &Value) -> Result<Vec<Access>, ToolError>;

    /// Returns what a person who is asked about the call sees.
    ///
    /// Called on a thread that may block, when the policy wants somebody asked. An error means
    /// that the call cannot do what it asks for, so nobody is asked and the model reads why.
    fn preview(&self, _arguments: &Value) -> Result<Preview, ToolError> {
        Ok(Preview::default())
    }

    /// Returns how long a call may run; `None` leaves it to the gateway.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Returns the argument that names a skill, if this is the tool that opens skills: a call that
    /// takes a skill for a tool is told to call it.
    fn opens_skills_by(&self) -> Option<&str> {
        None
    }

    /// Returns how long a stopped call may take to end by itself before its future is dropped.
    ///
    /// For tools that watch [`ToolContext::cancel`] because dropping them would leave something
    /// behind, such as processes.
    fn wind_down(&self) -> Duration {
        Duration::ZERO
    }

    /// Runs a call.
    ///
    /// The gateway has done every check; only it calls this. The future runs on a task of its own.
    /// On cancellation and at the deadline [`ToolContext::cancel`] is cancelled, and the future is
    /// dropped once [`DynTool::wind_down`] is over. A panic ends the call, not the program.
    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError>;
}

/// What a person who is asked about a call sees, where the tool can say it better than JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Exactly what would run, on one line; `None` shows the tool's name and its arguments.
    pub action: Option<String>,
    /// More, such as a diff; may have many lines.
    pub details: Option<String>,
    /// A digest of what the details were made from, such as the file as it was. The approval is
    /// bound to it: the tool finds it in [`ToolContext::approved_basis`] and does nothing if it
    /// does not hold any more.
    pub basis: Option<String>,
}

/// What a tool brings back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text for the model.
    pub content: String,
    /// Changes of session state; the runtime applies them in call order.
    pub state: StateDelta,
    /// The skill that was opened.
    pub opened: Option<SkillOpened>,
}

impl ToolOutput {
    /// Returns an output of text alone.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }
}

/// A skill that a call opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillOpened {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: Option<String>,
    /// Its content digest.
    pub digest: String,
}

/// What kind of failure a call ended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The arguments are not what the tool takes.
    InvalidArguments,
    /// The tool, or what the call names, does not exist.
    NotFound,
    /// Policy, whitelist, boundary or a person said no.
    Denied,
    /// What the session rests on changed, such as the pinned skills.
    Environment,
    /// More calls than are taken at once, or in a time.
    RateLimited,
    /// It failed too often just now to be tried again.
    CircuitOpen,
    /// Its own time was up.
    TimedOut,
    /// It may go well another time.
    Unavailable,
    /// The tool panicked.
    Panic,
    /// Anything else that went wrong inside the tool.
    Tool,
}

impl ErrorKind {
    /// Returns the name used in events and in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::Denied => "denied",
            Self::Environment => "environment",
            Self::RateLimited => "rate_limited",
            Self::CircuitOpen => "circuit_open",
            Self::TimedOut => "timed_out",
            Self::Unavailable => "unavailable",
            Self::Panic => "panic",
            Self::Tool => "tool",
        }
    }
}

/// A call that a tool could not do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What the model reads: what failed, and the way on where there is one.
    pub message: String,
    /// What only an operator reads.
    pub detail: Option<String>,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ToolError {
    /// Returns an error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            detail: None,
            source: None,
        }
    }

    /// Returns a failure inside the tool.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, message)
    }

    /// Adds what only an operator reads.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds the cause; the model does not read it.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Returns the operator's text: the detail, else the chain of causes.
    pub(crate) fn operator_text(&self) -> Option<String> {
        if self.detail.is_some() {
            return self.detail.clone();
        }
        let mut causes = Vec::new();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        (!causes.is_empty()).then(|| causes.join(": "))
    }
}

/// Turns a typed tool into one that a gateway runs.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn DynTool> {
    let definition = ToolDefinition {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: schema_of::<T::Arguments>(),
    };
    Arc::new(Erased { definition, tool })
}

#[derive(Debug)]
struct Erased<T> {
    definition: ToolDefinition,
    tool: T,
}

#[async_trait::async_trait]
impl<T: Tool> DynTool for Erased<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> Result<Vec<Access>, ToolError> {
        self.tool.access(&typed(arguments)?)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, ToolError> {
        self.tool.preview(&typed(arguments)?)
    }

    fn deadline(&self) -> Option<Duration> {
        self.tool.deadline()
    }

    fn opens_skills_by(&self) -> Option<&str> {
        self.tool.opens_skills_by()
    }

    fn wind_down(&self) -> Duration {
        self.tool.wind_down()
    }

    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        self.tool.run(context, typed(&arguments)?).await
    }
}

/// Reads validated JSON as the tool's own type, which may ask more than the schema can say.
fn typed<A: DeserializeOwned>(arguments: &Value) -> Result<A, ToolError> {
    A::deserialize(arguments).map_err(|error| {
        ToolError::new(
            ErrorKind::InvalidArguments,
            format!("the arguments are not valid: {error}"),
        )
    })
}

/// Turns an asynchronous function into a tool that the policy judges by its name.
///
/// ```
/// # use tool_gateway::{function, ToolOutput};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Balance { account: String }
///
/// let tool = function("balance", "Returns the balance of an account.", |balance: Balance| async move {
///     Ok(ToolOutput::text(format!("{}: 12.50", balance.account)))
/// });
/// assert_eq!(tool.definition().name, "balance");
/// ```
pub fn function<A, F, R>(name: &str, description: &str, run: F) -> Arc<dyn DynTool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    erase(Function {
        name: name.to_owned(),
        description: description.to_owned(),
        run,
        arguments: PhantomData,
    })
}

struct Function<A, F> {
    name: String,
    description: String,
    run: F,
    arguments: PhantomData<fn(A)>,
}

impl<A, F> fmt::Debug for Function<A, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Function")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<A, F, R> Tool for Function<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    type Arguments = A;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn run(&self, _context: &ToolContext, arguments: A) -> Result<ToolOutput, ToolError> {
        (self.run)(arguments).await
    }
}
