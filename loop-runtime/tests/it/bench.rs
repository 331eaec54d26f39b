//! The bench: an agent with a scripted model, two skills and one tool whose effects are counted.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use loop_runtime::{
    Agent, AgentEvent, Compaction, MemoryStore, Profile, SessionStore, TurnLimits, TurnReport,
    TurnRequest,
};
use prompt_compiler::{Budget, ByteBound, Pipeline, Preset, validate};
use skill_core::testing::{Answer, CountingIds, ScriptedProvider, SteppingClock};
use skill_core::{
    Clock, LoadMode, MemorySource, ModelId, Principal, ScanLimits, Skill, SkillCatalog,
};
use tokio_util::sync::CancellationToken;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, Gateway, Mode, Policy, Source, ToolOutput,
};

/// A tool whose effect can be counted.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Note {
    /// What to note.
    text: String,
}

pub(crate) struct Bench {
    pub(crate) provider: Arc<ScriptedProvider>,
    pub(crate) agent: Arc<Agent>,
    effects: Arc<AtomicUsize>,
    on_note: Hook,
    approver: Arc<ScriptedApprover>,
}

/// What happens while the tool has its effect.
type Hook = Arc<Mutex<Option<Box<dyn Fn() + Send>>>>;

/// Gives scripted decisions, and leaves the question open when it has none.
#[derive(Debug, Default)]
pub(crate) struct ScriptedApprover(Mutex<VecDeque<Approval>>);

#[async_trait::async_trait]
impl Approver for ScriptedApprover {
    async fn decide(&self, _request: &ApprovalRequest) -> Approval {
        self.0
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Approval::Defer)
    }
}

impl Bench {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        Self::with(answers, Arc::new(MemoryStore::new()), "allow tool(note)")
    }

    pub(crate) fn with(answers: Vec<Answer>, store: Arc<dyn SessionStore>, rule: &str) -> Self {
        let provider = ScriptedProvider::new(answers);
        let approver = Arc::new(ScriptedApprover::default());
        let effects = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&effects);
        let on_note = Hook::default();
        let hook = Arc::clone(&on_note);
        let tool = tool_gateway::function("note", "Notes a text.", move |note: Note| {
            counted.fetch_add(1, Ordering::SeqCst);
            if let Some(hook) = &*hook.lock().unwrap() {
                hook();
            }
            async move { Ok(ToolOutput::text(format!("noted {}", note.text))) }
        });
        let (policy, _) = Policy::merge(Mode::Interactive, [(Source::User, rule.parse().unwrap())]);
        let gateway = Gateway::builder()
            .tools(tool_gateway::skill_tools())
            .tools(loop_runtime::memory_tools())
            .tool(loop_runtime::delegate_tool())
            .tool(tool)
            .policy(policy)
            .approver(Arc::clone(&approver) as _)
            .build()
            .unwrap();
        let style = Skill {
            load: LoadMode::Always,
            ..Skill::new("style", "House style.")
        };
        let skills = MemorySource::new()
            .with(
                Skill::new("weekly", "Writes the weekly review."),
                "STEP ONE\n",
            )
            .with(style, "BE BRIEF\n");
        let catalog = SkillCatalog::new(vec![Arc::new(skills)], ScanLimits::default());
        let agent = Agent {
            provider: Arc::clone(&provider) as _,
            model: ModelId::new("test"),
            gateway: Arc::new(gateway),
            catalog: Arc::new(catalog),
            principal: Principal {
                assistant: "default".into(),
                ..Principal::default()
            },
            preset: Preset::built_in("default").unwrap(),
            pipeline: Pipeline::standard(),
            profile: Profile::AGENT,
            limits: TurnLimits::default(),
            only_tools: None,
            assistants: std::collections::BTreeMap::new(),
            sources: Vec::new(),
            compaction: Compaction::default(),
            router: None,
            instructions: String::new(),
            session_context: Vec::new(),
            budget: Budget::default(),
            counter: Arc::new(ByteBound),
            store,
            clock: Arc::new(SteppingClock::default()),
            ids: Arc::new(CountingIds::default()),
            workspace: "/workspace".into(),
        };
        Self {
            provider,
            agent: Arc::new(agent),
            effects,
            on_note,
            approver,
        }
    }

    /// Adds a decision for the next question.
    pub(crate) fn decide(&self, approval: Approval) {
        self.approver.0.lock().unwrap().push_back(approval);
    }

    /// Sets what happens while the tool has its effect.
    pub(crate) fn on_note(&self, hook: impl Fn() + Send + 'static) {
        *self.on_note.lock().unwrap() = Some(Box::new(hook));
    }

    /// Returns how often the tool had its effect.
    pub(crate) fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }

    pub(crate) fn profile(self, profile: Profile) -> Self {
        self.with_agent(|agent| agent.profile = profile)
    }

    pub(crate) fn catalog(self, catalog: SkillCatalog) -> Self {
        self.with_agent(|agent| agent.catalog = Arc::new(catalog))
    }

    pub(crate) fn limits(self, limits: TurnLimits) -> Self {
        self.with_agent(|agent| agent.limits = limits)
    }

    /// Changes the agent before it runs.
    pub(crate) fn with_agent(mut self, change: impl FnOnce(&mut Agent)) -> Self {
        let mut agent = (*self.agent).clone();
        change(&mut agent);
        self.agent = Arc::new(agent);
        self
    }

    pub(crate) async fn run(&self, request: TurnRequest) -> (TurnReport, Vec<AgentEvent>) {
        self.run_with(request, CancellationToken::new(), |_| {})
            .await
    }

    pub(crate) async fn run_with(
        &self,
        request: TurnRequest,
        cancel: CancellationToken,
        mut seen: impl FnMut(&AgentEvent) + Send,
    ) -> (TurnReport, Vec<AgentEvent>) {
        let mut events = Vec::new();
        let mut sink = |event: AgentEvent| {
            seen(&event);
            events.push(event);
        };
        let report = self.agent.run(request, cancel, &mut sink).await.unwrap();
        for request in self.provider.requests() {
            assert_eq!(validate(&request), Ok(()), "{:#?}", request.messages);
        }
        assert!(
            events
                .iter()
                .map(|event| event.seq)
                .eq(1..=events.len() as u64)
        );
        (report, events)
    }
}

/// A clock that goes with the time of the test's runtime.
#[derive(Debug)]
pub(crate) struct TokioClock(tokio::time::Instant);

impl TokioClock {
    pub(crate) fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        self.monotonic_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}

pub(crate) fn kinds(events: &[AgentEvent]) -> Vec<String> {
    let name = |event: &AgentEvent| {
        let value = serde_json::to_value(event).unwrap();
        value["type"].as_str().unwrap().to_owned()
    };
    events.iter().map(name).collect()
}

pub(crate) fn again(report: &TurnReport, task: &str) -> TurnRequest {
    TurnRequest {
        session: Some(report.session.clone()),
        ..TurnRequest::task(task)
    }
}
