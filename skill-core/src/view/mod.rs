//! The one visibility rule, and the only way to list, find, open and suggest skills.

mod findings;
mod machine;
mod nearest;
mod principal;

use std::io;
use std::sync::Arc;

pub use {
    findings::IndexCut,
    machine::Machine,
    principal::{Principal, SkillPreference},
};

use crate::catalog::{Snapshot, Standing, resolve};
use crate::digest::Digester;
use crate::skill::{Diagnostic, LoadMode, Skill, fold, is_qualified as names_a_scope};
use crate::source::{OpenedSkill, Resource};

/// A skill as a principal sees it.
#[derive(Clone, Debug)]
pub struct ViewedSkill {
    /// The record; its id is unique within the view.
    pub skill: Arc<Skill>,
    /// How it is loaded for this principal.
    pub load: LoadMode,
    /// The index may show it.
    pub listed: bool,
    /// The index shows its name without the description.
    pub name_only: bool,
    /// The model may use it; else only a person may start it.
    for_model: bool,
    /// It answers to its exact id only.
    exact_only: bool,
    /// The position of its entry in the snapshot.
    entry: usize,
}

impl ViewedSkill {
    /// Returns the one line the index shows beside the name; empty where only the name is shown.
    pub fn summary(&self) -> String {
        if self.name_only {
            String::new()
        } else {
            self.skill.summary()
        }
    }
}

/// What a caller can do about an [`OpenError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// No such skill in this view, or no such file below it.
    NotFound,
    /// The file is not the one the view was made from; take a new view.
    Changed,
    /// The file is broken now and what it held before is nowhere any more; it has to be mended.
    Broken,
    /// The path leads out of the skill's folder.
    Outside,
    /// The file could not be read.
    Unreadable,
}

/// A skill, or a file of one, that could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.describe())]
pub struct OpenError {
    /// The id of the skill.
    pub skill: String,
    /// The file below its folder, if one was asked for.
    pub file: Option<String>,
    /// What the caller can do.
    pub kind: OpenErrorKind,
    /// The cause.
    #[source]
    pub source: Option<io::Error>,
}

impl OpenError {
    fn describe(&self) -> String {
        let what = match &self.file {
            Some(file) => format!("file `{file}` of skill `{}`", self.skill),
            None => format!("skill `{}`", self.skill),
        };
        match self.kind {
            OpenErrorKind::NotFound => format!("{what} not found"),
            OpenErrorKind::Changed => format!("{what} has changed since it was listed"),
            OpenErrorKind::Broken => {
                format!("{what} has a broken file, and what that held before was never opened")
            }
            OpenErrorKind::Outside => format!("{what} lies outside the folder of the skill"),
            OpenErrorKind::Unreadable => format!("{what} cannot be read"),
        }
    }
}

/// What one principal may see of one snapshot.
///
/// A skill that is hidden is missing: nothing here tells the two apart.
#[derive(Clone, Debug)]
pub struct SkillView {
    snapshot: Arc<Snapshot>,
    visible: Arc<[ViewedSkill]>,
    user_only: Arc<[ViewedSkill]>,
    digest: Arc<str>,
}

impl SkillView {
    pub(crate) fn new(snapshot: Arc<Snapshot>, principal: &Principal) -> Self {
        let (mut visible, mut user_only) = (Vec::new(), Vec::new());
        for viewed in look(&snapshot, principal) {
            if viewed.for_model {
                visible.push(viewed);
            } else if viewed.skill.invocation.user {
                user_only.push(viewed);
            }
        }
        visible.sort_by(order);
        user_only.sort_by(order);
        let digest = digest(&visible);
        Self {
            snapshot,
            visible: visible.into(),
            user_only: user_only.into(),
            digest: digest.into(),
        }
    }

    /// Returns the snapshot this view is pinned to.
    ///
    /// For the operator only: it holds what the principal must not see.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Returns every skill the model may open, always-first, then by id; those unlisted included.
    pub fn skills(&self) -> &[ViewedSkill] {
        &self.visible
    }

    /// Returns the skills that only a person may start, by id.
    pub fn user_only(&self) -> &[ViewedSkill] {
        &self.user_only
    }

    /// Returns how many skills the model may open.
    pub fn len(&self) -> usize {
        self.visible.len()
    }

    /// Tells whether the model may open none.
    pub fn is_empty(&self) -> bool {
        self.visible.is_empty()
    }

    /// Returns the digest of what the model may open: ids, versions, contents, modes.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the skill that `id` or `name` means: by exact id, bare or qualified (`user/pdf`), else
    /// by exact name, else by the only id or name that is equal but for case and composition, else
    /// by the only alias.
    ///
    /// Given both, they must mean the same skill.
    pub fn find(&self, id: Option<&str>, name: Option<&str>) -> Option<&ViewedSkill> {
        match (id, name) {
            (Some(id), Some(name)) => {
                let found = lookup(&self.visible, id)?;
                let named = lookup(&self.visible, name)?;
                (found.entry == named.entry).then_some(found)
            }
            (Some(text), None) | (None, Some(text)) => lookup(&self.visible, text),
            (None, None) => None,
        }
    }

    /// Returns the skill that a person means by `name`, among those a person may start.
    pub fn find_for_user(&self, name: &str) -> Option<&ViewedSkill> {
        let found = lookup(&self.visible, name).or_else(|| lookup(&self.user_only, name))?;
        found.skill.invocation.user.then_some(found)
    }

    /// Reads the body of `skill` as it is now, and holds it against what the view was made from.
    ///
    /// While a file is broken, the body it held before is served: from the file if it still stands
    /// there, else from memory if it was opened lately.
    pub fn open(&self, skill: &ViewedSkill) -> Result<OpenedSkill, OpenError> {
        let entry = self.entry(skill)?;
        let pinned = &entry.skill.content_digest;
        let bodies = self.snapshot.bodies();
        let opened = entry.source.open(&entry.skill, self.snapshot.limits());
        match opened {
            Ok(opened) if opened.content_digest == *pinned => {
                bodies.remember(&opened);
                Ok(opened)
            }
            _ if entry.kept => bodies
                .recall(pinned)
                .ok_or_else(|| error(skill, None, OpenErrorKind::Broken)),
            Ok(_) => Err(error(skill, None, OpenErrorKind::Changed)),
            Err(source) => Err(failed(skill, None, source)),
        }
    }

    /// Returns the documents below the folder of `skill`: its `.md` and `.txt` files, sorted.
    pub fn docs(&self, skill: &ViewedSkill) -> Vec<String> {
        let mut files = self.files(skill).0;
        files.retain(|file| is_document(file));
        files
    }

    /// Returns every file below the folder of `skill`, and what was found wrong with them.
    pub fn files(&self, skill: &ViewedSkill) -> (Vec<String>, Vec<Diagnostic>) {
        self.entry(skill).map_or_else(
            |_| (Vec::new(), Vec::new()),
            |entry| entry.source.files(&entry.skill, self.snapshot.limits()),
        )
    }

    /// Reads a document of `skill`, one that [`SkillView::docs`] names.
    pub fn doc(&self, skill: &ViewedSkill, relative: &str) -> Result<String, OpenError> {
        if !is_document(relative) {
            return Err(error(skill, Some(relative), OpenErrorKind::NotFound));
        }
        let resource = self.resource(skill, relative)?;
        Ok(String::from_utf8_lossy(&resource.bytes).into_owned())
    }

    /// Reads any file below the folder of `skill`.
    pub fn resource(&self, skill: &ViewedSkill, relative: &str) -> Result<Resource, OpenError> {
        let entry = self.entry(skill)?;
        let resource = entry
            .source
            .read_file(&entry.skill, relative, self.snapshot.limits())
            .map_err(|source| failed(skill, Some(relative), source))?;
        match &entry.pins {
            Some(pins) if !pins.holds(&entry.skill, relative, &resource) => {
                Err(error(skill, Some(relative), OpenErrorKind::Changed))
            }
            _ => Ok(resource),
        }
    }

    /// Returns at most `limit` ids of skills the model may open that look like `wanted`, nearest
    /// first.
    pub fn nearest(&self, wanted: &str, limit: usize) -> Vec<&str> {
        let ids = self.visible.iter().map(|viewed| viewed.skill.id.as_str());
        nearest::nearest(ids, wanted, limit)
    }

    /// Returns the entry behind a skill of this view; one of another view is not found.
    fn entry(&self, skill: &ViewedSkill) -> Result<&crate::catalog::Entry, OpenError> {
        let own = |known: &&ViewedSkill| {
            known.entry == skill.entry && Arc::ptr_eq(&known.skill, &skill.skill)
        };
        let known = self.visible.iter().chain(&*self.user_only).find(own);
        known
            .and_then(|known| self.snapshot.entries().get(known.entry))
            .map(AsRef::as_ref)
            .ok_or_else(|| error(skill, None, OpenErrorKind::NotFound))
    }
}

/// Returns what `principal` may see, before the model's and the user's part are told apart.
fn look(snapshot: &Snapshot, principal: &Principal) -> Vec<ViewedSkill> {
    let entries = snapshot.entries();
    let rule = principal.rule();
    let allows = |entry: &crate::catalog::Entry| !entry.pending && rule.allows(&entry.skill);
    let allowed = |at: &usize| entries.get(*at).is_some_and(|entry| allows(entry));
    let contested = snapshot.contested();
    let chosen: Vec<usize> = contested.iter().copied().filter(allowed).collect();
    let standings = resolve(entries, &chosen);
    let mut standings = chosen.into_iter().zip(standings).peekable();
    let mut taken = std::collections::BTreeSet::new();
    let mut viewed = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let standing = match standings.next_if(|(chosen, _)| *chosen == at) {
            Some((_, standing)) => standing,
            None if contested.binary_search(&at).is_ok() || !allows(entry) => continue,
            None => Standing::Holds,
        };
        let (skill, exact_only) = match standing {
            Standing::Holds => (Arc::clone(&entry.skill), false),
            Standing::CaseClash(_) => (Arc::clone(&entry.skill), true),
            Standing::Shadowed(_) => (qualified(&entry.skill), true),
            Standing::SameFile(_) | Standing::Copy(_) => continue,
        };
        if exact_only && !taken.insert(skill.id.clone()) {
            continue;
        }
        viewed.push(ViewedSkill {
            load: if exact_only {
                rule.load_exact(&entry.skill)
            } else {
                rule.load(&entry.skill)
            },
            listed: entry.skill.listed && !exact_only,
            name_only: rule.is_name_only(&entry.skill),
            for_model: rule.allows_model(&entry.skill),
            skill,
            exact_only,
            entry: at,
        });
    }
    viewed
}

/// Returns the record of a shadowed skill under the id that remains to it.
fn qualified(skill: &Skill) -> Arc<Skill> {
    Arc::new(Skill {
        id: skill.qualified_id(),
        ..skill.clone()
    })
}

fn order(left: &ViewedSkill, right: &ViewedSkill) -> std::cmp::Ordering {
    (left.load, &left.skill.id).cmp(&(right.load, &right.skill.id))
}

fn lookup<'a>(skills: &'a [ViewedSkill], wanted: &str) -> Option<&'a ViewedSkill> {
    if let Some(found) = skills.iter().find(|one| one.skill.id.as_str() == wanted) {
        return Some(found);
    }
    let open = || skills.iter().filter(|one| !one.exact_only);
    // The qualified id is an id of every skill; one that was shadowed has no other.
    if let Some(found) = open().find(|one| is_qualified(&one.skill, wanted)) {
        return Some(found);
    }
    let folded = fold(wanted);
    if names_a_scope(&folded) {
        // It says whose skill it means, so no name that happens to be spelled so is meant.
        return only(open().filter(|one| is_qualified_folded(&one.skill, &folded)));
    }
    only(open().filter(|one| one.skill.name == wanted)).or_else(|| {
        let alias =
            |one: &&ViewedSkill| one.skill.aliases.iter().any(|alias| fold(alias) == folded);
        let mut called = open()
            .filter(|one| answers_to(&one.skill, &folded))
            .peekable();
        if called.peek().is_some() {
            return only(called);
        }
        only(open().filter(alias))
    })
}

fn is_qualified(skill: &Skill, wanted: &str) -> bool {
    let scope = wanted.strip_prefix(skill.scope.as_str());
    scope.and_then(|rest| rest.strip_prefix('/')) == Some(skill.id.as_str())
}

fn is_qualified_folded(skill: &Skill, folded: &str) -> bool {
    let qualified = folded.split_once('/');
    qualified == Some((skill.scope.as_str(), &*fold(skill.id.as_str())))
}

fn answers_to(skill: &Skill, folded: &str) -> bool {
    fold(skill.id.as_str()) == folded || fold(&skill.name) == folded
}

fn only<'a>(mut found: impl Iterator<Item = &'a ViewedSkill>) -> Option<&'a ViewedSkill> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn is_document(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("txt")
    })
}

fn digest(visible: &[ViewedSkill]) -> String {
    let mut sorted: Vec<_> = visible.iter().collect();
    sorted.sort_by(|left, right| left.skill.id.cmp(&right.skill.id));
    let mut digester = Digester::new("tekne skill view 2");
    for viewed in sorted {
        // The digest of the content is over the version too.
        digester.part(viewed.skill.id.as_str().as_bytes());
        digester.part(viewed.skill.content_digest.as_bytes());
        let load = u8::from(viewed.load == LoadMode::Always);
        digester.part(&[load, u8::from(viewed.listed), u8::from(viewed.name_only)]);
    }
    digester.finish()
}

fn error(skill: &ViewedSkill, file: Option<&str>, kind: OpenErrorKind) -> OpenError {
    OpenError {
        skill: skill.skill.id.as_str().to_owned(),
        file: file.map(str::to_owned),
        kind,
        source: None,
    }
}

fn failed(skill: &ViewedSkill, file: Option<&str>, source: io::Error) -> OpenError {
    let kind = match source.kind() {
        io::ErrorKind::NotFound if file.is_none() => OpenErrorKind::Changed,
        io::ErrorKind::NotFound => OpenErrorKind::NotFound,
        io::ErrorKind::PermissionDenied if file.is_some() => OpenErrorKind::Outside,
        _ => OpenErrorKind::Unreadable,
    };
    OpenError {
        source: Some(source),
        ..error(skill, file, kind)
    }
}

#[cfg(test)]
mod tests;
