//! Python workers: one a package, kept warm between calls, ended with the first that goes wrong.
//!
//! Lines of JSON in both directions; `skill-protocol.md` describes them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use crate::entry::command::start;
use crate::entry::host::SkillHost;
use crate::entry::{SkillFailure, SkillJob, SkillResult};
use crate::process::Started;

/// The module that skills import, and the loop that serves their calls.
const SDK: &str = include_str!("sdk/tekne_skill.py");

/// The longest line that a worker may write.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// How many lines of a log are kept.
const MAX_LOG_LINES: usize = 1_000;

/// How many packages are kept warm.
const MAX_WARM: usize = 8;

/// The workers that are warm, by package.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    warm: Mutex<Vec<(Key, Worker)>>,
}

/// What a worker serves: another package, other bytes of it or other secrets are another worker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    folder: PathBuf,
    digest: String,
    module: String,
    secrets: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Worker {
    started: Started,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// What a worker says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    Ready,
    Failed {
        message: String,
        #[serde(default)]
        detail: Option<String>,
    },
    Llm {
        prompt: String,
        #[serde(default)]
        system: Option<String>,
    },
    Log {
        text: String,
    },
    Result {
        ok: bool,
        #[serde(default)]
        value: Value,
        #[serde(default)]
        facts: BTreeMap<String, Option<String>>,
        #[serde(default)]
        message: String,
        #[serde(default)]
        kind: Option<String>,
        #[serde(default)]
        detail: Option<String>,
    },
}

impl Workers {
    /// Runs a call in the warm worker of its package, or in a new one.
    ///
    /// A worker is put back only after a call that it answered: whoever drops this future, at the
    /// deadline or by cancelling, ends the worker with it.
    pub(super) async fn run(
        &self,
        host: &SkillHost,
        job: &SkillJob,
        module: &str,
        function: &str,
    ) -> Result<SkillResult, SkillFailure> {
        let key = Key {
            folder: job.folder.clone(),
            digest: job.digest.clone(),
            module: module.to_owned(),
            secrets: job.secrets.clone(),
        };
        let mut worker = match self.take(&key).await {
            Some(worker) => worker,
            None => Worker::start(host, job, module).await?,
        };
        let result = worker.call(host, job, function).await;
        match &result {
            Err(failure) if failure.kind == SkillFailure::BROKEN => {}
            _ => self.put(key, worker).await,
        }
        result
    }

    async fn take(&self, key: &Key) -> Option<Worker> {
        let mut warm = self.warm.lock().await;
        let at = warm.iter().position(|(one, _)| one == key)?;
        let (_, mut worker) = warm.remove(at);
        // One that has ended meanwhile is not asked.
        matches!(worker.started.child.try_wait(), Ok(None)).then_some(worker)
    }

    async fn put(&self, key: Key, worker: Worker) {
        let mut warm = self.warm.lock().await;
        warm.retain(|(one, _)| one.folder != key.folder);
        warm.push((key, worker));
        let over = warm.len().saturating_sub(MAX_WARM);
        warm.drain(..over);
    }
}

impl Worker {
    async fn start(host: &SkillHost, job: &SkillJob, module: &str) -> Result<Self, SkillFailure> {
        let argv = [python(host, job), "-u".into(), "-c".into(), SDK.into()];
        let mut environment = job.secrets.clone();
        environment.insert("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned());
        environment.insert("PYTHONIOENCODING".to_owned(), "utf-8".to_owned());
        let mut started = start(host, job, &argv, environment).await?;
        let child = &mut started.child;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(broken("the worker has no streams"));
        };
        // What is written there is the skill's own talk; it must not fill the pipe.
        tokio::spawn(async move {
            let mut stderr = stderr;
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
        });
        let mut worker = Self {
            started,
            stdin,
            stdout: BufReader::new(stdout),
        };
        let services: Map<String, Value> = job
            .skill
            .declaration
            .iter()
            .flat_map(|declaration| &declaration.services)
            .map(|(name, factory)| {
                let factory = json!({"file": factory.file, "function": factory.function});
                (name.clone(), factory)
            })
            .collect();
        worker
            .say(&json!({
                "type": "start", "v": 1, "folder": job.folder, "module": module, "services": services,
            }))
            .await?;
        match worker.hear().await? {
            Said::Ready => Ok(worker),
            Said::Failed { message, detail } => Err(SkillFailure {
                detail,
                ..broken(&message)
            }),
            other => Err(broken("the worker did not get ready").with_detail(format!("{other:?}"))),
        }
    }

    async fn call(
        &mut self,
        host: &SkillHost,
        job: &SkillJob,
        function: &str,
    ) -> Result<SkillResult, SkillFailure> {
        self.say(&json!({
            "type": "call",
            "function": function,
            "params": job.params,
            "context": {
                "call_id": job.call_id, "user_id": job.user_id, "now": job.now, "zone": job.zone,
                "facts": job.facts,
            },
        }))
        .await?;
        let mut log = Vec::new();
        loop {
            match self.hear().await? {
                Said::Log { text } if log.len() < MAX_LOG_LINES => log.push(text),
                Said::Log { .. } => {}
                Said::Llm { prompt, system } => {
                    let answer = match &host.model {
                        Some(model) => model.complete(system.as_deref(), &prompt).await,
                        None => Err("there is no model here".to_owned()),
                    };
                    let answer = match answer {
                        Ok(text) => json!({"type": "llm", "text": text}),
                        Err(problem) => json!({"type": "llm", "error": problem}),
                    };
                    self.say(&answer).await?;
                }
                Said::Result {
                    ok: true,
                    value,
                    facts,
                    ..
                } => return Ok(SkillResult { value, facts, log }),
                Said::Result {
                    message,
                    kind,
                    detail,
                    ..
                } => {
                    let kind = kind.unwrap_or_else(|| SkillFailure::BUSINESS.to_owned());
                    return Err(SkillFailure {
                        message,
                        detail,
                        kind,
                    });
                }
                other => {
                    return Err(broken("the worker lost its way").with_detail(format!("{other:?}")));
                }
            }
        }
    }

    async fn say(&mut self, message: &Value) -> Result<(), SkillFailure> {
        let line = format!("{message}\n");
        let written = async {
            self.stdin.write_all(line.as_bytes()).await?;
            self.stdin.flush().await
        };
        let gone =
            |error: std::io::Error| broken("the worker ended").with_detail(error.to_string());
        written.await.map_err(gone)
    }

    async fn hear(&mut self) -> Result<Said, SkillFailure> {
        let mut line = Vec::new();
        (&mut self.stdout)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .await
            .map_err(|error| broken("the worker ended").with_detail(error.to_string()))?;
        if line.is_empty() {
            return Err(broken("the worker ended"));
        }
        serde_json::from_slice(&line).map_err(|error| {
            broken("the worker said what cannot be understood").with_detail(error.to_string())
        })
    }
}

/// Returns the program that runs Python: the environment beside the skill wins.
fn python(host: &SkillHost, job: &SkillJob) -> String {
    let own = job.folder.join(".venv/bin/python3");
    if own.exists() {
        return own.to_string_lossy().into_owned();
    }
    host.python.clone()
}

fn broken(message: &str) -> SkillFailure {
    SkillFailure::new(SkillFailure::BROKEN, message)
}
