//! The skills there are: folders, the registry, what is built in, and who keeps some of them back.

use std::path::PathBuf;
use std::sync::Arc;

use loop_runtime::SqliteAudit;
use skill_core::{
    AuditError, AuditRecord, AuditSink, BuiltinSource, Registry, ScanLimits, Scope, SkillCatalog,
    SkillGuard, SkillSource, directory_sources,
};
use tool_gateway::{DynTool, create_skill};

use crate::app::Context;
use crate::config::Config;
use crate::error::CliError;
use crate::roots;
use crate::setup::Project;
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

/// Opens the audit file.
pub(crate) fn audit(context: &Context) -> Result<Arc<SqliteAudit>, CliError> {
    let folder = &context.environment.data_dir;
    let unwritable = |error: anyhow::Error| {
        CliError::usage(format!(
            "cannot write to the data folder {}",
            folder.display()
        ))
        .with_code("data_directory")
        .with_hint("make the folder writable, or set XDG_DATA_HOME to one that is")
        .with_source(error)
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(error.into()))?;
    let audit = SqliteAudit::open(&folder.join("audit.db"));
    Ok(Arc::new(audit.map_err(|error| unwritable(error.into()))?))
}

/// Returns the tool that writes skills: into the project's folder if it has one, else the user's.
pub(crate) fn create_skill_tool(context: &Context) -> Arc<dyn DynTool> {
    let (folder, shown) = match project_skills(context) {
        Some(folder) => (folder, ".tekne/skills"),
        None => (
            context.environment.config_dir.join("skills"),
            "the user's skills",
        ),
    };
    create_skill(folder, shown)
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
