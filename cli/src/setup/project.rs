//! The project around the working folder, and what of it the user trusts.

use std::path::{Path, PathBuf};

use skill_core::{ProjectGuard, ProjectTrust, TrustKind, TrustStore, project_root};

use crate::config::{Config, SkillTrust};
use crate::environment::Environment;
use crate::roots;

/// A project and the trust in it.
#[derive(Debug)]
pub(crate) struct Project {
    /// Its top folder.
    pub(crate) root: PathBuf,
    /// Where trust is kept.
    pub(crate) store: TrustStore,
    /// What is trusted.
    pub(crate) trust: ProjectTrust,
    /// Why nothing is, where trust cannot be read.
    pub(crate) problem: Option<String>,
}

impl Project {
    /// Returns the project that the working folder lies in, if it lies in one.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        let root = project_root(&roots::places(environment))?;
        let store = TrustStore::new(environment.data_dir.join("trust.json"));
        let (trust, problem) = match store.project(&root) {
            Ok(trust) => (trust, None),
            Err(error) => (ProjectTrust::default(), Some(error.to_string())),
        };
        Some(Self {
            root,
            store,
            trust,
            problem,
        })
    }

    /// Returns the path below the top folder, with `/` between its parts.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Returns the digest that the file of settings at `path` is trusted with.
    pub(crate) fn trusted_config(&self, path: &Path) -> Option<String> {
        let trusted = self.trust.get(TrustKind::Config, &self.relative(path)?)?;
        Some(trusted.digest.clone())
    }

    /// Returns the links that may leave the project, each with where it may lead.
    pub(crate) fn trusted_links(&self) -> Vec<(PathBuf, PathBuf)> {
        let links = self.trust.items().iter();
        links
            .filter(|item| item.kind == TrustKind::Link)
            .filter_map(|item| Some((self.root.join(&item.path), item.target.as_ref()?.into())))
            .collect()
    }

    /// Returns what keeps skills back that wait for trust.
    pub(crate) fn guard(&self, config: &Config) -> ProjectGuard {
        ProjectGuard::new(&self.root, self.store.clone(), is_pinned(config))
    }
}

/// Tells whether all skill text of a project needs trust.
pub(crate) fn is_pinned(config: &Config) -> bool {
    config.trust.skills == Some(SkillTrust::Pinned)
}
