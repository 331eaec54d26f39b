//! The one record type of a skill, whatever form its file has.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::skill::{Declaration, Requirements, SkillId, fold};

/// The form a skill's file has.
///
/// The order is the precedence of equal ids within one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillFormat {
    /// A folder that holds a `SKILL.md`.
    Package,
    /// A `skill.yaml` with an implementation beside it.
    Declared,
    /// A `*.skill.md` file.
    Suffix,
    /// A plain `*.md` file in a root declared lite.
    Lite,
    /// Held by the program that embeds this crate.
    Memory,
    /// Compiled into this crate.
    Builtin,
}

impl SkillFormat {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Declared => "declared",
            Self::Suffix => "suffix",
            Self::Lite => "lite",
            Self::Memory => "memory",
            Self::Builtin => "builtin",
        }
    }

    /// Tells whether the folder of an entry file of this form belongs to the skill.
    pub fn has_folder(self) -> bool {
        matches!(self, Self::Package | Self::Declared)
    }
}

/// Whether a skill's body is always before the model or opened on demand.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum LoadMode {
    /// The body stands in every request.
    Always,
    /// The body is opened when needed.
    #[default]
    Lazy,
}

impl LoadMode {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Lazy => "lazy",
        }
    }
}

/// Whose skill it is; the order is the usual precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Named on the command line.
    Flag,
    /// The project's.
    Project,
    /// The user's.
    User,
    /// Named in the configuration.
    Config,
    /// The machine's administrator's.
    Managed,
    /// Compiled in.
    Builtin,
}

impl Scope {
    /// Every scope, in the usual precedence.
    pub(crate) const ALL: [Self; 6] = [
        Self::Flag,
        Self::Project,
        Self::User,
        Self::Config,
        Self::Managed,
        Self::Builtin,
    ];

    /// Returns the name used in output and in qualified ids.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Project => "project",
            Self::User => "user",
            Self::Config => "config",
            Self::Managed => "managed",
            Self::Builtin => "builtin",
        }
    }
}

/// Tells whether a text begins with a scope, in any case, as a qualified id does.
pub(crate) fn is_qualified(text: &str) -> bool {
    let scope = text.split_once('/').map(|(scope, _)| fold(scope));
    scope.is_some_and(|scope| Scope::ALL.iter().any(|known| known.as_str() == scope))
}

/// Who may start a skill, after every dialect's flags were merged, the most restrictive winning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// The model may list and open it.
    pub model: bool,
    /// A person may start it by name.
    pub user: bool,
}

impl Default for Invocation {
    fn default() -> Self {
        Self {
            model: true,
            user: true,
        }
    }
}

/// A skill's record: everything about it but its body, which is read when it is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// What it is opened by.
    pub id: SkillId,
    /// What it is called.
    pub name: String,
    /// Other names it answers to while nothing else has them, such as its folder's.
    pub aliases: Vec<String>,
    /// What it does and when to use it; empty where the file does not say.
    pub description: String,
    /// When to use it, where the file says that apart.
    pub when_to_use: Option<String>,
    /// The form of its file.
    pub format: SkillFormat,
    /// How it is loaded unless a principal prefers otherwise.
    pub load: LoadMode,
    /// Whose it is.
    pub scope: Scope,
    /// The entry file.
    pub path: PathBuf,
    /// Its version, as written.
    pub version: Option<String>,
    /// Its author, as written.
    pub author: Option<String>,
    /// The groups that may see it; empty means everyone.
    pub groups: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The roles that may use it; empty means everyone.
    pub roles: Vec<String>,
    /// The contexts it may be used in; empty means all.
    pub contexts: Vec<String>,
    /// Its licence, as written.
    pub license: Option<String>,
    /// What it needs to work, as written.
    pub compatibility: Option<String>,
    /// Tools it asks to use without approval; a wish, granted only where policy and trust allow.
    pub allowed_tools: Vec<String>,
    /// The only tools that may run while it is active; `None` sets no ceiling.
    pub restrict_tools: Option<Vec<String>>,
    /// Tools that must not run while it is active.
    pub disallowed_tools: Vec<String>,
    /// Globs of files; the skill is for work on one of them. Empty means any work.
    pub paths: Vec<String>,
    /// What it needs of the machine; most skills need nothing.
    pub requires: Option<Box<Requirements>>,
    /// Who may start it.
    pub invocation: Invocation,
    /// Whether the index may show it; an unlisted skill still opens by name.
    pub listed: bool,
    /// It is off until a principal's preference switches it on.
    pub opt_in: bool,
    /// What a `skill.yaml` declares to run.
    pub declaration: Option<Box<Declaration>>,
    /// Its `metadata`, as a tree; scalars keep their source text.
    pub metadata: Value,
    /// Every key this crate gives no meaning to, kept as it was read.
    pub other: Map<String, Value>,
    /// SHA-256 over its declared fields and its body, in lower-case hexadecimal.
    pub content_digest: String,
    /// The length of its body in bytes.
    pub body_bytes: u64,
}

impl Skill {
    /// Returns a lazy skill of the program's own, without body and digest.
    ///
    /// [`crate::MemorySource::add`] fills in what depends on the body.
    pub fn new(id: &str, description: impl Into<String>) -> Self {
        let id = SkillId::new(id);
        let (name, path) = (id.as_str().to_owned(), PathBuf::from(id.as_str()));
        Self::of(id, name, description.into(), path)
    }

    /// Returns the folder that belongs to the skill; one of a single file has none.
    pub fn folder(&self) -> Option<&Path> {
        self.path.parent().filter(|_| self.format.has_folder())
    }

    /// Returns everything that belongs to the skill: its folder, or its file where it has none.
    pub fn package_path(&self) -> &Path {
        self.folder().unwrap_or(&self.path)
    }

    /// Returns a record with nothing but what it is called and where it is.
    pub(crate) fn of(id: SkillId, name: String, description: String, path: PathBuf) -> Self {
        Self {
            name,
            path,
            id,
            aliases: Vec::new(),
            description,
            when_to_use: None,
            format: SkillFormat::Memory,
            load: LoadMode::Lazy,
            scope: Scope::Config,
            version: None,
            author: None,
            groups: Vec::new(),
            tags: Vec::new(),
            roles: Vec::new(),
            contexts: Vec::new(),
            license: None,
            compatibility: None,
            allowed_tools: Vec::new(),
            restrict_tools: None,
            disallowed_tools: Vec::new(),
            paths: Vec::new(),
            requires: None,
            invocation: Invocation::default(),
            listed: true,
            opt_in: false,
            declaration: None,
            metadata: Value::Null,
            other: Map::new(),
            content_digest: String::new(),
            body_bytes: 0,
        }
    }

    /// Returns the one line an index shows: description and when to use it, white space collapsed.
    pub fn summary(&self) -> String {
        let when = self.when_to_use.as_deref().unwrap_or_default();
        let mut words = self
            .description
            .split_whitespace()
            .chain(when.split_whitespace());
        let mut line = words.next().unwrap_or_default().to_owned();
        for word in words {
            line.push(' ');
            line.push_str(word);
        }
        line
    }

    /// Returns the id that holds whatever shadows the bare one: `user/pdf`.
    pub fn qualified_id(&self) -> SkillId {
        SkillId::new(&format!("{}/{}", self.scope.as_str(), self.id))
    }
}
