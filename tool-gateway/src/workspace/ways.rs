//! The ways by which a path leads to what it names: as written, and after each link on it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::workspace::{MAX_LINKS, Workspace};

impl Workspace {
    /// Returns every path below the root that leads to what `path` names, whether it exists or
    /// not; `.` means that the root itself lies in it.
    ///
    /// `path` is absolute, or relative to the root. It may lie outside and lead inside by a link.
    pub(crate) fn reached_as(&self, path: &Path) -> Vec<String> {
        let ways = ways(&self.path().join(path));
        let inside: BTreeSet<String> = ways.iter().filter_map(|way| self.below(way)).collect();
        inside.into_iter().collect()
    }

    /// Returns `path` relative to the root, or `.` where it is the root or holds it.
    fn below(&self, path: &Path) -> Option<String> {
        let roots = [self.path(), self.root.given.as_path()];
        if roots.iter().any(|root| root.starts_with(path)) {
            return Some(".".to_owned());
        }
        let below = roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
        names.map(|names| names.join("/"))
    }
}

/// Returns an absolute path as it is written, and again after each link on it was followed.
fn ways(path: &Path) -> Vec<PathBuf> {
    let mut ways = vec![lexical(path)];
    let mut done = PathBuf::new();
    let mut todo = Vec::new();
    push(&mut todo, path);
    while let Some(name) = todo.pop() {
        done = lexical(&done.join(&name));
        let Ok(target) = done.read_link() else {
            continue;
        };
        done.pop();
        push(&mut todo, &target);
        if target.is_absolute() {
            done = PathBuf::new();
        }
        let rest: PathBuf = todo.iter().rev().collect();
        ways.push(lexical(&done.join(rest)));
        if ways.len() > MAX_LINKS {
            break;
        }
    }
    ways
}

/// Pushes the parts of a path in reverse.
fn push(todo: &mut Vec<OsString>, path: &Path) {
    let parts: Vec<OsString> = path
        .components()
        .map(|part| part.as_os_str().to_owned())
        .collect();
    todo.extend(parts.into_iter().rev());
}

/// Takes `.` and `..` out of a path by its text.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_known_by_every_name_on_its_way() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("ws");
        std::fs::create_dir_all(root.join(".claude")).unwrap();
        std::fs::create_dir(root.join("shared")).unwrap();
        symlink("../middle", root.join(".claude/skills")).unwrap();
        symlink(root.join("shared"), root.join("middle")).unwrap();
        symlink("ws/shared/rc", base.path().join(".bashrc")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let ways = |path: &Path| workspace.reached_as(path);
        assert_eq!(
            ways(Path::new(".claude/skills/x")),
            [".claude/skills/x", "middle/x", "shared/x"]
        );
        assert_eq!(ways(&base.path().join(".bashrc")), ["shared/rc"]);
        assert_eq!(ways(&root.join("none/../new")), ["new"]);
        assert_eq!(ways(base.path()), ["."]);
        assert_eq!(ways(&base.path().join("other")), Vec::<String>::new());
    }

    #[test]
    fn a_loop_of_links_ends() {
        let base = tempfile::tempdir().unwrap();
        symlink("b", base.path().join("a")).unwrap();
        symlink("a", base.path().join("b")).unwrap();
        let workspace = Workspace::open(base.path()).unwrap();
        assert_eq!(workspace.reached_as(Path::new("a")), ["a", "b"]);
    }
}
