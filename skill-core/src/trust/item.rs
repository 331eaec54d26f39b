//! What can be trusted, and what was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::trust::tree::TreeFile;

/// What kind of thing of a project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustKind {
    /// A file of settings that may loosen something.
    Config,
    /// A skill's package: its text, its scripts, its wish for tools, the name it takes.
    Skill,
    /// A link that leaves the project.
    Link,
}

impl TrustKind {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Skill => "skill",
            Self::Link => "link",
        }
    }
}

/// One thing of a project as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustItem {
    /// What kind of thing it is.
    pub kind: TrustKind,
    /// Its path below the project's top folder, `/`-separated.
    pub path: String,
    /// The digest of its content.
    pub digest: String,
    /// The files it consists of.
    pub files: BTreeMap<String, TreeFile>,
    /// Where it leads, if it is a link.
    pub target: Option<String>,
}

/// One thing of a project as it was when it was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// What kind of thing it is.
    pub kind: TrustKind,
    /// Its path below the project's top folder.
    pub path: String,
    /// The digest of its content.
    pub digest: String,
    /// When it was trusted, in milliseconds since the epoch.
    pub at_ms: u64,
    /// The files it consisted of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, TreeFile>,
    /// Where it led.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// How a thing stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustStanding<'a> {
    /// It is trusted as it is.
    Trusted,
    /// It was trusted and is another now.
    Changed(&'a Trusted),
    /// Nobody has trusted it.
    Pending,
}

/// What is trusted of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectTrust {
    pub(super) items: Vec<Trusted>,
}

impl ProjectTrust {
    /// Returns everything that is trusted, in the order of kinds and paths.
    pub fn items(&self) -> &[Trusted] {
        &self.items
    }

    /// Returns what was trusted at `path`.
    pub fn get(&self, kind: TrustKind, path: &str) -> Option<&Trusted> {
        self.items
            .iter()
            .find(|item| item.kind == kind && item.path == path)
    }

    /// Tells whether the thing at `path` is trusted with exactly this content.
    pub fn holds(&self, kind: TrustKind, path: &str, digest: &str) -> bool {
        self.get(kind, path)
            .is_some_and(|item| item.digest == digest)
    }

    /// Returns how `item` stands.
    pub fn standing(&self, item: &TrustItem) -> TrustStanding<'_> {
        match self.get(item.kind, &item.path) {
            Some(known) if known.digest == item.digest => TrustStanding::Trusted,
            Some(known) => TrustStanding::Changed(known),
            None => TrustStanding::Pending,
        }
    }

    /// Adds items, each in the place of what was trusted at its path.
    pub(super) fn add(&mut self, items: &[TrustItem], at_ms: u64) {
        for item in items {
            self.items
                .retain(|known| (known.kind, &known.path) != (item.kind, &item.path));
            self.items.push(Trusted {
                kind: item.kind,
                path: item.path.clone(),
                digest: item.digest.clone(),
                at_ms,
                files: item.files.clone(),
                target: item.target.clone(),
            });
        }
        self.items
            .sort_by(|left, right| (left.kind, &left.path).cmp(&(right.kind, &right.path)));
    }
}
