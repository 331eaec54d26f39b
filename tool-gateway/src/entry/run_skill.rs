//! `run_skill`: an executable skill, through the whole gateway.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use skill_core::{
    Declaration, EntryPoint, PackageTree, Policies, Skill, StateDelta, ToolDefinition, state,
};

use crate::access::Access;
use crate::builtin::{RUN_SKILL, blocking, skill_not_found};
use crate::context::ToolContext;
use crate::digest::canonical_json;
use crate::entry::fill::complete;
use crate::entry::host::{Host, SkillHost};
use crate::entry::limits::{Breaker, Rate, pause};
use crate::entry::parameters::problems;
use crate::entry::redact::Redactor;
use crate::entry::zone::Zone;
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult, http, runner, tool, worker};
use crate::escape::escape_line;
use crate::tool::{DynTool, ErrorKind, Preview, ToolError, ToolOutput};

/// Above every deadline that a skill can declare, with its attempts and the pauses between them.
const DEADLINE: Duration = Duration::from_secs(60 * 60);

/// The kind of a run whose time was up.
const TIMEOUT: &str = "timeout";

/// Returns the tool that runs executable skills.
pub fn run_skill(host: SkillHost) -> Arc<dyn DynTool> {
    Arc::new(RunSkill {
        definition: definition(),
        host: Host {
            given: host,
            workers: worker::Workers::default(),
        },
        limits: Mutex::default(),
    })
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        name: RUN_SKILL.to_owned(),
        description:
            "Runs an executable skill with its parameters and returns what it brings back."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "skill_id": {"type": "string", "description": "Id of the skill."},
                "version": {
                    "type": ["string", "null"],
                    "description": "The version to run; the newest if left out.",
                },
                "params": {
                    "type": "object",
                    "description": "The parameters that the skill declares. Leave out what the user did not say.",
                },
            },
            "required": ["skill_id", "params"],
            "additionalProperties": false,
        }),
    }
}

#[derive(Debug)]
struct RunSkill {
    definition: ToolDefinition,
    host: Host,
    limits: Mutex<BTreeMap<String, Limits>>,
}

#[derive(Debug, Default)]
struct Limits {
    rate: Rate,
    breaker: Breaker,
}

/// A call as it was prepared; what runs is this and nothing else.
struct Prepared {
    skill: Arc<Skill>,
    params: Map<String, Value>,
    digest: String,
    now: String,
}

#[async_trait::async_trait]
impl DynTool for RunSkill {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn prepare(&self, context: &ToolContext, arguments: Value) -> Result<Value, ToolError> {
        let wanted = text(&arguments, "skill_id");
        let version = arguments.get("version").and_then(Value::as_str);
        let skill = find(context, wanted, version)?;
        let (declaration, entry) = declared(&skill)?;
        let digest = digest(&skill, &self.host.given.project)?;
        if let Some(refusal) = self.host.given.trust.refusal(&skill, &digest) {
            return Err(ToolError::new(ErrorKind::Denied, refusal));
        }
        let zone = Zone::named(&self.host.given.zone).ok_or_else(|| {
            let name = escape_line(&self.host.given.zone);
            ToolError::failed(format!(
                "the time zone `{name}` is not known on this machine"
            ))
        })?;
        let now = zone.write(self.host.given.clock.now_ms());
        let mut params = arguments
            .get("params")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let filled = complete(
            declaration,
            &mut params,
            &self.host.given,
            &now,
            &context.state,
        );
        check(&skill, declaration, &params, &zone)?;
        let confirm = declaration.policies.requires_approval;
        Ok(json!({
            "skill_id": skill.id.as_str(),
            "version": skill.version,
            "params": params,
            "filled": filled,
            "digest": digest,
            "now": now,
            "confirm": confirm,
            "secrets": declaration.policies.secrets,
            "entry": entry,
        }))
    }

    fn access(&self, arguments: &Value) -> Result<Vec<Access>, ToolError> {
        let id = text(arguments, "skill_id").to_owned();
        let mut access = vec![Access::Skill(id.clone())];
        if arguments.get("confirm") == Some(&Value::Bool(true)) {
            access.push(Access::Confirm(id));
        }
        let params = arguments.get("params").and_then(Value::as_object);
        if let (Some(entry), Some(params)) = (arguments.get("entry"), params) {
            access.extend(self.behind(entry, params).into_iter().map(Access::within));
        }
        Ok(access)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, ToolError> {
        let id = text(arguments, "skill_id");
        let version = arguments.get("version").and_then(Value::as_str);
        let at = version
            .map(|version| format!("@{version}"))
            .unwrap_or_default();
        let params = arguments
            .get("params")
            .map(canonical_json)
            .unwrap_or_default();
        let entry = arguments
            .get("entry")
            .map(canonical_json)
            .unwrap_or_default();
        let digest = text(arguments, "digest");
        Ok(Preview {
            action: Some(format!("run_skill {id}{at} {params}")),
            details: Some(format!("runs: {entry}\npackage: sha256 {digest}")),
            basis: Some(digest.to_owned()),
        })
    }

    fn recorded(&self, arguments: &Value) -> Value {
        let mut recorded = arguments.clone();
        if let Some(fields) = recorded.as_object_mut() {
            fields.remove("confirm");
            fields.remove("entry");
            fields.remove("secrets");
        }
        // Which secrets a skill has is known when it runs; every one that any may have is taken out.
        match &self.host.given.secrets {
            Some(source) => {
                let names = arguments.get("secrets").and_then(Value::as_array);
                let names = names.into_iter().flatten().filter_map(Value::as_str);
                let secrets =
                    names.filter_map(|name| Some((name.to_owned(), source.secret(name)?)));
                Redactor::new(&secrets.collect()).value(recorded)
            }
            None => recorded,
        }
    }

    fn deadline(&self) -> Option<Duration> {
        Some(DEADLINE)
    }

    fn wind_down(&self) -> Duration {
        Duration::from_secs(3)
    }

    async fn invoke(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let prepared = self.prepared(context, &arguments).await?;
        let (declaration, entry) = declared(&prepared.skill)?;
        let policies = &declaration.policies;
        let runner = runner(entry).ok_or_else(|| {
            ToolError::failed(format!(
                "`{}` has an entry that cannot run here",
                prepared.skill.id
            ))
        })?;
        let secrets = self.secrets(policies)?;
        let redactor = Redactor::new(&secrets);
        let job = SkillJob {
            folder: prepared.skill.package_path().to_owned(),
            skill: Arc::clone(&prepared.skill),
            digest: prepared.digest,
            params: prepared.params,
            call_id: context.call_id().to_owned(),
            user_id: self.host.given.user_id.clone(),
            now: prepared.now,
            zone: self.host.given.zone.clone(),
            facts: state::facts(&context.state),
            secrets,
            cancel: context.cancel.clone(),
        };
        self.take_rate(&job.skill, policies)?;
        let result = self.attempts(&job, policies, &*runner).await;
        match result {
            Ok(result) => Ok(output(result, &redactor)),
            Err(failure) => Err(failed(&job.skill, policies, failure, &redactor)),
        }
    }
}

impl RunSkill {
    /// Finds what was prepared again, and refuses it if it is not the same any more.
    async fn prepared(
        &self,
        context: &ToolContext,
        arguments: &Value,
    ) -> Result<Prepared, ToolError> {
        let version = arguments.get("version").and_then(Value::as_str);
        let skill = find(context, text(arguments, "skill_id"), version)?;
        let package = Arc::clone(&skill);
        let project = self.host.given.project.clone();
        let digest = blocking(move || digest(&package, &project)).await?;
        if digest != text(arguments, "digest") {
            let text = format!(
                "skill `{}` changed after this call was decided on, so it did not run; call run_skill again",
                skill.id
            );
            return Err(ToolError::new(ErrorKind::Denied, text));
        }
        Ok(Prepared {
            params: arguments
                .get("params")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
            now: text(arguments, "now").to_owned(),
            digest,
            skill,
        })
    }

    /// Returns what an entry does in its turn: rules that forbid it hold here too.
    fn behind(&self, entry: &Value, params: &Map<String, Value>) -> Vec<Access> {
        let words = |argv: &Value| -> Vec<String> {
            let words = argv.as_array().into_iter().flatten();
            words.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        if let Some(argv) = entry.pointer("/command/argv") {
            return vec![Access::Run(words(argv))];
        }
        if let Some(request) = entry.get("http") {
            let url = http::url(text(request, "url"), params);
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
            return vec![Access::Http {
                method: text(request, "method").to_owned(),
                host: host.to_lowercase(),
                path: format!("/{}", path.trim_start_matches('/')),
            }];
        }
        let name = entry.pointer("/tool/name").and_then(Value::as_str);
        let tool = name.and_then(|name| tool::named(&self.host, name));
        tool.and_then(|tool| tool.access(&Value::Object(params.clone())).ok())
            .unwrap_or_default()
    }

    /// Returns the secrets that a skill declares; one that is not set is an error by its name.
    fn secrets(&self, policies: &Policies) -> Result<BTreeMap<String, String>, ToolError> {
        let source = self.host.given.secrets.as_ref();
        let mut secrets = BTreeMap::new();
        for name in &policies.secrets {
            let value = source
                .and_then(|source| source.secret(name))
                .ok_or_else(|| {
                    let shown = escape_line(name);
                    ToolError::failed(format!("the secret `{shown}` that it needs is not set"))
                })?;
            secrets.insert(name.clone(), value);
        }
        Ok(secrets)
    }

    fn take_rate(&self, skill: &Skill, policies: &Policies) -> Result<(), ToolError> {
        let Some(limit) = policies.rate_limit else {
            return Ok(());
        };
        let now = self.host.given.clock.monotonic_ms();
        self.with(skill, |limits| limits.rate.take(limit, now))
            .map_err(|wait| {
                let text = format!(
                    "`{}` may run {} times in {:?}; the next run is free in {}",
                    skill.name,
                    limit.count,
                    limit.per,
                    seconds(wait)
                );
                ToolError::new(ErrorKind::RateLimited, text)
            })
    }

    /// Makes attempts as long as the policies want another one.
    async fn attempts(
        &self,
        job: &SkillJob,
        policies: &Policies,
        runner: &dyn Runner,
    ) -> Result<SkillResult, SkillFailure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let result = self.attempt(job, policies, runner).await;
            let Err(failure) = result else {
                return result;
            };
            let wait = policies
                .retry
                .as_ref()
                .and_then(|retry| pause(retry, attempt, &failure.kind));
            match wait {
                Some(wait) if !job.cancel.is_cancelled() => tokio::select! {
                    () = job.cancel.cancelled() => return Err(failure),
                    () = tokio::time::sleep(wait) => {}
                },
                _ => return Err(failure),
            }
        }
    }

    /// Makes one attempt, inside its time and if the breaker lets it.
    async fn attempt(
        &self,
        job: &SkillJob,
        policies: &Policies,
        runner: &dyn Runner,
    ) -> Result<SkillResult, SkillFailure> {
        let clock = &self.host.given.clock;
        if policies.circuit.is_some() {
            let now = clock.monotonic_ms();
            self.with(&job.skill, |limits| limits.breaker.admit(now))
                .map_err(|wait| SkillFailure::new(OPEN, seconds(wait)))?;
        }
        let running = tokio::time::timeout(policies.timeout, runner.run(&self.host, job));
        let result = tokio::select! {
            biased;
            () = job.cancel.cancelled() => {
                self.with(&job.skill, |limits| limits.breaker.forget());
                return Err(SkillFailure::new("cancelled", "it was cancelled"));
            }
            result = running => result.unwrap_or_else(|_| {
                Err(SkillFailure::new(TIMEOUT, format!("{:?}", policies.timeout)))
            }),
        };
        if let Some(circuit) = policies.circuit {
            let failed = result.as_ref().is_err_and(SkillFailure::is_fault);
            let now = clock.monotonic_ms();
            self.with(&job.skill, |limits| {
                limits.breaker.note(circuit, failed, now)
            });
        }
        result
    }

    fn with<T>(&self, skill: &Skill, act: impl FnOnce(&mut Limits) -> T) -> T {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let version = skill.version.as_deref().unwrap_or_default();
        act(limits.entry(format!("{}@{version}", skill.id)).or_default())
    }
}

/// The kind of a run that the breaker did not let happen.
const OPEN: &str = "circuit_open";

fn text<'v>(arguments: &'v Value, field: &str) -> &'v str {
    arguments
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn find(
    context: &ToolContext,
    wanted: &str,
    version: Option<&str>,
) -> Result<Arc<Skill>, ToolError> {
    let found = context
        .view
        .find(Some(wanted), None)
        .map(|viewed| &viewed.skill);
    match (found, version) {
        (Some(skill), None) => Ok(Arc::clone(skill)),
        (Some(skill), Some(version)) if skill.version.as_deref() == Some(version) => {
            Ok(Arc::clone(skill))
        }
        (_, Some(version)) => Err(skill_not_found(
            &context.view,
            &format!("{wanted}@{version}"),
        )),
        (None, None) => Err(skill_not_found(&context.view, wanted)),
    }
}

fn declared(skill: &Skill) -> Result<(&Declaration, &EntryPoint), ToolError> {
    let declaration = skill.declaration.as_deref();
    declaration
        .and_then(|declaration| Some((declaration, declaration.entry.as_ref()?)))
        .ok_or_else(|| {
            let text = format!(
                "skill `{}` has nothing to run; open it with open_skill",
                skill.id
            );
            ToolError::new(ErrorKind::InvalidArguments, text)
        })
}

fn digest(skill: &Skill, project: &Path) -> Result<String, ToolError> {
    let tree = PackageTree::of_skill(skill, project).map_err(|error| {
        ToolError::failed(format!("the files of skill `{}` cannot be read", skill.id))
            .with_source(error)
    })?;
    Ok(tree.digest)
}

fn check(
    skill: &Skill,
    declaration: &Declaration,
    params: &Map<String, Value>,
    zone: &Zone,
) -> Result<(), ToolError> {
    let problems = problems(declaration, params, zone).map_err(|broken| {
        ToolError::failed(format!(
            "`{}` cannot be called: its parameters are declared wrongly",
            skill.id
        ))
        .with_detail(broken)
    })?;
    if problems.is_empty() {
        return Ok(());
    }
    let text = format!(
        "the parameters of `{}` are not valid:\n- {}\nsend the whole call again with all of this mended",
        skill.id,
        problems.join("\n- ")
    );
    Err(ToolError::new(ErrorKind::InvalidArguments, text))
}

fn output(result: SkillResult, redactor: &Redactor) -> ToolOutput {
    let mut delta = StateDelta::default();
    for (key, value) in result.facts {
        // An empty value is how a fact is taken back.
        delta.set(state::fact_key(&key), value.unwrap_or_default());
    }
    let value = redactor.value(result.value);
    ToolOutput {
        state: delta,
        ..ToolOutput::text(json!({"ok": true, "value": value}).to_string())
    }
}

/// Says what failed in words that the model can give on to the user.
fn failed(
    skill: &Skill,
    policies: &Policies,
    failure: SkillFailure,
    redactor: &Redactor,
) -> ToolError {
    let name = escape_line(&skill.name);
    let message = redactor.text(&failure.message);
    let (kind, text) = match failure.kind.as_str() {
        TIMEOUT => (
            ErrorKind::TimedOut,
            format!(
                "`{name}` is temporarily unavailable: it did not finish within {:?} and was stopped; tell the user that it cannot be done just now",
                policies.timeout
            ),
        ),
        OPEN => (
            ErrorKind::CircuitOpen,
            format!(
                "`{name}` is temporarily unavailable: it failed several times in a row and is tried again in {message}; tell the user that it cannot be done just now"
            ),
        ),
        SkillFailure::TRANSIENT => (
            ErrorKind::Unavailable,
            format!("`{name}` is temporarily unavailable: {message}"),
        ),
        _ => (ErrorKind::Tool, format!("`{name}` failed: {message}")),
    };
    let detail = failure.detail.map(|detail| redactor.text(&detail));
    ToolError {
        detail,
        ..ToolError::new(kind, text)
    }
}

fn seconds(wait: Duration) -> String {
    format!("{} s", wait.as_secs_f64().ceil())
}
