//! The tools that come with the gateway, one a file.

mod list_skills;
mod open_skill;
mod read_output;
mod skill_docs;
mod skill_text;
mod spelled_open;

#[cfg(feature = "files")]
mod change;
#[cfg(feature = "files")]
mod create_skill;
#[cfg(feature = "files")]
mod delete;
#[cfg(feature = "files")]
mod edit_file;
#[cfg(feature = "files")]
mod list_dir;
#[cfg(feature = "files")]
mod move_path;
#[cfg(feature = "files")]
mod read_file;
#[cfg(all(unix, feature = "commands"))]
mod run_command;
#[cfg(feature = "files")]
mod search_files;
#[cfg(feature = "files")]
mod trash;
#[cfg(feature = "files")]
mod tree;
#[cfg(feature = "files")]
mod write_file;

use std::sync::Arc;

#[cfg(all(unix, feature = "skills"))]
pub(crate) use open_skill::skill_not_found;

use crate::tool::{DynTool, ToolError, erase};
pub use list_skills::LIST_SKILLS;
pub use skill_docs::{list_skill_docs, select_skill_docs};
pub use spelled_open::{OpenSpelling, open_skill_as};
#[cfg(feature = "files")]
pub use trash::Trash;

#[cfg(feature = "files")]
use crate::{
    access::{Access, PathTarget},
    context::ToolContext,
    escape::escape_line,
    tool::ErrorKind,
    workspace::{Traced, Workspace},
};

/// The name of the tool that runs executable skills.
pub const RUN_SKILL: &str = "run_skill";

/// Returns the tools that list and open the skills of a call's view.
pub fn skill_tools() -> Vec<Arc<dyn DynTool>> {
    vec![open_skill(), list_skills()]
}

/// Returns the tool that opens skills; [`open_skill_as`] spells it otherwise.
pub fn open_skill() -> Arc<dyn DynTool> {
    erase(open_skill::OpenSkill)
}

/// Returns the tool that pages through the skills.
pub fn list_skills() -> Arc<dyn DynTool> {
    erase(list_skills::ListSkills)
}

/// Returns the tool that reads on in results which were too long and are kept in `spill`.
///
/// A gateway that keeps them has it: [`crate::GatewayBuilder::spill`] adds it.
pub fn read_output(spill: Arc<dyn crate::spill::Spill>) -> Arc<dyn DynTool> {
    erase(read_output::ReadOutput::new(spill))
}

/// Returns the tools that need nothing but a folder; the file tools reach `workspace` only.
///
/// Judge them by a policy that knows where the workspace lies: [`crate::Policy::protect_in`].
#[cfg(feature = "files")]
pub fn builtins(workspace: &Workspace) -> Vec<Arc<dyn DynTool>> {
    let mut tools = skill_tools();
    tools.extend(file_tools(workspace));
    tools
}

/// Returns the tools that read, search and write files of `workspace`.
#[cfg(feature = "files")]
pub fn file_tools(workspace: &Workspace) -> Vec<Arc<dyn DynTool>> {
    let mut tools = vec![erase(read_file::ReadFile::new(workspace.clone()))];
    tools.push(erase(list_dir::ListDir::new(workspace.clone())));
    tools.push(erase(search_files::SearchFiles::new(workspace.clone())));
    tools.push(erase(write_file::WriteFile::new(workspace.clone())));
    tools.push(erase(edit_file::EditFile::new(workspace.clone())));
    tools.push(erase(move_path::Move::new(workspace.clone())));
    tools
}

/// Returns the tool that deletes below `workspace`, by moving what goes into `trash`.
#[cfg(feature = "files")]
pub fn delete(workspace: &Workspace, trash: Trash) -> Arc<dyn DynTool> {
    erase(delete::Delete::new(workspace.clone(), trash))
}

/// Returns the tool that runs programs in `workspace`.
#[cfg(all(unix, feature = "commands"))]
pub fn run_command(workspace: &Workspace, launch: crate::process::Launch) -> Arc<dyn DynTool> {
    erase(run_command::RunCommand::new(workspace.clone(), launch))
}

/// Returns the tool that writes new skills into `folder`, which need not exist yet.
///
/// `shown` names the folder for people and models, who do not see paths of the machine.
#[cfg(feature = "files")]
pub fn create_skill(
    folder: impl Into<std::path::PathBuf>,
    shown: impl Into<String>,
) -> Arc<dyn DynTool> {
    erase(create_skill::CreateSkill::new(folder.into(), shown.into()))
}

/// Returns what a call that names `path` touches: where it leads first, then its other names, so
/// that a rule about any of them counts.
#[cfg(feature = "files")]
fn touched(traced: &Traced, access: fn(PathTarget) -> Access) -> Vec<Access> {
    std::iter::once(&traced.resolved)
        .chain(&traced.through)
        .map(|path| access(PathTarget::Inside(path.clone())))
        .collect()
}

/// Resolves a path again, on a thread that may block, and returns it if it is still the one that
/// was judged.
#[cfg(feature = "files")]
async fn granted(
    context: &ToolContext,
    workspace: &Workspace,
    path: &str,
    access: fn(PathTarget) -> Access,
) -> Result<String, ToolError> {
    let (inner, wanted) = (workspace.clone(), path.to_owned());
    let traced = blocking(move || Ok(inner.trace(&wanted)?)).await?;
    still(context, path, &touched(&traced, access))?;
    Ok(traced.resolved)
}

/// Fails unless `now` is what was judged for a call that names `path`.
#[cfg(feature = "files")]
fn still(context: &ToolContext, path: &str, now: &[Access]) -> Result<(), ToolError> {
    if context.granted() == now {
        return Ok(());
    }
    let path = escape_line(path);
    let message =
        format!("`{path}` leads somewhere else than when it was checked; nothing was done");
    Err(ToolError::new(ErrorKind::Denied, message))
}

/// Returns the resolved path of `name` in the folder at the resolved path `folder`.
#[cfg(feature = "files")]
fn within(folder: &str, name: &str) -> String {
    match folder {
        "." => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Runs file work on a thread that may block; a panic there ends the call like any other.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(ToolError::failed("the work was stopped").with_source(error)),
        },
    }
}
