//! Reading for context: inside the workspace, and only what the policy lets anybody read unasked.

use std::sync::Arc;

use tool_gateway::{Access, Effect, FileStamp, Policy, Workspace};

use super::ContextError;

/// The most that is read of one file, in bytes.
const MOST: u64 = 512 * 1024;

/// Reads files of one workspace for context.
#[derive(Clone, Debug)]
pub struct ContextReader {
    workspace: Workspace,
    policy: Arc<Policy>,
}

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A text, and whether its end is missing.
    Text(String, bool),
    /// A folder: the names in it, folders with a slash behind.
    Folder(Vec<String>),
}

impl ContextReader {
    /// Returns a reader of `workspace` that leaves out what `policy` does not allow to be read.
    pub fn new(workspace: Workspace, policy: Policy) -> Self {
        Self {
            workspace,
            policy: Arc::new(policy),
        }
    }

    /// Tells whether `path` may be read.
    pub(super) fn may_read(&self, path: &str) -> bool {
        self.policy.effect_of(&Access::read(path)) == Effect::Allow
    }

    /// Reads what is at `path`, on a thread that may block.
    pub(super) async fn read(&self, path: &str) -> Result<Found, ContextError> {
        let (reader, path) = (self.clone(), path.to_owned());
        blocking(move || reader.read_now(&path)).await?
    }

    /// Reads what is at `path`.
    pub(super) fn read_now(&self, path: &str) -> Result<Found, ContextError> {
        let failed = |error: tool_gateway::WorkspaceError| ContextError::new(error.to_string());
        let resolved = self.workspace.resolve(path).map_err(failed)?;
        if !self.may_read(path) || !self.may_read(&resolved) {
            return Err(ContextError::new(format!(
                "`{path}` may not be read, by the policy of this run"
            )));
        }
        if self.workspace.is_folder(&resolved) {
            return self
                .workspace
                .names(&resolved)
                .map(Found::Folder)
                .map_err(failed);
        }
        let (text, cut) = self.workspace.read_text(&resolved, MOST).map_err(failed)?;
        Ok(Found::Text(text, cut))
    }

    /// Lists files below the root for which `wanted` holds and that may be read.
    pub(super) fn files(
        &self,
        wanted: impl Fn(&str) -> bool,
        most: usize,
    ) -> (Vec<FileStamp>, bool) {
        let wanted = |path: &str| wanted(path) && self.may_read(path);
        self.workspace.files(wanted, most)
    }
}

/// Runs `work` on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ContextError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ContextError {
            message: "the work was stopped".to_owned(),
            source: Some(Box::new(error)),
        })
}
