//! Runs a program as a whole process and takes its CPU time and peak memory from the kernel.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4;

use super::inputs::Workspace;

/// Runs of each program that are thrown away, so that caches are warm.
const WARM_UP: usize = 3;
/// Pairs that are measured.
pub(super) const PAIRS: usize = 21;

/// A program with everything that its run depends on.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    folder: Option<PathBuf>,
    environment: Vec<(&'static str, OsString)>,
}

/// What one run cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// User and system time together.
    pub(super) cpu: Duration,
    /// Peak resident memory in bytes. The kernel counts what the parent held at the start, so a
    /// value near that of the empty program is a ceiling, not a measure.
    pub(super) peak: u64,
}

impl Program {
    pub(super) fn new(path: PathBuf, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        Self {
            path,
            arguments,
            folder: None,
            environment: Vec::new(),
        }
    }

    /// Runs in a workspace, with nothing of the caller's environment but `PATH`.
    pub(super) fn within(mut self, workspace: &Workspace) -> Self {
        self.folder = Some(workspace.folder.clone());
        self.environment = workspace.environment();
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().cloned());
        command.current_dir(self.folder.as_deref().unwrap_or(Path::new(".")));
        command.stdin(Stdio::null());
        command
    }

    /// Runs once and returns standard output; a failure carries standard error.
    pub(super) fn output(&self) -> Result<String, Box<dyn Error>> {
        crate::cargo::output(&mut self.command())
    }

    /// Runs once, its output thrown away, and returns what that cost.
    pub(super) fn sample(&self) -> Result<Sample, Box<dyn Error>> {
        let mut command = self.command();
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let used = child.wait4()?;
        if !used.status.success() {
            return Err(format!("`{self}` failed while measured: {}", used.status).into());
        }
        Ok(Sample {
            cpu: used.rusage.utime + used.rusage.stime,
            peak: used.rusage.maxrss,
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        write!(formatter, "{name} {}", self.arguments.join(" "))
    }
}

/// Measures two programs in turn, so that both meet the same moods of the machine.
pub(super) fn pairs(
    program: &Program,
    baseline: &Program,
) -> Result<Vec<(Sample, Sample)>, Box<dyn Error>> {
    for _ in 0..WARM_UP {
        program.sample()?;
        baseline.sample()?;
    }
    (0..PAIRS)
        .map(|_| Ok((program.sample()?, baseline.sample()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_run_costs_more_than_an_idle_one_and_a_failed_one_is_no_figure() {
        let shell = |script: &str| Program::new("/bin/sh".into(), &["-c", script]);
        let idle = shell("exit 0").sample().unwrap();
        let busy = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
            .sample()
            .unwrap();
        assert!(busy.cpu > idle.cpu, "{busy:?} {idle:?}");
        assert!(idle.peak > 100_000, "bytes, not kilobytes: {idle:?}");
        assert!(shell("exit 3").sample().is_err());
    }
}
