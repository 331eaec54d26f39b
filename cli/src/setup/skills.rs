//! The skills there are: folders, the registry, what is built in, and who keeps some of them back.

use std::path::PathBuf;
use std::sync::Arc;

use loop_runtime::SqliteAudit;
use prompt_compiler::Preset;
use skill_core::{
    AuditError, AuditRecord, AuditSink, BuiltinSource, Registered, Registry, ScanLimits, Scope,
    SkillCatalog, SkillGuard, SkillSource, directory_sources,
};
use tool_gateway::{DynTool, OpenSpelling, create_skill};

use crate::app::Context;
use crate::config::Config;
use crate::error::CliError;
use crate::roots;
use crate::setup::{Project, data_folder, no_data};
use crate::system::SystemClock;

/// Reads the skills of every root.
pub(crate) fn catalog(context: &Context, config: &Config, flags: &[PathBuf]) -> SkillCatalog {
    let project = Project::of(&context.environment);
    let links = project.as_ref().map(Project::trusted_links);
    let mut roots = roots::roots(&context.environment, config, flags);
    for root in roots.iter_mut().filter(|root| root.scope == Scope::Project) {
        root.trusted_links = links.clone().unwrap_or_default();
        let within = |project: &&Project| root.path.starts_with(&project.root);
        let bound = project
            .as_ref()
            .filter(within)
            .map_or(&root.path, |project| &project.root);
        root.boundary.get_or_insert(bound.clone());
    }
    let mut sources = directory_sources(&roots);
    if registry_folder(context).is_dir() {
        let registry: Arc<dyn SkillSource> = Arc::new(registry_with(context, Arc::new(ReadOnly)));
        sources.push(registry);
    }
    sources.push(Arc::new(BuiltinSource::default()));
    let guard = project.map(|project| Arc::new(project.guard(config)) as Arc<dyn SkillGuard>);
    SkillCatalog::guarded(sources, ScanLimits::default(), guard)
}

/// Returns the registry, ready for changes.
pub(crate) fn registry(context: &Context) -> Result<Registry, CliError> {
    Ok(registry_with(context, audit(context)?))
}

/// Returns everything that is registered, what is switched off included.
pub(crate) fn registered(context: &Context) -> Vec<Arc<Registered>> {
    registry_with(context, Arc::new(ReadOnly)).list()
}

/// Opens the audit file.
pub(crate) fn audit(context: &Context) -> Result<Arc<SqliteAudit>, CliError> {
    let path = data_folder(context)?.join("audit.db");
    let audit = SqliteAudit::open(&path).map_err(|error| {
        no_data(format!("cannot write to {}", path.display())).with_source(error)
    })?;
    Ok(Arc::new(audit))
}

/// Returns the tools of the skill system in the spelling of a preset.
pub(crate) fn skill_tools(preset: &Preset) -> Vec<Arc<dyn DynTool>> {
    let names = &preset.tools;
    let open = match &names.spelling {
        None => tool_gateway::open_skill(),
        Some(spelling) => tool_gateway::open_skill_as(OpenSpelling {
            tool: names.open.clone(),
            argument: spelling.argument.clone(),
            not_found: spelling.not_found.clone(),
            docs: names.select_docs.is_some(),
        }),
    };
    let list_docs = names.list_docs.as_ref().map(tool_gateway::list_skill_docs);
    let select_docs = names
        .select_docs
        .as_ref()
        .map(tool_gateway::select_skill_docs);
    [
        Some(open),
        Some(tool_gateway::list_skills()),
        list_docs,
        select_docs,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a list of tools with the one that opens skills in the spelling of a preset.
pub(crate) fn spelled(allowed: Vec<String>, preset: &Preset) -> Vec<String> {
    let spelled = |tool: String| match tool.as_str() {
        "open_skill" => preset.tools.open.clone(),
        _ => tool,
    };
    allowed.into_iter().map(spelled).collect()
}

/// Returns the tool that writes skills: into the project's folder if it has one, else the user's.
pub(crate) fn create_skill_tool(context: &Context) -> Arc<dyn DynTool> {
    let (folder, shown) = match project_skills(context) {
        Some(folder) => (folder, ".tekne/skills"),
        None => (user_skills(context), "the user's skills"),
    };
    create_skill(folder, shown)
}

/// Returns the user's own folder of skills.
pub(crate) fn user_skills(context: &Context) -> PathBuf {
    context.environment.config_dir.join("skills")
}

/// Returns the project's nearest folder of skills, if there is one that lies within the project.
pub(crate) fn project_skills(context: &Context) -> Option<PathBuf> {
    let project = Project::of(&context.environment)?;
    let top = project.root.canonicalize().ok()?;
    let folders = context.environment.cwd.ancestors();
    folders
        .take_while(|folder| folder.starts_with(&project.root))
        .map(|folder| folder.join(".tekne/skills"))
        .filter(|folder| folder.is_dir())
        .find(|folder| {
            folder
                .canonicalize()
                .is_ok_and(|real| real.starts_with(&top))
        })
}

fn registry_folder(context: &Context) -> PathBuf {
    context.environment.data_dir.join("registry")
}

fn registry_with(context: &Context, audit: Arc<dyn AuditSink>) -> Registry {
    let clock = Arc::new(SystemClock::new());
    Registry::open(
        registry_folder(context),
        ScanLimits::default(),
        audit,
        clock,
    )
}

/// The audit sink of a registry that is only read: with it, no change is possible.
#[derive(Debug)]
struct ReadOnly;

impl AuditSink for ReadOnly {
    fn record(&self, _record: &AuditRecord) -> Result<(), AuditError> {
        Err(AuditError {
            problem: "the registry is open for reading".to_owned(),
            source: None,
        })
    }
}
