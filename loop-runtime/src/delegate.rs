//! Sub-agents: the tool `delegate` runs a task with a part of what its agent may do, never more.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use skill_core::Principal;
use tokio::sync::Semaphore;
use tool_gateway::{Access, DynTool, ErrorKind, Tool, ToolContext, ToolError, ToolOutput};

use crate::agent::{Agent, TurnReport, TurnRequest};
use crate::environment::Environment;
use crate::guards::Ledger;
use crate::profile::Profile;
use crate::turn::TurnOutcome;

/// The name of the tool.
pub(crate) const DELEGATE: &str = "delegate";

/// How many sub-agents of a turn work at once.
const TOGETHER: usize = 4;

/// How many sub-agents one turn may start.
const FAN_OUT: u32 = 32;

/// How long a sub-agent may take where the turn has no limit of its own.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Who else a sub-agent can be: what it sees and may use is cut down to what its parent does.
#[derive(Clone, Debug, Default)]
pub struct SubAssistant {
    /// What it sees.
    pub principal: Principal,
    /// Its own system text.
    pub instructions: String,
    /// The only tools it may use, where it has a list.
    pub tools: Option<BTreeSet<String>>,
}

/// Returns the tool that starts sub-agents. It works within a turn of an [`Agent`]:
///
/// a sub-agent sees and may use a part of what its agent does, has open skills of its own, asks the
/// same person, spends from the same limits, and starts no further ones. Its session is kept
/// beside that of its agent, so that nothing of it is lost if it fails.
pub fn delegate_tool() -> Arc<dyn DynTool> {
    tool_gateway::erase(Delegate)
}

/// What the tools of a turn reach of it.
pub(crate) struct TurnHost {
    agent: Arc<Agent>,
    environment: Environment,
    ledger: Arc<Mutex<Ledger>>,
    places: Semaphore,
    started: AtomicU32,
    ended: Mutex<Vec<String>>,
}

impl fmt::Debug for TurnHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TurnHost").finish_non_exhaustive()
    }
}

impl TurnHost {
    pub(crate) fn new(
        agent: Arc<Agent>,
        environment: Environment,
        ledger: Arc<Mutex<Ledger>>,
    ) -> Self {
        Self {
            agent,
            environment,
            ledger,
            places: Semaphore::new(TOGETHER),
            started: AtomicU32::new(0),
            ended: Mutex::default(),
        }
    }

    /// Returns a line for each sub-agent that ended since it was asked last.
    pub(crate) fn take_ended(&self) -> Vec<String> {
        std::mem::take(&mut self.ended())
    }

    fn ended(&self) -> MutexGuard<'_, Vec<String>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Delegate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What is to be done, with everything that has to be known for it: nothing else of this
    /// conversation is seen.
    task: String,
    /// The assistant that does it; without one, one like you.
    assistant: Option<String>,
    /// The only skills it may use, by id.
    skills: Option<Vec<String>>,
    /// The only tools it may use.
    tools: Option<Vec<String>>,
}

impl Tool for Delegate {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        DELEGATE
    }

    fn description(&self) -> &str {
        "Has a sub-agent do a task on its own and brings back its answer. Use it for work that can be described in full and needs none of this conversation."
    }

    fn access(&self, _arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Delegate])
    }

    fn deadline(&self) -> Option<Duration> {
        Some(LONGEST)
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let Some(host) = context.host::<TurnHost>() else {
            return Err(ToolError::failed("there is nobody here to delegate to"));
        };
        let child = Arc::new(child(host, context, &arguments)?);
        if host.started.fetch_add(1, Ordering::Relaxed) >= FAN_OUT {
            let message =
                format!("one turn starts at most {FAN_OUT} sub-agents; do the rest yourself");
            return Err(ToolError::new(ErrorKind::RateLimited, message));
        }
        let _place = host.places.acquire().await;
        let request = TurnRequest::task(arguments.task);
        let mut sink = |_| {};
        let ledger = Arc::clone(&host.ledger);
        let ran = child
            .run_within(request, context.cancel.clone(), &mut sink, Some(ledger))
            .await;
        match ran {
            Ok(report) => {
                let (session, outcome, usage) = (&report.session, &report.outcome, report.usage);
                host.ended().push(format!(
                    "a sub-agent ended, {outcome}, with {} tokens in and {} out; its session is {session}",
                    usage.input, usage.output
                ));
                answer(&report)
            }
            Err(error) => {
                Err(ToolError::failed("the sub-agent could not begin").with_source(error))
            }
        }
    }
}

/// Returns what the parent reads: the answer, and how it ended where that was not well.
fn answer(report: &TurnReport) -> Result<ToolOutput, ToolError> {
    if report.outcome == TurnOutcome::Completed {
        return Ok(ToolOutput::text(report.text.clone()));
    }
    let mut message = format!("the sub-agent did not finish: {}", report.outcome);
    if let Some(failure) = &report.failure {
        message.push_str(&format!(": {}", failure.message));
    }
    if !report.text.is_empty() {
        message.push_str(&format!("\nwhat it said last:\n{}", report.text));
    }
    let session = format!("its session is {}", report.session);
    Err(ToolError::failed(message).with_detail(session))
}

/// Returns the sub-agent: its parent, cut down.
fn child(
    host: &TurnHost,
    context: &ToolContext,
    arguments: &Arguments,
) -> Result<Agent, ToolError> {
    let parent = &host.agent;
    let assistant = arguments.assistant.as_deref();
    let other = assistant.map(|name| named(parent, name)).transpose()?;
    let mut principal = parent.principal.clone();
    principal.assistant = format!("{}/{}", parent.principal.assistant, context.call_id());
    principal.exclude.extend(hidden(host, other, arguments)?);
    let instructions = other.map_or(&parent.instructions, |other| &other.instructions);
    Ok(Agent {
        principal,
        instructions: instructions.clone(),
        only_tools: Some(tools(host, context, other, arguments)?),
        profile: Profile {
            routes: false,
            ..parent.profile
        },
        sources: Vec::new(),
        ..(**parent).clone()
    })
}

fn named<'a>(parent: &'a Agent, name: &str) -> Result<&'a SubAssistant, ToolError> {
    parent.assistants.get(name).ok_or_else(|| {
        let known: Vec<&str> = parent.assistants.keys().map(String::as_str).collect();
        let there = if known.is_empty() {
            "there are none; leave `assistant` out".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        let name = tool_gateway::escape_line(name);
        ToolError::new(
            ErrorKind::NotFound,
            format!("no assistant named `{name}`; {there}"),
        )
    })
}

/// Returns the ids of skills that the parent sees and the sub-agent does not.
fn hidden(
    host: &TurnHost,
    other: Option<&SubAssistant>,
    arguments: &Arguments,
) -> Result<Vec<String>, ToolError> {
    let view = &host.environment.view;
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for name in arguments.skills.iter().flatten() {
        let Some(found) = view
            .find(Some(name), None)
            .or_else(|| view.find(None, Some(name)))
        else {
            let name = tool_gateway::escape_line(name);
            let message = format!("skill not found: {name}");
            return Err(ToolError::new(ErrorKind::NotFound, message));
        };
        wanted.insert(found.skill.id.as_str());
    }
    let own = other.map(|other| host.agent.catalog.view(&other.principal));
    let seen = |id: &str| {
        let own = own
            .as_ref()
            .is_none_or(|own| own.find(Some(id), None).is_some());
        own && (arguments.skills.is_none() || wanted.contains(id))
    };
    let ids = view.skills().iter().map(|viewed| viewed.skill.id.as_str());
    Ok(ids.filter(|id| !seen(id)).map(str::to_owned).collect())
}

/// Returns the tools of the sub-agent: of those on offer here the wanted ones, and never this one.
fn tools(
    host: &TurnHost,
    context: &ToolContext,
    other: Option<&SubAssistant>,
    arguments: &Arguments,
) -> Result<BTreeSet<String>, ToolError> {
    let allowed = |name: &str| {
        let restrict = context.restrict.as_ref();
        name != DELEGATE && restrict.is_none_or(|only| only.contains(name))
    };
    let offered: BTreeSet<&str> = host
        .environment
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .filter(|name| allowed(name))
        .collect();
    for name in arguments.tools.iter().flatten() {
        if !offered.contains(name.as_str()) {
            let name = tool_gateway::escape_line(name);
            let message = format!("`{name}` is not available here, so it cannot be handed on");
            return Err(ToolError::new(ErrorKind::Denied, message));
        }
    }
    let names = &host.environment.preset.tools;
    let opens = [names.open.as_str(), tool_gateway::LIST_SKILLS];
    let wanted = |name: &str| {
        let listed = arguments
            .tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| tool == name));
        let own = other
            .and_then(|other| other.tools.as_ref())
            .is_none_or(|tools| tools.contains(name));
        opens.contains(&name) || (listed && own)
    };
    let kept = offered.into_iter().filter(|name| wanted(name));
    Ok(kept.map(str::to_owned).collect())
}
