//! `run_command`: a program with its arguments, never a shell line.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Access;
use crate::builtin::blocking;
use crate::context::ToolContext;
use crate::digest::canonical_json;
use crate::escape::escape_line;
use crate::process::{
    Bound, Captured, Launch, SandboxNeed, Spec, Stdin, capture, find_program, spawn,
};
use crate::tool::{ErrorKind, Preview, Tool, ToolError, ToolOutput};
use crate::workspace::{Workspace, WorkspaceError};

/// How long a program may run.
const DEADLINE: Duration = Duration::from_secs(120);

/// How long it may take until everything that it started is gone.
const WIND_DOWN: Duration = Duration::from_secs(3);

/// Runs programs in the workspace.
#[derive(Debug)]
pub(super) struct RunCommand {
    workspace: Workspace,
    launch: Launch,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The program and its arguments, each a string of its own; no shell reads them.
    #[schemars(length(min = 1))]
    argv: Vec<String>,
    /// The folder to run it in, relative to the workspace root; the root if left out.
    cwd: Option<String>,
}

impl RunCommand {
    pub(super) fn new(workspace: Workspace, launch: Launch) -> Self {
        Self { workspace, launch }
    }

    fn cwd(&self, arguments: &Arguments) -> Result<String, ToolError> {
        let cwd = arguments.cwd.as_deref().unwrap_or(".");
        let resolved = self.workspace.resolve(cwd)?;
        self.workspace.open_folder(&resolved)?;
        Ok(resolved)
    }

    fn program(&self, arguments: &Arguments, cwd: &str) -> Result<std::path::PathBuf, ToolError> {
        let word = arguments.argv.first().map_or("", String::as_str);
        let folder = self.workspace.path().join(cwd);
        find_program(word, &folder, self.workspace.path(), &self.launch)
            .map_err(|error| ToolError::new(ErrorKind::NotFound, escape_line(&error.to_string())))
    }

    fn bound(&self, arguments: &Arguments, cwd: &str) -> Result<String, ToolError> {
        let program = self.program(arguments, cwd)?;
        let operands = arguments.argv.get(1..).unwrap_or_default();
        let bound = Bound::of(&program, operands, cwd, &self.workspace).map_err(|error| {
            ToolError::failed("what would run cannot be read").with_source(error)
        })?;
        Ok(bound.basis())
    }
}

impl Tool for RunCommand {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "run_command"
    }

    fn description(&self) -> &str {
        "Runs a program in the workspace and returns what it wrote. Not a shell: no pipes, no redirection, no variables."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        if arguments.argv.first().is_none_or(String::is_empty) {
            let text = "`argv` is empty: give the program and its arguments";
            return Err(ToolError::new(ErrorKind::InvalidArguments, text));
        }
        if arguments.argv.iter().any(|word| word.contains('\0')) {
            let text = "`argv` holds a NUL, which no program takes";
            return Err(ToolError::new(ErrorKind::InvalidArguments, text));
        }
        self.cwd(arguments)?;
        Ok(vec![Access::Run(arguments.argv.clone())])
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        let cwd = self.cwd(arguments)?;
        let program = self.program(arguments, &cwd)?;
        let argv = canonical_json(&serde_json::Value::from(arguments.argv.clone()));
        let mut details = format!("program: {}\nfolder: {cwd}", program.display());
        if self.launch.sandbox.need == SandboxNeed::Off {
            details.push_str("\nno sandbox: it may change whatever you may change");
        }
        Ok(Preview {
            action: Some(format!("run_command {argv}")),
            details: Some(details),
            basis: Some(self.bound(arguments, &cwd)?),
        })
    }

    fn deadline(&self) -> Option<Duration> {
        Some(DEADLINE)
    }

    fn wind_down(&self) -> Duration {
        WIND_DOWN
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let cwd = self.cwd(&arguments)?;
        let program = self.program(&arguments, &cwd)?;
        if let Some(approved) = context.approved_basis().map(str::to_owned) {
            let (tool, cwd) = (
                Self::new(self.workspace.clone(), self.launch.clone()),
                cwd.clone(),
            );
            let argv = arguments.argv.clone();
            let now = blocking(move || tool.bound(&Arguments { argv, cwd: None }, &cwd)).await?;
            if now != approved {
                let text = "what would run changed after it was approved, so it did not run; call run_command again, which asks again";
                return Err(ToolError::new(ErrorKind::Denied, text));
            }
        }
        let spec = Spec {
            program,
            argv: arguments.argv,
            cwd: self.workspace.open_folder(&cwd)?,
            environment: Default::default(),
            stdin: Stdin::Empty,
            workspace: self.workspace.path().to_owned(),
        };
        let mut started = spawn(spec, &self.launch)
            .await
            .map_err(|error| ToolError::from(WorkspaceError::io(&cwd, error, "a program")))?;
        let (stdout, stderr) = (started.child.stdout.take(), started.child.stderr.take());
        let family = &mut started.family;
        let child = &mut started.child;
        let ended = async {
            let ending = async {
                let status = child.wait().await;
                (status, family.end().await)
            };
            tokio::join!(ending, capture(stdout), capture(stderr))
        };
        let ended = tokio::select! {
            biased;
            () = context.cancel.cancelled() => None,
            ended = ended => Some(ended),
        };
        let Some(((status, (left, gone)), stdout, stderr)) = ended else {
            let (_, gone) = started.family.end().await;
            let text = match gone {
                true => "stopped, with everything it had started",
                false => "stopped, but something that it started could not be ended",
            };
            return Err(ToolError::failed(text));
        };
        let fail = |error| ToolError::from(WorkspaceError::io(&cwd, error, "a program"));
        let status = status.map_err(fail)?;
        let mut notes = Vec::new();
        if left > 0 {
            notes.push(match gone {
                true => format!("{left} processes that it left running were ended"),
                false => "something that it left running could not be ended".to_owned(),
            });
        }
        if self.launch.sandbox.need != SandboxNeed::Off {
            notes.extend(started.confinement.missing().map(str::to_owned));
        }
        let content = report(
            &status.to_string(),
            stdout.map_err(fail)?,
            stderr.map_err(fail)?,
            &notes,
        );
        Ok(ToolOutput::text(content))
    }
}

/// Returns how it ended, what it wrote, and what there is to say about it.
fn report(status: &str, stdout: Captured, stderr: Captured, notes: &[String]) -> String {
    let mut text = format!("{status}\n");
    let mut part = |title: &str, content: String| {
        if content.is_empty() {
            return;
        }
        text.push_str(title);
        text.push_str(&content);
        if !content.ends_with('\n') {
            text.push('\n');
        }
    };
    part("", stdout.text());
    part("--- standard error\n", stderr.text());
    notes.iter().for_each(|note| part("", format!("[{note}]")));
    text
}
