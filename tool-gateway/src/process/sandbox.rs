//! What a program may change: held by the kernel where it can, and said where it cannot.
//!
//! The restrictions are put on a thread of its own, and the program is started from it: a child
//! begins with what its parent thread may do, and can never get more.

use std::path::PathBuf;

/// What programs may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether programs run without one.
    pub need: SandboxNeed,
    /// Folders that programs may write to besides the workspace.
    pub writable: Vec<PathBuf>,
}

/// Whether programs run without a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxNeed {
    /// Where the kernel has none, they run without, and that is said.
    #[default]
    WherePossible,
    /// Where the kernel has none, they do not run.
    Required,
    /// They run without.
    Off,
}

/// How far a program is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// It writes where it may and nowhere else.
    Full,
    /// The kernel knows only some of the restrictions.
    Partial,
    /// Nothing holds it.
    None,
}

impl Confinement {
    /// Says what is missing; `None` if nothing is.
    pub(crate) fn missing(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Partial => Some("the kernel knows only part of the sandbox"),
            Self::None => Some("no sandbox: this kernel has no Landlock"),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::enter;

#[cfg(not(target_os = "linux"))]
pub(super) fn enter(
    _sandbox: &Sandbox,
    _workspace: &std::path::Path,
) -> std::io::Result<Confinement> {
    Ok(Confinement::None)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::Path;

    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

    use super::{Confinement, Sandbox};

    /// The newest version whose restrictions are asked for; older kernels hold what they know.
    const WANTED: ABI = ABI::V6;

    /// What every program may write to.
    const DEVICES: [&str; 7] = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/tty",
        "/dev/random",
        "/dev/urandom",
        "/dev/shm",
    ];

    /// System calls by which a program changes the machine or looks into others.
    const REFUSED: &[i64] = &[
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_userfaultfd,
        libc::SYS_acct,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
    ];

    /// Restricts the calling thread, for good.
    pub(in crate::process) fn enter(
        sandbox: &Sandbox,
        workspace: &Path,
    ) -> io::Result<Confinement> {
        let writable = sandbox.writable.iter().map(|path| path.as_path());
        let devices = DEVICES.iter().map(Path::new);
        let places = std::iter::once(workspace).chain(writable).chain(devices);
        let status = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(WANTED))
            .and_then(|ruleset| ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket))
            .and_then(Ruleset::create)
            .and_then(|created| {
                // What is not there cannot be written to either.
                created.add_rules(path_beneath_rules(places, AccessFs::from_write(WANTED)))
            })
            .and_then(|created| created.restrict_self())
            .map_err(io::Error::other)?;
        let confinement = match status.ruleset {
            RulesetStatus::FullyEnforced => Confinement::Full,
            RulesetStatus::PartiallyEnforced => Confinement::Partial,
            RulesetStatus::NotEnforced => Confinement::None,
        };
        match filter() {
            Some(filter) => apply_filter(&filter).map_err(io::Error::other)?,
            None => return Ok(confinement.weaker()),
        }
        Ok(confinement)
    }

    /// Returns the filter of system calls; `None` on a machine whose calls it does not know.
    fn filter() -> Option<BpfProgram> {
        let machine: TargetArch = std::env::consts::ARCH.try_into().ok()?;
        let rules: BTreeMap<_, _> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine)
            .ok()?
            .try_into()
            .ok()
    }

    impl Confinement {
        fn weaker(self) -> Self {
            match self {
                Self::Full => Self::Partial,
                other => other,
            }
        }
    }
}
