//! Wires an agent: configuration, skills, model, gateway, journal.

mod assistant;
mod executing;
mod files;
mod guard;
mod limits;
mod model;
mod project;
mod skills;
mod sources;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loop_runtime::{
    Agent, Compaction, MemoryStore, Profile, SessionStore, SqliteStore, StoreErrorKind, Summariser,
};
use prompt_compiler::{Pipeline, VocabularyCounter};
use skill_core::{ModelId, Provider, SkillCatalog, Verdict};
use tool_gateway::{
    Approver, FolderSpill, Gateway, HeadlessApprover, Launch, Mode, Policy, Rule, Sandbox, Source,
    ToolContext, Trash, Workspace,
};

use tokio_util::sync::CancellationToken;

use crate::app::Context;
use crate::approver::TerminalApprover;
use crate::config::{Config, Loaded, Origin, Override, Places};
use crate::error::CliError;
use crate::render::terminal::counted;
use crate::system::{SystemClock, UuidSource};

/// The variable that names a model like `--model` does.
pub(crate) const MODEL_VARIABLE: &str = "TEKNE_MODEL";

pub(crate) use assistant::Assistant;
pub(crate) use files::{files_of, worked_on};
pub(crate) use model::{ChosenModel, budget, choose, named};
pub(crate) use project::{Project, is_pinned};
pub(crate) use skills::{audit, catalog, project_skills, registered, registry, user_skills};
pub(crate) use trace::traces;

/// What a command wants of its agent, beyond the global options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Further skills, from `--skill`.
    pub(crate) skills: Vec<PathBuf>,
    /// Allow rules of this run, from `--yes`.
    pub(crate) rules: Vec<String>,
    /// The step limit, from `--max-steps`.
    pub(crate) max_steps: Option<u32>,
    /// The most tokens a turn may cost, from `--budget-tokens`.
    pub(crate) budget_tokens: Option<u64>,
    /// The most US dollars a turn may cost, from `--budget-usd`.
    pub(crate) budget_usd: Option<f64>,
    /// The profile, where the command decides it.
    pub(crate) profile: Option<Profile>,
    /// Whether a journal is kept.
    pub(crate) journal: bool,
    /// Whether counts must be exact.
    pub(crate) exact: bool,
}

/// Loads the configuration, with flags and environment on top of the files.
pub(crate) fn configuration(context: &Context) -> Result<Loaded, CliError> {
    configuration_for(context, &Wanted::default())
}

/// Loads the configuration for a run that has options of its own.
pub(crate) fn configuration_for(context: &Context, wanted: &Wanted) -> Result<Loaded, CliError> {
    let environment = &context.environment;
    let project = Project::of(environment);
    if let Some(problem) = project
        .as_ref()
        .and_then(|project| project.problem.as_ref())
    {
        let message = format!("{problem}; nothing of this project is trusted");
        context.output.notice(&message);
    }
    let file = project
        .as_ref()
        .map(|project| project_file(context, &project.root));
    let trusted = project
        .zip(file.as_ref())
        .and_then(|(project, file)| project.trusted_config(file));
    let places = Places {
        managed: Some(PathBuf::from("/etc/tekne/config.yaml")),
        user: Some(environment.config_dir.join("config.yaml")),
        project: file,
        trusted,
        file: context
            .options
            .config
            .as_ref()
            .map(|path| environment.cwd.join(path)),
        home: Some(environment.home.clone()),
    };
    Ok(crate::config::load(&places, &overrides(context, wanted))?)
}

fn overrides(context: &Context, wanted: &Wanted) -> Vec<Override> {
    let flag = |key, value, name| Override {
        key,
        value,
        origin: Origin::Flag(name),
    };
    let mut overrides = Vec::new();
    if let Some(model) = context.environment.variable(MODEL_VARIABLE) {
        let origin = Origin::Environment(MODEL_VARIABLE);
        overrides.push(Override {
            key: "model",
            value: model.into(),
            origin,
        });
    }
    if let Some(model) = &context.options.model {
        overrides.push(flag("model", model.as_str().into(), "--model"));
    }
    if let Some(steps) = wanted.max_steps {
        overrides.push(flag("limits.max_steps", steps.into(), "--max-steps"));
    }
    if let Some(tokens) = wanted.budget_tokens {
        overrides.push(flag("limits.tokens", tokens.into(), "--budget-tokens"));
    }
    if let Some(usd) = wanted.budget_usd {
        overrides.push(flag("limits.usd", usd.into(), "--budget-usd"));
    }
    overrides
}

/// Returns the project's file: the nearest from the working folder up to the project's root.
fn project_file(context: &Context, root: &Path) -> PathBuf {
    let file = |folder: &Path| folder.join(".tekne/config.yaml");
    let folders = context
        .environment
        .cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    let nearest = folders.map(file).find(|path| path.exists());
    nearest.unwrap_or_else(|| file(root))
}

/// Wires an agent.
pub(crate) async fn agent(
    context: &Context,
    loaded: &Loaded,
    wanted: &Wanted,
) -> Result<Agent, CliError> {
    let config = &loaded.config;
    let assistant = Assistant::new(context, config)?;
    let chosen = choose(context, config, &assistant).await?;
    if let Some(reason) = &chosen.reason {
        context.output.notice(reason);
    }
    let profile = profile(config, &assistant, wanted);
    if profile == Profile::COMPLETE && chosen.is_offline() {
        return Err(
            CliError::usage("`offline` is no language model: it cannot complete text")
                .with_code("no_model")
                .with_hint("name one with --model PROVIDER/MODEL"),
        );
    }
    let provider = chosen.connect()?;
    let model = Some((Arc::clone(&provider), chosen.model.clone()));
    let gateway = gateway(context, config, &assistant, wanted, profile, model)?;
    let gateway = Arc::new(gateway);
    let catalog = catalog(context, config, &wanted.skills);
    tell_what_waits(context, &catalog);
    check_named_skills(context, &catalog, &wanted.skills)?;
    Ok(Agent {
        provider,
        counter: Arc::new(VocabularyCounter::for_model(&chosen.model)),
        gateway: Arc::clone(&gateway),
        catalog: Arc::new(catalog),
        principal: assistant.principal(config),
        preset: assistant.preset.clone(),
        pipeline: Pipeline::standard(),
        profile,
        limits: limits::limits(config, &assistant, &chosen)?,
        only_tools: None,
        assistants: assistant::others(config, &assistant),
        sources: sources::sources(context, config, &gateway, profile)?,
        compaction: compaction(context, config)?,
        router: None,
        instructions: assistant.instructions.clone(),
        session_context: Vec::new(),
        budget: chosen.budget(config, !wanted.exact),
        model: chosen.model,
        store: store(context, wanted.journal)?,
        clock: Arc::new(SystemClock::new()),
        ids: Arc::new(UuidSource),
        workspace: context.environment.cwd.display().to_string(),
    })
}

/// Returns how long conversations are summed up, and by which model.
fn compaction(context: &Context, config: &Config) -> Result<Compaction, CliError> {
    let chosen = model::summariser(context, config)?;
    let summariser = chosen.map(|chosen| {
        Ok::<_, CliError>(Summariser {
            provider: chosen.connect()?,
            model: chosen.model,
        })
    });
    Ok(Compaction {
        summariser: summariser.transpose()?,
        ..Compaction::default()
    })
}

/// Wires the tools alone, for a call from the command line.
pub(crate) fn tools(
    context: &Context,
    loaded: &Loaded,
    wanted: &Wanted,
) -> Result<(Gateway, ToolContext), CliError> {
    let config = &loaded.config;
    let assistant = Assistant::new(context, config)?;
    let catalog = catalog(context, config, &wanted.skills);
    let view = catalog.view(&assistant.principal(config));
    let profile = Profile::AGENT;
    let gateway = gateway(context, config, &assistant, wanted, profile, None)?;
    let cancel = CancellationToken::new();
    let mut calls = ToolContext::new(assistant.name.clone(), view, cancel);
    calls.query = Some("(from the command line)".to_owned());
    Ok((gateway, calls))
}

/// Says what of the configuration has no effect, and what to do about it.
pub(crate) fn tell_notices(context: &Context, loaded: &Loaded) {
    for notice in &loaded.notices {
        context.output.notice(&format!("{notice}; {}", notice.hint));
    }
}

/// Says that skills of the project are absent until they are trusted.
fn tell_what_waits(context: &Context, catalog: &SkillCatalog) {
    let waiting = catalog.snapshot().waiting();
    if waiting > 0 {
        let skills = counted(waiting, "skill");
        let message = format!("{skills} of this project left out until trusted; see `tekne trust`");
        context.output.notice(&message);
    }
}

/// A path that somebody named must hold a skill; one that does not is a mistake, not a default.
fn check_named_skills(
    context: &Context,
    catalog: &SkillCatalog,
    paths: &[PathBuf],
) -> Result<(), CliError> {
    let snapshot = catalog.snapshot();
    for path in paths {
        let path = context.environment.cwd.join(path);
        let mut below = snapshot
            .reports()
            .iter()
            .filter(|report| report.path.starts_with(&path));
        if below.any(|report| report.verdict != Verdict::Refused) {
            continue;
        }
        if let Err(error) = path.metadata() {
            let message = format!("--skill: cannot read {}", path.display());
            return Err(CliError::usage(message)
                .with_path(path)
                .with_hint("name a skill's folder or a folder of skills")
                .with_source(error));
        }
        let check = format!("`tekne skills check {}` says why", path.display());
        return Err(CliError::usage("--skill: there is no usable skill here")
            .with_path(path)
            .with_hint(check));
    }
    Ok(())
}

fn profile(config: &Config, assistant: &Assistant, wanted: &Wanted) -> Profile {
    let mut profile = wanted.profile.unwrap_or(assistant.profile);
    if profile.enable_tools {
        let limit = config.limits.max_steps.map(std::num::NonZeroU32::get);
        profile.max_steps = limit.unwrap_or(profile.max_steps);
    }
    profile
}

fn gateway(
    context: &Context,
    config: &Config,
    assistant: &Assistant,
    wanted: &Wanted,
    profile: Profile,
    model: Option<(Arc<dyn Provider>, ModelId)>,
) -> Result<Gateway, CliError> {
    let interactive = context.environment.is_interactive(context.output.is_json());
    let approver: Arc<dyn Approver> = if interactive {
        Arc::new(TerminalApprover)
    } else {
        Arc::new(HeadlessApprover)
    };
    let policy = policy(config, wanted, interactive)?;
    let mut builder = Gateway::builder().approver(approver);
    if profile.enable_tools {
        let workspace = Workspace::open(&context.environment.cwd).map_err(|error| {
            CliError::usage(error.to_string())
                .with_code("workspace")
                .with_path(&context.environment.cwd)
        })?;
        let steering = guard::steering_paths(context, config, wanted);
        let mut tools = tool_gateway::file_tools(&workspace);
        tools.push(tool_gateway::delete(&workspace, trash(context)));
        tools.push(tool_gateway::run_command(&workspace, launch(context)));
        let run_skill = executing::run_skill_tool(context, &workspace, model, tools.clone());
        builder = builder
            .policy(policy.protect_in(&workspace, steering))
            .tools(skills::skill_tools(&assistant.preset))
            .tools(tools)
            .tool(run_skill)
            .trace(trace::TraceFile::new(context))
            .spill(Arc::new(FolderSpill::new(
                context.environment.data_dir.join("spill"),
            )))
            .tools(loop_runtime::memory_tools())
            .tool(loop_runtime::delegate_tool())
            .tool(skills::create_skill_tool(context));
        if let Some(allowed) = assistant.tools(config) {
            builder = builder.allow_only(skills::spelled(allowed, &assistant.preset));
        }
    }
    builder.build().map_err(|error| {
        CliError::usage(error.to_string()).with_hint("mend the list of tools in the configuration")
    })
}

/// Returns how programs are started: with what they may know, held where the kernel can.
pub(crate) fn launch(context: &Context) -> Launch {
    let environment = &context.environment;
    Launch {
        search_path: environment.search_path(),
        environment: environment.for_programs(),
        sandbox: Sandbox {
            writable: vec![environment.temporary()],
            ..Sandbox::default()
        },
    }
}

/// Returns the user's trash, the one that the desktop knows.
fn trash(context: &Context) -> Trash {
    let data = context.environment.data_dir.parent();
    let folder = data.unwrap_or(&context.environment.data_dir).join("Trash");
    Trash::new(folder, Arc::new(SystemClock::new()))
}

fn policy(config: &Config, wanted: &Wanted, interactive: bool) -> Result<Policy, CliError> {
    let mut rules = Vec::new();
    // Which file a rule stands in was judged when the layers were merged.
    rules.extend(
        config
            .tools
            .policy
            .iter()
            .map(|rule| (Source::User, rule.rule().clone())),
    );
    for text in &wanted.rules {
        let rule = Rule::granted(text).map_err(|error| {
            CliError::usage(format!("--yes: {error}"))
                .with_hint("a rule looks like `write(notes/**)`")
        })?;
        rules.push((Source::Flag, rule));
    }
    let mode = if interactive {
        Mode::Interactive
    } else {
        Mode::Headless
    };
    Ok(Policy::merge(mode, rules).0)
}

/// Opens the journal; without one nothing is kept.
pub(crate) fn store(context: &Context, journal: bool) -> Result<Arc<dyn SessionStore>, CliError> {
    if !journal {
        return Ok(Arc::new(MemoryStore::new()));
    }
    Ok(Arc::new(self::journal(context)?))
}

/// Returns the data folder, made if it was not there.
pub(crate) fn data_folder(context: &Context) -> Result<&Path, CliError> {
    let folder = context.environment.data_dir.as_path();
    std::fs::create_dir_all(folder).map_err(|error| {
        no_data(format!("cannot make the data folder {}", folder.display())).with_source(error)
    })?;
    Ok(folder)
}

/// Returns the error for a data folder that cannot be used.
pub(crate) fn no_data(message: String) -> CliError {
    CliError::usage(message)
        .with_code("data_directory")
        .with_hint("make the folder writable, or set XDG_DATA_HOME to one that is")
}

/// Opens the journal, making it if it is not there.
pub(crate) fn journal(context: &Context) -> Result<SqliteStore, CliError> {
    data_folder(context)?;
    SqliteStore::open(&context.environment.journal()).map_err(|error| {
        let failure = no_data(error.to_string());
        match error.kind {
            StoreErrorKind::Newer => {
                failure.with_hint("use the newer version, or set XDG_DATA_HOME to another folder")
            }
            StoreErrorKind::Corrupt => {
                failure.with_hint("move the file away; a new one is made at the next run")
            }
            _ => failure,
        }
    })
}
