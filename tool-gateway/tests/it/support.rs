//! Scripted tools, approvers and logs.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skill_core::{CallStatus, ToolCall, ToolDefinition};
use tokio_util::sync::CancellationToken;
use tool_gateway::{
    Access, Approval, ApprovalRequest, Approver, CallEvent, CallLog, CallRecord, DynTool, Gateway,
    LogError, Mode, Policy, Source, ToolContext, ToolError, ToolOutput,
};

pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;
type Body = dyn Fn(ToolContext, Value) -> Answer + Send + Sync;

/// A tool whose capabilities and work are given by the test.
pub(crate) struct Scripted {
    definition: ToolDefinition,
    access: Vec<Access>,
    body: Box<Body>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.definition.name)
    }
}

#[async_trait::async_trait]
impl DynTool for Scripted {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> Result<Vec<Access>, ToolError> {
        Ok(self.access.clone())
    }

    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        (self.body)(context.clone(), arguments).await
    }
}

/// Returns a tool that takes any object.
pub(crate) fn tool<F, R>(name: &str, access: Vec<Access>, body: F) -> Arc<dyn DynTool>
where
    F: Fn(ToolContext, Value) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let definition = ToolDefinition {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    Arc::new(Scripted {
        definition,
        access,
        body: Box::new(move |context, value| Box::pin(body(context, value))),
    })
}

/// Returns a tool that answers with its own name.
pub(crate) fn echo(name: &'static str, access: Vec<Access>) -> Arc<dyn DynTool> {
    tool(name, access, move |_, _| async move {
        Ok(ToolOutput::text(name))
    })
}

/// Keeps events, and fails where told to.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    events: Mutex<Vec<CallEvent>>,
    fail_at: Option<&'static str>,
}

impl Recorder {
    pub(crate) fn failing_at(step: &'static str) -> Self {
        Self {
            fail_at: Some(step),
            ..Self::default()
        }
    }

    /// Returns the steps in order, such as `running c1`.
    pub(crate) fn steps(&self) -> Vec<String> {
        self.events.lock().unwrap().iter().map(step).collect()
    }
}

fn step(event: &CallEvent) -> String {
    match event {
        CallEvent::Pending { call } => format!("pending {}", call.id),
        CallEvent::Approval { call_id, .. } => format!("approval {call_id}"),
        CallEvent::Running { call_id, .. } => format!("running {call_id}"),
        CallEvent::Finished { record } => {
            format!(
                "finished {} {}",
                record.result.call_id,
                record.result.status.as_str()
            )
        }
        other => format!("{other:?}"),
    }
}

#[async_trait::async_trait]
impl CallLog for Recorder {
    async fn record(&self, event: &CallEvent) -> Result<(), LogError> {
        if self
            .fail_at
            .is_some_and(|prefix| step(event).starts_with(prefix))
        {
            return Err(LogError::new("no space left"));
        }
        self.events.lock().unwrap().push(event.clone());
        Ok(())
    }
}

/// Gives the same answer to every request, and keeps the requests.
#[derive(Debug)]
pub(crate) struct Answers {
    answer: Approval,
    pub(crate) asked: Mutex<Vec<ApprovalRequest>>,
}

impl Answers {
    pub(crate) fn always(answer: Approval) -> Arc<Self> {
        Arc::new(Self {
            answer,
            asked: Mutex::default(),
        })
    }

    pub(crate) fn allow() -> Arc<Self> {
        Self::always(Approval::Allow)
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    pub(crate) fn actions(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .map(|request| request.action.clone())
            .collect()
    }
}

#[async_trait::async_trait]
impl Approver for Answers {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        self.asked.lock().unwrap().push(request.clone());
        self.answer.clone()
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    raw_call(id, name, &arguments.to_string())
}

pub(crate) fn raw_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

pub(crate) fn context() -> ToolContext {
    ToolContext::without_skills("agent", CancellationToken::new())
}

pub(crate) fn policy(mode: Mode, rules: &[&str]) -> Policy {
    Policy::merge(
        mode,
        rules
            .iter()
            .map(|text| (Source::User, text.parse().unwrap())),
    )
    .0
}

/// Returns a gateway that lets every tool run.
pub(crate) fn open_gateway(tools: Vec<Arc<dyn DynTool>>) -> Gateway {
    let all = [
        "allow read(**)",
        "allow write(**)",
        "allow delete(**)",
        "allow tool(*)",
        "allow run(**)",
    ];
    Gateway::builder()
        .tools(tools)
        .policy(policy(Mode::Interactive, &all))
        .build()
        .unwrap()
}

/// Dispatches one call and returns its record.
pub(crate) async fn dispatch_one(gateway: &Gateway, call: ToolCall) -> CallRecord {
    let records = gateway
        .dispatch(&[call], &context(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(records.len(), 1);
    records.into_iter().next().unwrap()
}

/// Returns status, kind and text: what most tests compare.
pub(crate) fn brief(record: &CallRecord) -> (CallStatus, Option<&'static str>, &str) {
    (
        record.result.status,
        record.error_kind,
        &record.result.content,
    )
}
