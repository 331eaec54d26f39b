//! What of this program no broad rule opens: configuration, data, skills, wherever they lie.

use std::path::PathBuf;

use crate::app::Context;
use crate::config::Config;
use crate::roots;
use crate::setup::Wanted;

/// Programs that run what their folder in the user's configuration says.
const NEIGHBOURS: [&str; 6] = [
    "autostart",
    "direnv",
    "environment.d",
    "fish",
    "git",
    "systemd",
];

/// Returns the paths that steer this program and the user's shells.
///
/// Most are protected by their usual names already; these are where they really are.
pub(super) fn steering_paths(context: &Context, config: &Config, wanted: &Wanted) -> Vec<PathBuf> {
    let environment = &context.environment;
    let mut paths = vec![
        environment.config_dir.clone(),
        environment.data_dir.clone(),
        PathBuf::from("/etc/tekne"),
    ];
    if let Some(folder) = environment.config_dir.parent() {
        paths.extend(NEIGHBOURS.iter().map(|name| folder.join(name)));
    }
    if let Some(file) = &context.options.config {
        paths.push(environment.cwd.join(file));
    }
    let roots = roots::roots(environment, config, &wanted.skills);
    paths.extend(roots.into_iter().map(|root| root.path));
    paths
}
