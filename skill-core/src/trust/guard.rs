//! Which skills wait for trust: those of a pinned project, and those that are not what was locked.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::discovery::Stamp;
use crate::lock::SkillsLock;
use crate::skill::{Diagnostic, Scope, Skill};
use crate::trust::item::{ProjectTrust, TrustKind};
use crate::trust::store::TrustStore;
use crate::trust::tree::{self, Change, PackageTree, Seen, changes, slashed};

/// Decides what of a scan waits for trust.
///
/// A catalogue asks for every skill that loaded, whenever it makes a snapshot.
pub trait SkillGuard: Send + Sync + fmt::Debug {
    /// Returns how `skill` is admitted; `yields` is what its source said.
    fn admit(&self, skill: &Skill, yields: bool) -> Admission;

    /// Brings itself up to date; returns whether some answer may be another now.
    fn refresh(&self) -> bool;
}

/// How a skill is admitted.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Why it waits for trust; nobody sees it until then.
    pub pending: Option<Diagnostic>,
    /// It may not take a bare name from a user or managed skill.
    pub yields: bool,
    /// The files it may be read from, where that was looked at.
    pub pins: Option<Arc<PackageTree>>,
}

impl Admission {
    /// Returns the admission of a skill that nothing is held against.
    pub fn open(yields: bool) -> Self {
        Self {
            pending: None,
            yields,
            pins: None,
        }
    }
}

/// Guards the skills of one project by what was trusted of it and by its `skills.lock`.
#[derive(Debug)]
pub struct ProjectGuard {
    project: PathBuf,
    store: TrustStore,
    lock_file: PathBuf,
    pinned: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    trust: ProjectTrust,
    /// What is locked; an error where the file is there and cannot be understood.
    lock: Result<SkillsLock, String>,
    stamps: [Option<Stamp>; 2],
    trees: HashMap<PathBuf, Looked>,
}

/// A package that was looked at.
#[derive(Debug)]
struct Looked {
    tree: Result<Arc<PackageTree>, String>,
    seen: Seen,
}

impl ProjectGuard {
    /// Returns the guard of the project whose top folder is `project`.
    ///
    /// `pinned` says that all of its skills need trust, not only those that changed since they
    /// were locked. A trust file that cannot be read trusts nothing.
    pub fn new(project: impl Into<PathBuf>, store: TrustStore, pinned: bool) -> Self {
        let project = project.into();
        let lock_file = project.join(SkillsLock::FILE);
        let state = State::read(&project, &store, &lock_file);
        Self {
            project,
            store,
            lock_file,
            pinned,
            state: Mutex::new(state),
        }
    }

    fn judge(&self, state: &mut State, skill: &Skill, yields: bool) -> Admission {
        let package = skill.package_path().to_owned();
        let Some(path) = package.strip_prefix(&self.project).ok().and_then(slashed) else {
            return self.outside(skill, yields);
        };
        let trusted = state.trust.get(TrustKind::Skill, &path).cloned();
        let locked = match &state.lock {
            Ok(lock) => lock.skills.get(&path).cloned(),
            Err(problem) => {
                let message = format!("the project's {} {problem}", SkillsLock::FILE);
                return pending("SK091", skill, message, yields);
            }
        };
        // A moved package takes its name along, but not what was locked under it.
        let elsewhere = state.lock.as_ref().ok().filter(|_| locked.is_none());
        let elsewhere = elsewhere.and_then(|lock| lock.place_of(skill.id.as_str()));
        let moved = elsewhere.map(|place| format!("`{}` is locked at {place}, not here", skill.id));
        if !self.pinned && trusted.is_none() && locked.is_none() {
            let open = Admission::open(yields);
            return moved.map_or(open, |message| pending("SK091", skill, message, yields));
        }
        let tree = match state.tree(skill, &self.project) {
            Ok(tree) => tree,
            Err(_) if !self.pinned && locked.is_none() => return Admission::open(yields),
            Err(problem) => return pending("SK090", skill, problem, yields),
        };
        let is_trusted = trusted
            .as_ref()
            .is_some_and(|one| one.digest == tree.digest);
        let is_locked = locked
            .as_ref()
            .is_none_or(|one| one.tree_digest == tree.digest);
        let is_moved = moved.is_some() && !is_trusted;
        if is_trusted || (is_locked && !self.pinned && !is_moved) {
            return Admission {
                pending: None,
                yields: yields && !is_trusted,
                pins: (is_trusted || locked.is_some()).then_some(tree),
            };
        }
        match (trusted, locked) {
            _ if is_moved => pending("SK091", skill, moved.unwrap_or_default(), yields),
            (Some(trusted), _) => {
                let what = differences(&changes(&trusted.files, &tree.files));
                pending(
                    "SK091",
                    skill,
                    format!("changed since it was trusted: {what}"),
                    yields,
                )
            }
            (None, Some(locked)) if !is_locked => {
                let what = differences(&changes(&locked.files, &tree.files));
                pending(
                    "SK091",
                    skill,
                    format!("changed since it was locked: {what}"),
                    yields,
                )
            }
            (None, _) => pending("SK090", skill, WAITS.to_owned(), yields),
        }
    }

    /// Judges a project's skill whose files lie elsewhere; no digest is kept of those.
    fn outside(&self, skill: &Skill, yields: bool) -> Admission {
        if self.pinned {
            pending("SK090", skill, WAITS.to_owned(), yields)
        } else {
            Admission::open(yields)
        }
    }
}

const WAITS: &str = "the project's skills are pinned, and this one was not trusted yet";

impl SkillGuard for ProjectGuard {
    fn admit(&self, skill: &Skill, yields: bool) -> Admission {
        if skill.scope != Scope::Project {
            return Admission::open(yields);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.judge(&mut state, skill, yields)
    }

    fn refresh(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = state.trees.len();
        state.trees.retain(|_, looked| !looked.is_stale());
        let mut changed = state.trees.len() != known;
        if stamps(&self.store, &self.lock_file) != state.stamps {
            let trees = std::mem::take(&mut state.trees);
            *state = State::read(&self.project, &self.store, &self.lock_file);
            state.trees = trees;
            changed = true;
        }
        changed
    }
}

impl State {
    fn read(project: &Path, store: &TrustStore, lock_file: &Path) -> Self {
        Self {
            stamps: stamps(store, lock_file),
            trust: store.project(project).unwrap_or_default(),
            lock: match SkillsLock::read(lock_file) {
                Ok(lock) => Ok(lock.unwrap_or_default()),
                Err(error) => Err(error.problem),
            },
            trees: HashMap::new(),
        }
    }

    fn tree(&mut self, skill: &Skill, within: &Path) -> Result<Arc<PackageTree>, String> {
        let package = skill.package_path();
        if let Some(looked) = self.trees.get(package) {
            return looked.tree.clone();
        }
        let looked = match tree::read_skill(skill, within) {
            Ok((tree, seen)) => Looked {
                tree: Ok(Arc::new(tree)),
                seen,
            },
            Err(error) => Looked {
                seen: vec![(error.path.clone(), Stamp::at(&error.path))],
                tree: Err(error.to_string()),
            },
        };
        let tree = looked.tree.clone();
        self.trees.insert(package.to_owned(), looked);
        tree
    }
}

impl Looked {
    fn is_stale(&self) -> bool {
        self.seen
            .iter()
            .any(|(path, stamp)| Stamp::at(path) != *stamp)
    }
}

fn stamps(store: &TrustStore, lock_file: &Path) -> [Option<Stamp>; 2] {
    [Stamp::at(store.path()), Stamp::at(lock_file)]
}

fn pending(code: &'static str, skill: &Skill, message: String, yields: bool) -> Admission {
    Admission {
        pending: Some(Diagnostic {
            fix: Some("look at what it holds, then trust it".to_owned()),
            ..Diagnostic::about(code, &skill.path, message)
        }),
        yields,
        pins: None,
    }
}

/// How many changed files are named.
const MOST_NAMED: usize = 5;

fn differences(changes: &[Change]) -> String {
    let mut named: Vec<String> = changes
        .iter()
        .take(MOST_NAMED)
        .map(|change| format!("{} {}", change.kind.as_str(), change.path))
        .collect();
    if changes.len() > MOST_NAMED {
        named.push(format!("and {} more", changes.len() - MOST_NAMED));
    }
    named.join(", ")
}
