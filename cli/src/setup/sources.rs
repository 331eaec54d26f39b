//! Where context of a turn comes from: files of the workspace, as the policy lets them be read.

use std::sync::Arc;

use loop_runtime::{
    ContextReader, ContextSource, CurrentFile, Mentions, Notes, Profile, ProjectInstructions,
};
use tool_gateway::{Gateway, Workspace};

use crate::app::Context;
use crate::config::Config;
use crate::error::CliError;

/// Returns the sources of a profile, in the order in which their fragments stand.
pub(super) fn sources(
    context: &Context,
    config: &Config,
    gateway: &Gateway,
    profile: Profile,
) -> Result<Vec<Arc<dyn ContextSource>>, CliError> {
    // A completion is about the text at its cursor and nothing else.
    if !profile.shows_skills {
        return Ok(Vec::new());
    }
    let workspace = Workspace::open(&context.environment.cwd).map_err(|error| {
        CliError::usage(error.to_string())
            .with_code("workspace")
            .with_path(&context.environment.cwd)
    })?;
    let reader = ContextReader::new(workspace, gateway.policy().clone());
    let mut sources: Vec<Arc<dyn ContextSource>> = vec![
        Arc::new(ProjectInstructions::new(reader.clone())),
        Arc::new(CurrentFile::new(reader.clone())),
        Arc::new(Mentions::new(reader.clone())),
    ];
    if config.context.recall {
        sources.push(Arc::new(Notes::new(reader)));
    }
    Ok(sources)
}
