//! The skills there are: folders, the registry, what is built in, and who keeps some of them back.

use std::path::PathBuf;
use std::sync::Arc;

use loop_runtime::SqliteAudit;
use skill_core::{
    AuditError, AuditRecord, AuditSink, BuiltinSource, Registered, Registry, ScanLimits, Scope,
    SkillCatalog, SkillGuard, SkillSource, directory_sources,
};
use tool_gateway::{DynTool, create_skill};

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
