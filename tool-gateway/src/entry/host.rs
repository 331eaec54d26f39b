//! What executable skills get from the program that embeds them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use skill_core::{Clock, Skill};

use crate::entry::NativeSkill;
use crate::process::Launch;
use crate::tool::DynTool;

/// Decides whether the program of a skill may run.
pub trait SkillTrust: Send + Sync + fmt::Debug {
    /// Returns why the skill must not run, in words for the model, or nothing if it may.
    ///
    /// `digest` is that of the package as it is now.
    fn refusal(&self, skill: &Skill, digest: &str) -> Option<String>;
}

/// Knows secrets by name; a skill gets those that it declares and no others.
pub trait SecretSource: Send + Sync + fmt::Debug {
    /// Returns the value of a secret, if it is set.
    fn secret(&self, name: &str) -> Option<String>;
}

/// Answers prompts of skills.
#[async_trait::async_trait]
pub trait SkillModel: Send + Sync + fmt::Debug {
    /// Returns the answer to one prompt, or why there is none.
    async fn complete(&self, system: Option<&str>, prompt: &str) -> Result<String, String>;
}

/// Sends the requests of skills.
#[async_trait::async_trait]
pub trait HttpClient: Send + Sync + fmt::Debug {
    /// Sends a request; `Err` says why there was no answer, and is worth another attempt.
    async fn send(&self, request: HttpRequest) -> Result<HttpAnswer, String>;
}

/// A request of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// The method in capitals.
    pub method: String,
    /// The address.
    pub url: String,
    /// The headers.
    pub headers: BTreeMap<String, String>,
    /// The body, sent as JSON; nothing is sent for null.
    pub body: Value,
}

/// The answer to a request of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body, of which only the first MiB counts.
    pub body: String,
}

/// What executable skills get from the program that embeds them. What is left out they do without.
#[derive(Clone, Debug)]
pub struct SkillHost {
    /// How their programs are started.
    pub launch: Launch,
    /// The folder that they may write to.
    pub workspace: PathBuf,
    /// The project's top folder: of a link that leads out of it, only the path counts in the digest
    /// that is trusted.
    pub project: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The name of the user's time zone, such as `Asia/Shanghai`.
    pub zone: String,
    /// On whose behalf they run.
    pub user_id: Option<String>,
    /// The values that `auto_fill: config:KEY` finds.
    pub config: Map<String, Value>,
    /// Who decides whether they run.
    pub trust: Arc<dyn SkillTrust>,
    /// Their secrets.
    pub secrets: Option<Arc<dyn SecretSource>>,
    /// Their model.
    pub model: Option<Arc<dyn SkillModel>>,
    /// Their way to the network.
    pub http: Option<Arc<dyn HttpClient>>,
    /// The tools that an entry of kind `tool` may name.
    pub tools: Vec<Arc<dyn DynTool>>,
    /// The functions that an entry of kind `native` may name.
    pub native: BTreeMap<String, Arc<dyn NativeSkill>>,
    /// The program that runs Python.
    pub python: String,
}

/// The host, with what is kept between runs.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) given: SkillHost,
    pub(super) workers: super::worker::Workers,
}
