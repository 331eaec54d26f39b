//! What executable skills get of this program: trust, secrets, a model, the network.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use jiff::tz::TimeZone;
use loop_runtime::ReplyBuilder;
use skill_core::{
    CompletionRequest, Message, ModelId, Provider, Scope, Skill, StopReason, TrustKind,
};
use tool_gateway::{
    DynTool, HttpClient, SecretSource, SkillHost, SkillModel, SkillTrust, WebClient, Workspace,
    run_skill,
};

use crate::app::Context;
use crate::environment::Environment;
use crate::setup::{Project, launch};
use crate::system::SystemClock;

/// Returns the tool that runs executable skills.
pub(super) fn run_skill_tool(
    context: &Context,
    workspace: &Workspace,
    model: Option<(Arc<dyn Provider>, ModelId)>,
    tools: Vec<Arc<dyn DynTool>>,
) -> Arc<dyn DynTool> {
    let environment = &context.environment;
    let http = match WebClient::new() {
        Ok(client) => Some(Arc::new(client) as Arc<dyn HttpClient>),
        Err(error) => {
            context.output.notice(&error.to_string());
            None
        }
    };
    let project = Project::of(environment);
    let top = project.as_ref().map(|project| project.root.clone());
    run_skill(SkillHost {
        launch: launch(context),
        workspace: workspace.path().to_owned(),
        project: top.unwrap_or_else(|| workspace.path().to_owned()),
        clock: Arc::new(SystemClock::new()),
        zone: TimeZone::system().iana_name().unwrap_or("UTC").to_owned(),
        user_id: environment.variable("USER"),
        config: serde_json::Map::new(),
        trust: Arc::new(ProjectTrusted(project)),
        secrets: Some(Arc::new(Variables(environment.clone()))),
        model: model
            .map(|(provider, model)| Arc::new(AskModel { provider, model }) as Arc<dyn SkillModel>),
        http,
        tools,
        native: BTreeMap::new(),
        python: "python3".to_owned(),
    })
}

/// Programs of a project run once they are trusted as they are.
#[derive(Debug)]
struct ProjectTrusted(Option<Project>);

impl SkillTrust for ProjectTrusted {
    fn refusal(&self, skill: &Skill, digest: &str) -> Option<String> {
        if skill.scope != Scope::Project {
            return None;
        }
        let trusted = self.0.as_ref().is_some_and(|project| {
            project
                .relative(skill.package_path())
                .is_some_and(|path| project.trust.holds(TrustKind::Skill, &path, digest))
        });
        (!trusted).then(|| {
            format!(
                "skill `{}` comes with this project and its program is not trusted as it is; it did not run. The user can look at it with `tekne trust`",
                skill.id
            )
        })
    }
}

/// Secrets are variables of the environment.
#[derive(Debug)]
struct Variables(Environment);

impl SecretSource for Variables {
    fn secret(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
}

/// The run's own model, for prompts of skills.
#[derive(Debug)]
struct AskModel {
    provider: Arc<dyn Provider>,
    model: ModelId,
}

#[async_trait::async_trait]
impl SkillModel for AskModel {
    async fn complete(&self, system: Option<&str>, prompt: &str) -> Result<String, String> {
        let request = CompletionRequest {
            model: self.model.clone(),
            system: system.map(str::to_owned).into_iter().collect(),
            messages: vec![Arc::new(Message::user(prompt))],
            tools: [].into(),
            max_output_tokens: None,
        };
        let told = |error: skill_core::ProviderError| error.to_string();
        let mut answer = self.provider.stream(request).await.map_err(told)?;
        let mut builder = ReplyBuilder::new();
        while let Some(event) = answer.next().await {
            builder.push(&event.map_err(told)?);
        }
        let (reply, _) = builder.finish(&BTreeSet::new());
        match reply.stop {
            Some(StopReason::EndTurn) => Ok(reply.message.joined_text()),
            _ => Err("the answer was cut".to_owned()),
        }
    }
}
