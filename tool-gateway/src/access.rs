//! What a call touches: the capabilities that a policy judges and that keep parallel calls apart.

use std::fmt;

/// A path as a tool will use it, relative to the workspace root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathTarget {
    /// Below the root: `/`-separated, without `.` and `..`; the root itself is `.`.
    Inside(String),
    /// Not below the root, as it was written.
    Outside(String),
}

impl PathTarget {
    /// Normalises `path` by its text alone, for tools that have no [`crate::Workspace`].
    ///
    /// Absolute paths, drive letters and paths that climb above the root are outside. Links are
    /// not seen: what follows links must judge the path they lead to.
    pub fn lexical(path: &str) -> Self {
        let outside = || Self::Outside(path.to_owned());
        if path.starts_with(['/', '\\']) || path.contains('\0') || has_drive(path) {
            return outside();
        }
        let mut segments = Vec::new();
        for segment in path.split(['/', '\\']) {
            match segment {
                "" | "." => {}
                ".." if segments.pop().is_none() => return outside(),
                ".." => {}
                name => segments.push(name),
            }
        }
        Self::from_segments(&segments)
    }

    /// Joins segments that are known to be plain names.
    pub(crate) fn from_segments<S: AsRef<str>>(segments: &[S]) -> Self {
        if segments.is_empty() {
            return Self::Inside(".".to_owned());
        }
        let names: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
        Self::Inside(names.join("/"))
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Inside(path) | Self::Outside(path) => path,
        }
    }
}

fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && chars.next() == Some(':')
}

/// One capability that a call needs.
///
/// A call may need several; each is judged and the strictest verdict counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Reads a file, or a folder and what is below it.
    Read(PathTarget),
    /// Creates or changes a file.
    Write(PathTarget),
    /// Removes a file or folder.
    Delete(PathTarget),
    /// Runs a program: the argument vector, never a shell line.
    Run(Vec<String>),
    /// Sends an HTTP request.
    Http {
        /// The method, upper case.
        method: String,
        /// The host, lower case, with its port where one is given.
        host: String,
        /// The path with its leading `/`.
        path: String,
    },
    /// Calls a tool of an MCP server; the pair is its identity, never a joined name.
    Mcp {
        /// The server as configured.
        server: String,
        /// The tool at that server.
        tool: String,
    },
    /// Runs an executable skill.
    Skill(String),
    /// Lists or opens skills that the principal can see.
    OpenSkill,
    /// Reads on in a result of this session.
    Output,
    /// Starts a sub-agent, whose own calls are judged one by one.
    Delegate,
    /// Does what has declared that a person has to say yes each time; no rule says it for them.
    Confirm(String),
    /// Does something that is part of what another capability of the call allows: rules can only
    /// forbid it, or want somebody asked.
    Within(Box<Access>),
    /// Does something for which only a rule that names exactly this is enough.
    Exactly(Box<Access>),
    /// Calls a tool that declares nothing else, by name.
    Tool(String),
}

impl Access {
    /// Tells whether using it may change anything: running such a call twice would not be the same
    /// as running it once.
    pub fn has_effect(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::OpenSkill | Self::Output)
    }

    /// Returns the capability as part of what another one allows.
    #[must_use]
    pub fn within(self) -> Self {
        Self::Within(Box::new(self))
    }

    /// Returns the read capability for a path judged by its text.
    pub fn read(path: &str) -> Self {
        Self::Read(PathTarget::lexical(path))
    }

    /// Returns the write capability for a path judged by its text.
    pub fn write(path: &str) -> Self {
        Self::Write(PathTarget::lexical(path))
    }

    /// Returns the delete capability for a path judged by its text.
    pub fn delete(path: &str) -> Self {
        Self::Delete(PathTarget::lexical(path))
    }

    /// Tells whether two calls with these capabilities must not run at the same time.
    ///
    /// What can touch anything conflicts with everything, so an unknown effect runs alone.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        match (self.footprint(), other.footprint()) {
            (Footprint::Nothing, _) | (_, Footprint::Nothing) => false,
            (Footprint::Reads(_), Footprint::Reads(_)) => false,
            (Footprint::Anything, _) | (_, Footprint::Anything) => true,
            (
                Footprint::Reads(a) | Footprint::Writes(a),
                Footprint::Reads(b) | Footprint::Writes(b),
            ) => overlap(a, b),
        }
    }

    fn footprint(&self) -> Footprint<'_> {
        match self {
            Self::Read(target) => Footprint::Reads(target),
            Self::Write(target) | Self::Delete(target) => Footprint::Writes(target),
            // Skills may lie anywhere in the workspace.
            Self::OpenSkill | Self::Delegate => Footprint::Reads(&EVERYWHERE),
            Self::Output => Footprint::Nothing,
            _ => Footprint::Anything,
        }
    }
}

/// An outside path overlaps with every other path, so it stands for "somewhere".
static EVERYWHERE: PathTarget = PathTarget::Outside(String::new());

enum Footprint<'a> {
    Nothing,
    Reads(&'a PathTarget),
    Writes(&'a PathTarget),
    Anything,
}

/// Tells whether one path is the other or lies below it, on file systems that fold case too.
fn overlap(a: &PathTarget, b: &PathTarget) -> bool {
    let (PathTarget::Inside(a), PathTarget::Inside(b)) = (a, b) else {
        return true;
    };
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let below = |path: &str, root: &str| {
        root == "."
            || path
                .strip_prefix(root)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below(&a, &b) || below(&b, &a)
}

impl fmt::Display for Access {
    /// Writes the capability as a rule names it, such as `write(notes/a.md)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(target) => write!(formatter, "read({})", target.as_str()),
            Self::Write(target) => write!(formatter, "write({})", target.as_str()),
            Self::Delete(target) => write!(formatter, "delete({})", target.as_str()),
            Self::Run(argv) => write!(formatter, "run({})", argv.join(" ")),
            Self::Http { method, host, path } => write!(formatter, "http({method} {host}{path})"),
            Self::Mcp { server, tool } => write!(formatter, "mcp({server}:{tool})"),
            Self::Skill(id) => write!(formatter, "skill({id})"),
            Self::OpenSkill => formatter.write_str("open skills"),
            Self::Output => formatter.write_str("read results"),
            Self::Delegate => formatter.write_str("start a sub-agent"),
            Self::Confirm(name) => write!(formatter, "{name}, which asks each time"),
            Self::Within(access) | Self::Exactly(access) => access.fmt(formatter),
            Self::Tool(name) => write!(formatter, "tool({name})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_root_is_outside_however_it_is_written() {
        for path in [
            "..",
            "a/../..",
            "/etc/passwd",
            "\\\\host\\x",
            "C:\\x",
            "c:/x",
            "..\\x",
            "a\0b",
        ] {
            assert_eq!(
                PathTarget::lexical(path),
                PathTarget::Outside(path.to_owned()),
                "{path}"
            );
        }
        for (path, inside) in [
            ("", "."),
            ("./a//b/", "a/b"),
            ("a/../b", "b"),
            ("a\\b", "a/b"),
        ] {
            assert_eq!(
                PathTarget::lexical(path),
                PathTarget::Inside(inside.to_owned()),
                "{path}"
            );
        }
    }

    #[test]
    fn only_effects_that_touch_each_other_conflict() {
        let conflicts = |a: Access, b: Access| {
            assert_eq!(a.conflicts_with(&b), b.conflicts_with(&a), "{a} {b}");
            a.conflicts_with(&b)
        };
        assert!(!conflicts(Access::read("a"), Access::read("a")));
        assert!(!conflicts(Access::write("a"), Access::write("ab")));
        assert!(!conflicts(Access::OpenSkill, Access::read("a")));
        assert!(conflicts(Access::write("a"), Access::read("A/b")));
        assert!(conflicts(Access::read("."), Access::write("x/y")));
        assert!(conflicts(Access::delete("a"), Access::write("a/b")));
        assert!(conflicts(
            Access::OpenSkill,
            Access::write("skills/x/SKILL.md")
        ));
        assert!(conflicts(Access::Run(vec!["ls".into()]), Access::read("a")));
        assert!(conflicts(
            Access::Tool("a".into()),
            Access::Tool("b".into())
        ));
    }
}
