//! Starting a program.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cap_std::fs::Dir;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use crate::process::family::{Family, MARK};
use crate::process::sandbox::{Confinement, SandboxNeed, enter};
use crate::process::{Launch, Sandbox};

/// What is started, and where.
pub(crate) struct Spec {
    /// The file that runs.
    pub(crate) program: PathBuf,
    /// What it is called, and its arguments.
    pub(crate) argv: Vec<String>,
    /// The folder it runs in, held open: nobody can put another in its place.
    pub(crate) cwd: Dir,
    /// What it gets besides the environment of every program.
    pub(crate) environment: BTreeMap<String, String>,
    /// Where its input comes from.
    pub(crate) stdin: Stdin,
    /// The folder below which it may write.
    pub(crate) workspace: PathBuf,
}

/// Where the input of a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// There is none.
    Empty,
    /// From us.
    Piped,
}

/// A program that runs.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) family: Family,
    pub(crate) confinement: Confinement,
}

/// Starts a program; it is alone in its process group.
pub(crate) async fn spawn(spec: Spec, launch: &Launch) -> io::Result<Started> {
    let mark = mark();
    let runtime = Handle::current();
    let sandbox = launch.sandbox.clone();
    let mut environment = launch.environment.clone();
    environment.extend(spec.environment.clone());
    environment.insert(MARK.to_owned(), mark.clone());
    let started = tokio::task::spawn_blocking(move || {
        // The thread ends here, and with it all that it gave up.
        let starting = std::thread::Builder::new()
            .name("launch".to_owned())
            .spawn(move || {
                let _runtime = runtime.enter();
                start(&spec, environment, &sandbox, mark)
            })?;
        let failed = || io::Error::other("the thread that starts programs failed");
        starting.join().map_err(|_| failed())?
    });
    // Whoever stops waiting drops the family with what was started, and so ends it.
    started.await.map_err(io::Error::other)?
}

fn start(
    spec: &Spec,
    environment: BTreeMap<String, String>,
    sandbox: &Sandbox,
    mark: String,
) -> io::Result<Started> {
    let confinement = match sandbox.need {
        SandboxNeed::Off => Confinement::None,
        _ => enter(sandbox, &spec.workspace)?,
    };
    if sandbox.need == SandboxNeed::Required && confinement != Confinement::Full {
        let missing = confinement.missing().unwrap_or_default();
        return Err(io::Error::other(format!(
            "a sandbox is required, but {missing}"
        )));
    }
    let (name, arguments) = spec
        .argv
        .split_first()
        .ok_or_else(|| io::Error::other("no program"))?;
    let mut command = Command::new(&spec.program);
    #[cfg(unix)]
    command.arg0(name).process_group(0);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .current_dir(path_of(&spec.cwd)?)
        .stdin(match spec.stdin {
            Stdin::Empty => Stdio::null(),
            Stdin::Piped => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn()?;
    let leader = child
        .id()
        .ok_or_else(|| io::Error::other("the program has no number"))?;
    Ok(Started {
        family: Family::of(leader, mark),
        child,
        confinement,
    })
}

/// Returns a path to an open folder that leads there whatever happens to its name.
fn path_of(folder: &Dir) -> io::Result<PathBuf> {
    let number = folder.as_fd().as_raw_fd();
    let path = Path::new("/proc/self/fd").join(number.to_string());
    if path.exists() {
        return Ok(path);
    }
    Err(io::Error::other("there is no /proc to run programs by"))
}

/// Returns a word that nobody can foresee.
fn mark() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
