//! Loads that a user or program declares for a turn: all of them are checked before any happens.

use std::collections::BTreeSet;

use skill_core::state::{docs_key, loaded_key};
use skill_core::{SkillView, StateDelta, ViewedSkill};

use super::{State, apply, close, loaded, merge};
use crate::journal::OpenedRecord;

/// A skill that a turn begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillLoad {
    /// Its id or name, as a person says it.
    pub skill: String,
    /// Documents to show with it; none leaves an earlier selection as it is.
    pub docs: Vec<String>,
    /// Show every document.
    pub all_docs: bool,
}

impl SkillLoad {
    /// Returns the load of a skill without documents.
    pub fn new(skill: impl Into<String>) -> Self {
        Self {
            skill: skill.into(),
            ..Self::default()
        }
    }
}

/// A declared load that cannot be; none of its turn's loads happens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.describe())]
pub struct LoadError {
    /// The skill as it was named.
    pub skill: String,
    /// What is wrong.
    pub kind: LoadErrorKind,
}

/// What is wrong with a declared load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// No such skill for this principal.
    NotFound {
        /// Ids that look like it.
        nearest: Vec<String>,
    },
    /// The skill has no such document.
    NoDocument {
        /// The document.
        document: String,
        /// Those it has.
        available: Vec<String>,
    },
    /// It is declared twice, with different documents.
    Conflict,
    /// More skills are declared than may be open at once.
    TooMany {
        /// How many may be.
        most: usize,
    },
}

impl LoadError {
    fn new(skill: &str, kind: LoadErrorKind) -> Self {
        Self {
            skill: skill.to_owned(),
            kind,
        }
    }

    fn describe(&self) -> String {
        let skill = &self.skill;
        match &self.kind {
            LoadErrorKind::NotFound { nearest } if nearest.is_empty() => {
                format!("skill not found: {skill}")
            }
            LoadErrorKind::NotFound { nearest } => {
                format!(
                    "skill not found: {skill}; did you mean {}?",
                    nearest.join(", ")
                )
            }
            LoadErrorKind::NoDocument {
                document,
                available,
            } if available.is_empty() => {
                format!("no document `{document}` in skill `{skill}`; it has none")
            }
            LoadErrorKind::NoDocument {
                document,
                available,
            } => format!(
                "no document `{document}` in skill `{skill}`; available: {}",
                available.join(", ")
            ),
            LoadErrorKind::Conflict => {
                format!("skill `{skill}` is declared twice, with different documents")
            }
            LoadErrorKind::TooMany { most } => {
                format!("more than {most} skills are declared, with `{skill}` beyond the limit")
            }
        }
    }
}

/// Loads that were checked against a view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Declared {
    loads: Vec<(OpenedRecord, Option<String>)>,
}

impl Declared {
    /// Checks every load; equal ones count once.
    pub(crate) fn check(
        loads: &[SkillLoad],
        view: &SkillView,
        most: Option<usize>,
    ) -> Result<Self, LoadError> {
        let mut checked: Vec<(OpenedRecord, Option<String>)> = Vec::new();
        for load in loads {
            let name = load.skill.trim();
            let viewed = find(view, name)?;
            let docs = docs(load, view, viewed)?;
            let opened = OpenedRecord {
                id: viewed.skill.id.to_string(),
                version: viewed.skill.version.clone(),
                digest: viewed.skill.content_digest.clone(),
            };
            match checked.iter().find(|(known, _)| known.id == opened.id) {
                None => checked.push((opened, docs)),
                Some((_, known)) if *known == docs => {}
                Some(_) => return Err(LoadError::new(name, LoadErrorKind::Conflict)),
            }
            if let Some(most) = most.filter(|most| checked.len() > *most) {
                return Err(LoadError::new(name, LoadErrorKind::TooMany { most }));
            }
        }
        Ok(Self { loads: checked })
    }

    /// Returns what is opened, in order.
    pub(crate) fn opened(&self) -> Vec<OpenedRecord> {
        self.loads
            .iter()
            .map(|(opened, _)| opened.clone())
            .collect()
    }

    /// Returns the one change that begins a turn: what expires goes, what is declared comes.
    pub(crate) fn delta(
        &self,
        state: &State,
        agent: &str,
        expire: bool,
        most: Option<usize>,
    ) -> StateDelta {
        let (mut after, mut whole) = (state.clone(), StateDelta::default());
        let open = loaded(state, agent);
        if expire && !open.is_empty() {
            whole = close(state, agent, &open);
            merge(&mut after, &whole);
        }
        for (opened, docs) in &self.loads {
            let mut one = StateDelta::default();
            one.set(loaded_key(agent, &opened.id), "1");
            if let Some(docs) = docs {
                one.set(docs_key(agent, &opened.id), docs);
            }
            whole.0.extend(apply(&mut after, agent, &one, most).0);
        }
        whole
    }
}

fn find<'v>(view: &'v SkillView, name: &str) -> Result<&'v ViewedSkill, LoadError> {
    view.find_for_user(name).ok_or_else(|| {
        let nearest = view.nearest(name, 3).into_iter().map(str::to_owned);
        LoadError::new(
            name,
            LoadErrorKind::NotFound {
                nearest: nearest.collect(),
            },
        )
    })
}

/// Returns the selection as state holds it; `None` leaves what is there.
fn docs(
    load: &SkillLoad,
    view: &SkillView,
    viewed: &ViewedSkill,
) -> Result<Option<String>, LoadError> {
    let wanted: BTreeSet<&str> = load
        .docs
        .iter()
        .map(|doc| doc.trim())
        .filter(|doc| !doc.is_empty())
        .collect();
    if wanted.is_empty() {
        return Ok(load.all_docs.then(|| "*".to_owned()));
    }
    let available = view.docs(viewed);
    let missing = wanted
        .iter()
        .find(|doc| !available.iter().any(|known| known == *doc));
    match missing {
        Some(document) => Err(LoadError::new(
            load.skill.trim(),
            LoadErrorKind::NoDocument {
                document: (*document).to_owned(),
                available: available.clone(),
            },
        )),
        None if load.all_docs => Ok(Some("*".to_owned())),
        None => Ok(Some(serde_json::Value::from_iter(wanted).to_string())),
    }
}

/// Returns the skills that a task names as `/skill`, in order, each once.
///
/// Words at the beginning of the task that look like `/skill` have to name one: there they are
/// meant. Further on, and where a slash follows, a word that names no skill is text.
///
/// # Errors
///
/// [`LoadErrorKind::NotFound`] for a word that is meant and names no skill.
pub fn loads_in(text: &str, view: &SkillView) -> Result<Vec<SkillLoad>, LoadError> {
    let mut loads: Vec<SkillLoad> = Vec::new();
    let mut leading = true;
    for word in text.split_whitespace() {
        let Some(name) = word.strip_prefix('/').filter(|name| is_name(name)) else {
            leading = false;
            continue;
        };
        let found = find(view, name);
        let meant = leading && !name.contains('/');
        match found {
            Err(error) if meant => return Err(error),
            Err(_) => leading = false,
            Ok(_) if loads.iter().any(|load| load.skill == name) => {}
            Ok(_) => loads.push(SkillLoad::new(name)),
        }
    }
    Ok(loads)
}

fn is_name(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(char::is_alphanumeric) && !name.ends_with('/')
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
