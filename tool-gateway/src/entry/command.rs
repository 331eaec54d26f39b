//! Entries of kind `command`: a program that gets the parameters as JSON on its standard input.
//!
//! What it writes is its value: JSON, or else text. It ends with 0; 75 says that another attempt
//! may go well; every other end is a failure of which the last lines of standard error tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use skill_core::EntryPoint;
use tokio::io::AsyncWriteExt as _;

use crate::entry::host::{Host, SkillHost};
use crate::entry::{Runner, SkillFailure, SkillJob, SkillResult};
use crate::process::{Spec, Started, Stdin, capture, find_program, spawn};

/// The exit status of what may go well another time (`EX_TEMPFAIL`).
const TRY_AGAIN: i32 = 75;

/// How much of standard error is told.
const TOLD_BYTES: usize = 2_000;

struct Command {
    argv: Vec<String>,
}

pub(super) fn runner(entry: &EntryPoint) -> Option<Arc<dyn Runner>> {
    match entry {
        EntryPoint::Command { argv } => Some(Arc::new(Command { argv: argv.clone() })),
        _ => None,
    }
}

#[async_trait::async_trait]
impl Runner for Command {
    async fn run(&self, host: &Host, job: &SkillJob) -> Result<SkillResult, SkillFailure> {
        let mut environment = job.secrets.clone();
        environment.insert("SKILL_CALL_ID".to_owned(), job.call_id.clone());
        let mut started = start(&host.given, job, &self.argv, environment).await?;
        let input = Value::Object(job.params.clone()).to_string();
        let stdin = started.child.stdin.take();
        let writing = async move {
            if let Some(mut stdin) = stdin {
                // A program that does not read its input may still do its work.
                let _ = stdin.write_all(input.as_bytes()).await;
                let _ = stdin.shutdown().await;
            }
        };
        let (stdout, stderr) = (started.child.stdout.take(), started.child.stderr.take());
        let ending = async {
            let status = started.child.wait().await;
            started.family.end().await;
            status
        };
        let (status, (), stdout, stderr) =
            tokio::join!(ending, writing, capture(stdout), capture(stderr));
        let broken = |error: std::io::Error| failed_to_run(&self.argv, &error);
        let status = status.map_err(broken)?;
        let stdout = stdout.map_err(broken)?.text();
        let stderr = stderr.map_err(broken)?.text();
        if status.success() {
            let value = serde_json::from_str(&stdout).unwrap_or(Value::String(stdout));
            return Ok(SkillResult {
                log: stderr.lines().map(str::to_owned).collect(),
                ..SkillResult::ok(value)
            });
        }
        let kind = match status.code() {
            Some(TRY_AGAIN) => SkillFailure::TRANSIENT,
            Some(_) => SkillFailure::BUSINESS,
            None => SkillFailure::BROKEN,
        };
        let told = last(stderr.trim_end(), TOLD_BYTES);
        let message = match told.lines().last() {
            Some(line) if !line.is_empty() => format!("{status}: {line}"),
            _ => status.to_string(),
        };
        Err(SkillFailure::new(kind, message).with_detail(told))
    }
}

/// Starts a program in the folder of a skill; it knows of the environment what is given to it.
pub(super) async fn start(
    host: &SkillHost,
    job: &SkillJob,
    argv: &[String],
    environment: BTreeMap<String, String>,
) -> Result<Started, SkillFailure> {
    let broken = |error: std::io::Error| failed_to_run(argv, &error);
    let word = argv.first().map_or("", String::as_str);
    let program = find_program(word, &job.folder, &host.workspace, &host.launch).map_err(broken)?;
    let cwd = Dir::open_ambient_dir(&job.folder, ambient_authority()).map_err(broken)?;
    let mut launch = host.launch.clone();
    // Secrets apart, a skill knows where programs are and how text is written.
    launch.environment.retain(|name, _| {
        matches!(
            name.as_str(),
            "PATH" | "LANG" | "LC_ALL" | "LC_CTYPE" | "TZ" | "TMPDIR" | "HOME"
        )
    });
    launch.environment.insert("TZ".to_owned(), job.zone.clone());
    let spec = Spec {
        program,
        argv: argv.to_vec(),
        cwd,
        environment,
        stdin: Stdin::Piped,
        workspace: host.workspace.clone(),
    };
    spawn(spec, &launch).await.map_err(broken)
}

pub(super) fn failed_to_run(argv: &[String], error: &std::io::Error) -> SkillFailure {
    let program = argv.first().map_or("", String::as_str);
    SkillFailure::new(SkillFailure::BROKEN, format!("`{program}` could not run"))
        .with_detail(error.to_string())
}

/// Returns the longest end of `text` of at most `limit` bytes.
fn last(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}
