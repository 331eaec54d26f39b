//! Where skills are looked for: flags, the usual places, and what the configuration adds.

use std::path::PathBuf;

use skill_core::{Places, Root, Scope, standard_roots};

use crate::config::{Config, PreferredScope, RootScope};
use crate::environment::Environment;

/// Returns every root that may hold skills, highest precedence first.
pub(crate) fn roots(environment: &Environment, config: &Config, flags: &[PathBuf]) -> Vec<Root> {
    let mut roots: Vec<Root> = flags
        .iter()
        .map(|path| Root::new(environment.cwd.join(path), Scope::Flag))
        .collect();
    roots.extend(standard_roots(&Places {
        user_first: config.skills.prefer == Some(PreferredScope::User),
        ..places(environment)
    }));
    // The configuration has made its paths absolute while it knew which file named them.
    roots.extend(config.skills.roots.iter().map(|root| Root {
        lite: root.lite,
        ..Root::new(root.path.as_str(), scope(root.scope))
    }));
    roots.push(Root::new("/etc/tekne/skills", Scope::Managed));
    roots
}

/// Returns what decides the usual places.
pub(crate) fn places(environment: &Environment) -> Places {
    Places {
        cwd: environment.cwd.clone(),
        home: Some(environment.home.clone()),
        config: Some(environment.config_dir.clone()),
        ..Places::default()
    }
}

fn scope(scope: Option<RootScope>) -> Scope {
    match scope {
        None | Some(RootScope::Config) => Scope::Config,
        Some(RootScope::Project) => Scope::Project,
        Some(RootScope::User) => Scope::User,
        Some(RootScope::Managed) => Scope::Managed,
    }
}
