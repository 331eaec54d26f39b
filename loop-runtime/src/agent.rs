//! The agent: everything a turn needs, wired once, and the two ways to run one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use prompt_compiler::{
    Budget, CompileCache, CompileError, CompiledPrompt, ContextFragment, Pipeline, Preset,
    Residency, TokenCounter,
};
use skill_core::{
    Clock, IdSource, Message, ModelId, OpenError, Principal, Provider, SkillCatalog, Usage,
};
use tokio_util::sync::CancellationToken;
use tool_gateway::Gateway;

use crate::compact::Compaction;
use crate::context::{self, ContextQuery, ContextSource, TurnContext};
use crate::delegate::SubAssistant;
use crate::driver::{Driver, Start};
use crate::environment::Environment;
use crate::event::{AgentEvent, Emitter};
use crate::failure::Failure;
use crate::gather;
use crate::guards::{Ledger, TurnLimits};
use crate::journal::{JournalEntry, JournalEvent};
use crate::profile::Profile;
use crate::projection::Projection;
use crate::route::Router;
use crate::session::Session;
use crate::skill_state::{self, Declared, LoadError, SkillLoad};
use crate::store::{SessionStore, StoreError};
use crate::turn::TurnOutcome;
use crate::worker;

/// Everything a turn needs.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The model's provider.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: ModelId,
    /// The only way a tool runs.
    pub gateway: Arc<Gateway>,
    /// The skills there are.
    pub catalog: Arc<SkillCatalog>,
    /// Who is asking: decides which of them are visible.
    pub principal: Principal,
    /// How skills are shown.
    pub preset: Preset,
    /// The stages that make a request.
    pub pipeline: Pipeline,
    /// How turns run.
    pub profile: Profile,
    /// What a turn may cost.
    pub limits: TurnLimits,
    /// The only tools on offer, where not all that the gateway has.
    pub only_tools: Option<BTreeSet<String>>,
    /// Who else a sub-agent can be, by name.
    pub assistants: BTreeMap<String, SubAssistant>,
    /// What brings context for a turn.
    pub sources: Vec<Arc<dyn ContextSource>>,
    /// When and how a long conversation is compacted.
    pub compaction: Compaction,
    /// Chooses a call before the model is asked, where the profile routes.
    pub router: Option<Arc<dyn Router>>,
    /// The assistant's own system text; empty for none.
    pub instructions: String,
    /// Context that stays the same for a session.
    pub session_context: Vec<ContextFragment>,
    /// How much fits into a request.
    pub budget: Budget,
    /// Counts tokens where a bound is not good enough.
    pub counter: Arc<dyn TokenCounter>,
    /// Keeps the journal.
    pub store: Arc<dyn SessionStore>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids of sessions and turns.
    pub ids: Arc<dyn IdSource>,
    /// The workspace, as it is recorded with a session.
    pub workspace: String,
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// The session to go on with; `None` begins one.
    pub session: Option<String>,
    /// The user's input.
    pub input: Message,
    /// Context of this turn.
    pub context: Vec<ContextFragment>,
    /// Skills that it begins with.
    pub loads: Vec<SkillLoad>,
    /// The file that is open where the user works, relative to the workspace.
    pub file: Option<String>,
}

impl TurnRequest {
    /// Returns the request for a new session with nothing but a task.
    pub fn task(text: impl Into<String>) -> Self {
        Self {
            session: None,
            input: Message::user(text),
            context: Vec::new(),
            loads: Vec::new(),
            file: None,
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReport {
    /// The session.
    pub session: String,
    /// The turn.
    pub turn: String,
    /// Why it ended.
    pub outcome: TurnOutcome,
    /// The answer.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// How many calls were denied.
    pub denied: u32,
    /// What it cost in US dollars, where prices are known.
    pub cost_usd: Option<f64>,
    /// What went wrong, in words, where the outcome alone does not say.
    pub failure: Option<Failure>,
}

/// A turn that could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The session could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A skill that the turn should begin with cannot be opened; nothing was begun.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The worker died; this is a defect.
    #[error("the worker of the turn died")]
    Worker(#[source] tokio::task::JoinError),
}

/// A request that could not be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// It does not fit, or there is nothing to answer.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A skill could not be read.
    #[error(transparent)]
    Skill(#[from] OpenError),
    /// A skill that the turn should begin with cannot be opened.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The session could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Agent {
    /// Runs one turn to its end.
    ///
    /// On the fast path everything happens on the caller's task. Otherwise a worker task owns the
    /// turn and the caller receives its events. `sink` is called in order and must not block.
    /// Cancelling the token ends the turn as aborted; so does dropping the future, but then the
    /// end is only recorded, not seen.
    ///
    /// # Errors
    ///
    /// [`RunError`] when the turn could not begin. Whatever happens later is an outcome.
    pub async fn run(
        self: &Arc<Self>,
        request: TurnRequest,
        cancel: CancellationToken,
        sink: &mut (dyn FnMut(AgentEvent) + Send),
    ) -> Result<TurnReport, RunError> {
        self.run_within(request, cancel, sink, None).await
    }

    /// Runs one turn; a sub-agent's spends from the ledger of its parent's.
    pub(crate) async fn run_within(
        self: &Arc<Self>,
        request: TurnRequest,
        cancel: CancellationToken,
        sink: &mut (dyn FnMut(AgentEvent) + Send),
        ledger: Option<Arc<Mutex<Ledger>>>,
    ) -> Result<TurnReport, RunError> {
        self.catalog.refresh();
        let environment = Environment::pin(self);
        let most = self.preset.max_loaded;
        let declared = Declared::check(&request.loads, &environment.view, most)?;
        let session = Session::open(self, request.session.as_deref()).await?;
        let start = Start {
            session,
            environment,
            declared,
            request,
            ledger,
        };
        if self.profile.is_fast_path() {
            let emitter = Emitter::new(start.session.id().to_owned(), sink);
            return Ok(Driver::new(self, start, cancel, emitter).run().await);
        }
        worker::run(Arc::clone(self), start, cancel, sink).await
    }

    /// Compiles the first request of a turn and sends nothing.
    ///
    /// # Errors
    ///
    /// [`PreviewError`] when the request does not fit or something of it could not be read.
    pub async fn preview(&self, request: &TurnRequest) -> Result<CompiledPrompt, PreviewError> {
        let mut projection = match &request.session {
            Some(id) => Session::read(self, id).await?.projection().clone(),
            None => Projection::default(),
        };
        let environment = Environment::pin(self);
        projection.messages.push(Arc::new(request.input.clone()));
        let most = self.preset.max_loaded;
        let agent = &self.principal.assistant;
        let declared = Declared::check(&request.loads, &environment.view, most)?;
        let expire = self.preset.residency != Residency::Session;
        let delta = declared.delta(&projection.state, agent, expire, most);
        skill_state::merge(&mut projection.state, &delta);
        let query = ContextQuery::from(request);
        let mut context = context::gather(&self.sources, &query).await;
        context.turn.extend(request.context.iter().cloned());
        self.compile_as(&environment, &projection, &context)
    }

    /// Compiles request number `number` of a session again, counted from 1, with the skills and the
    /// settings of now; `None` if there were fewer.
    ///
    /// # Errors
    ///
    /// As [`Agent::preview`].
    pub async fn preview_step(
        &self,
        session: &str,
        number: usize,
    ) -> Result<Option<CompiledPrompt>, PreviewError> {
        let record = self.store.load(session).await?;
        let is_request =
            |entry: &JournalEntry| matches!(entry.event, JournalEvent::ModelRequested { .. });
        let requests = record.entries.iter().enumerate();
        let mut requests = requests.filter(|(_, entry)| is_request(entry));
        let Some((end, _)) = number.checked_sub(1).and_then(|skip| requests.nth(skip)) else {
            return Ok(None);
        };
        let before = record.entries.get(..end).unwrap_or_default();
        let environment = Environment::pin(self);
        self.compile_as(&environment, &Projection::of(before), &Default::default())
            .map(Some)
    }

    fn compile_as(
        &self,
        environment: &Environment,
        projection: &Projection,
        context: &TurnContext,
    ) -> Result<CompiledPrompt, PreviewError> {
        let agent = &self.principal.assistant;
        let gathered = gather::gather(&environment.view, projection, agent)?;
        let session_context = gather::session_context(self, projection, context);
        let input = gather::input(
            self,
            environment,
            &gathered.skills,
            &projection.messages,
            &session_context,
            &context.turn,
        );
        let mut cache = CompileCache::default();
        Ok(self.pipeline.compile(&input, &*self.counter, &mut cache)?)
    }
}
