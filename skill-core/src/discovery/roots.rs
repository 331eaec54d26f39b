//! Which folders hold skills, in the order of precedence.

use std::path::{Path, PathBuf};

use crate::skill::Scope;

/// A folder that holds skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder, or a single skill file.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Plain `*.md` files in it are skills too.
    pub lite: bool,
    /// Folders with a `SKILL.md` in it are skills; off for a project's `skills` folder, which
    /// takes the suffix and declared forms only.
    pub packages: bool,
    /// Its skills may take a bare name from a user or managed skill, and its links may leave
    /// [`Root::boundary`].
    pub trusted: bool,
    /// The folder that links must not leave while the root is not trusted; `None` for no bound.
    pub boundary: Option<PathBuf>,
    /// Links that may leave the boundary, each with the place it may lead to.
    pub trusted_links: Vec<(PathBuf, PathBuf)>,
}

impl Root {
    /// Returns a root of the usual kind; a project's is not trusted.
    pub fn new(path: impl Into<PathBuf>, scope: Scope) -> Self {
        Self {
            path: path.into(),
            scope,
            lite: false,
            packages: true,
            trusted: scope != Scope::Project,
            boundary: None,
            trusted_links: Vec::new(),
        }
    }
}

/// The places of a machine and of a project that the usual roots follow from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The working folder.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder of the user's configuration of this program.
    pub config: Option<PathBuf>,
    /// The folder of the machine's administrator.
    pub managed: Option<PathBuf>,
    /// The project is trusted.
    pub trusted: bool,
    /// A user's skill takes a name before a project's.
    pub user_first: bool,
    /// What marks a project's top folder; empty means `.git`, as a folder or a file.
    pub markers: Vec<String>,
}

/// Folders of a project, or of a home, that hold packages.
const CLIENTS: [&str; 3] = [".tekne/skills", ".agents/skills", ".claude/skills"];

/// Returns the top folder of the project around [`Places::cwd`]: the nearest folder upwards with a
/// marker, else the nearest with a `.tekne` folder, else the working folder. The home folder and
/// what is above it are no project.
pub fn project_root(places: &Places) -> Option<PathBuf> {
    let home = places.home.as_deref();
    if home.is_some_and(|home| home.starts_with(&places.cwd)) {
        return None;
    }
    let marked = |folder: &&Path| {
        let has = |marker: &str| folder.join(marker).symlink_metadata().is_ok();
        if places.markers.is_empty() {
            has(".git")
        } else {
            places.markers.iter().any(|marker| has(marker))
        }
    };
    let below_home = |folder: &&Path| home.is_none_or(|home| !home.starts_with(folder));
    let folders = || places.cwd.ancestors().take_while(below_home);
    let ours = |folder: &&Path| folder.join(".tekne").is_dir();
    let top = folders().find(marked).or_else(|| folders().find(ours));
    Some(top.unwrap_or(&places.cwd).to_owned())
}

/// Returns the usual roots, highest precedence first; they need not exist.
///
/// The project's come before the user's, unless [`Places::user_first`] says otherwise, and both
/// before the managed ones; roots named on the command line
/// belong before all of them, roots named in the configuration before the managed one.
pub fn standard_roots(places: &Places) -> Vec<Root> {
    let mut project = Vec::new();
    if let Some(top) = project_root(places) {
        project_roots(places, &top, &mut project);
    }
    let user = user_roots(places);
    let (mut roots, rest) = if places.user_first {
        (user, project)
    } else {
        (project, user)
    };
    roots.extend(rest);
    if let Some(managed) = &places.managed {
        roots.push(Root::new(managed.join("skills"), Scope::Managed));
    }
    roots
}

fn user_roots(places: &Places) -> Vec<Root> {
    let mut roots = Vec::new();
    if let Some(config) = &places.config {
        roots.push(Root::new(config.join("skills"), Scope::User));
    }
    if let Some(home) = &places.home {
        roots.extend(CLIENTS.map(|client| Root::new(home.join(client), Scope::User)));
    }
    roots
}

fn project_roots(places: &Places, top: &Path, roots: &mut Vec<Root>) {
    let root = |path: PathBuf| Root {
        trusted: places.trusted,
        boundary: Some(top.to_owned()),
        ..Root::new(path, Scope::Project)
    };
    for folder in places.cwd.ancestors() {
        roots.extend(CLIENTS.iter().map(|client| root(folder.join(client))));
        if folder == top {
            break;
        }
    }
    roots.push(Root {
        packages: false,
        ..root(top.join("skills"))
    });
    roots.push(Root {
        lite: true,
        ..root(top.join("YOLO/skills"))
    });
}
