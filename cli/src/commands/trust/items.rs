//! What of a project may act, as it is now: settings that loosen, skills that do more than say
//! something, links that leave it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skill_core::{
    CandidateReport, Change, ChangeKind, PackageTree, Scope, Skill, SkillFormat, Snapshot,
    TreeError, TreeFile, TreeFileKind, TrustItem, TrustKind, TrustStanding, TrustStore, changes,
};

use crate::config::Loaded;
use crate::render::diff::{unified, with_kind};
use crate::setup::{Project, is_pinned};

/// One thing, how it stands, and what it would do.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) item: TrustItem,
    /// What trust lets it do, one sentence each.
    pub(super) acts: Vec<String>,
    pub(super) state: State,
    /// What changed since it was trusted, each with its diff where both texts are known.
    pub(super) changes: Vec<(Change, Option<String>)>,
    /// The texts of its files that changed or are new, as they were when its digest was taken.
    texts: BTreeMap<String, String>,
}

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Trusted,
    Changed,
    Pending,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Pending => "pending",
        }
    }
}

/// Lists everything of the project that may act, in the order of kinds and paths.
///
/// # Errors
///
/// [`TreeError`] when a file changes while it is looked at, for then what is shown is not what
/// would be trusted.
pub(super) fn items(
    project: &Project,
    loaded: &Loaded,
    snapshot: &Snapshot,
) -> Result<Vec<Shown>, TreeError> {
    let mut shown: Vec<Shown> = config(project, loaded)?.into_iter().collect();
    let pinned = is_pinned(&loaded.config);
    for report in snapshot.reports() {
        shown.extend(match skill(project, report, snapshot, pinned)? {
            None => link(project, report)?,
            skill => skill,
        });
    }
    for link in followed_links(project) {
        shown.push(link?);
    }
    shown.sort_by(|left, right| {
        (left.item.kind, &left.item.path).cmp(&(right.item.kind, &right.item.path))
    });
    shown.dedup_by(|one, other| {
        (one.item.kind, &one.item.path) == (other.item.kind, &other.item.path)
    });
    Ok(shown)
}

fn config(project: &Project, loaded: &Loaded) -> Result<Option<Shown>, TreeError> {
    let file = loaded.project.as_ref();
    let Some(file) = file.filter(|file| !file.loosens.is_empty()) else {
        return Ok(None);
    };
    let Some(path) = project.relative(&file.path) else {
        return Ok(None);
    };
    let acts = file
        .loosens
        .iter()
        .map(|one| format!("sets `{}` to {} ({})", one.key, one.value, one.why));
    let item = TrustItem {
        kind: TrustKind::Config,
        path,
        digest: file.tree.digest.clone(),
        files: file.tree.files.clone(),
        target: None,
    };
    Shown::new(project, item, acts.collect(), &file.path).map(Some)
}

fn skill(
    project: &Project,
    report: &CandidateReport,
    snapshot: &Snapshot,
    pinned: bool,
) -> Result<Option<Shown>, TreeError> {
    let Some(skill) = report.skill.as_ref() else {
        return Ok(None);
    };
    let refused = report.diagnostics.iter().any(|one| one.is_error());
    if skill.scope != Scope::Project || refused {
        return Ok(None);
    }
    let place = skill.package_path();
    let tree = PackageTree::of_skill(skill, &project.root).ok();
    let (Some(path), Some(tree)) = (project.relative(place), tree) else {
        return Ok(None);
    };
    let mut acts = Vec::new();
    if pinned || report.pending {
        acts.push("its text is shown to models".to_owned());
    }
    acts.extend(name_it_takes(skill, snapshot));
    if !skill.allowed_tools.is_empty() {
        let tools = skill.allowed_tools.join(", ");
        acts.push(format!("asks to use without approval: {tools}"));
    }
    if skill.format == SkillFormat::Declared {
        acts.push("runs as a program".to_owned());
    }
    let scripts: Vec<&str> = scripts(&tree).collect();
    if !scripts.is_empty() {
        acts.push(format!("holds scripts: {}", scripts.join(", ")));
    }
    acts.extend(commands_in_text(skill, &tree)?);
    let known = project.trust.get(TrustKind::Skill, &path).is_some();
    if acts.is_empty() && !known {
        return Ok(None);
    }
    let item = TrustItem {
        kind: TrustKind::Skill,
        path,
        digest: tree.digest,
        files: tree.files,
        target: None,
    };
    Shown::new(project, item, acts, place).map(Some)
}

fn name_it_takes(skill: &Skill, snapshot: &Snapshot) -> Option<String> {
    let id = skill.id.as_str().to_lowercase();
    let mut others = snapshot.skills();
    let other = others.find(|other| {
        matches!(other.scope, Scope::User | Scope::Managed)
            && other.id.as_str().to_lowercase() == id
            && other.content_digest != skill.content_digest
    })?;
    let whose = other.scope.as_str();
    Some(format!(
        "takes the name `{}` from the {whose}'s skill",
        other.id
    ))
}

fn scripts(tree: &PackageTree) -> impl Iterator<Item = &str> {
    let files = tree.files.iter();
    files
        .filter(|(path, file)| {
            file.kind == TreeFileKind::Executable || path.starts_with("scripts/")
        })
        .map(|(path, _)| path.as_str())
}

/// Returns the lines of a skill that ask for a command to be run when it is opened.
fn commands_in_text(skill: &Skill, tree: &PackageTree) -> Result<Vec<String>, TreeError> {
    let name = skill.path.file_name().and_then(|name| name.to_str());
    let file = name.and_then(|name| tree.files.get(name));
    let text = file.map_or(Ok(None), |file| file.text(&skill.path))?;
    let lines = text.as_deref().unwrap_or_default().lines();
    let commands = lines
        .filter(|line| line.contains("!`"))
        .map(|line| format!("asks for a command when opened: {}", line.trim()));
    Ok(commands.take(5).collect())
}

/// Returns a link that is not followed because it leaves the project.
fn link(project: &Project, report: &CandidateReport) -> Result<Option<Shown>, TreeError> {
    let leaves = report.diagnostics.iter().any(|one| one.code == "SK061");
    let target = report.path.canonicalize().ok().filter(|_| leaves);
    // A declaration can name a file that lies outside; then it is no link, and trust mends nothing.
    let is_inside = |target: &PathBuf| {
        let top = project.root.canonicalize();
        top.is_ok_and(|top| target.starts_with(top))
    };
    let Some(target) = target.filter(|target| !is_inside(target)) else {
        return Ok(None);
    };
    let link = shown_link(project, &report.path, &target);
    link.transpose()
}

fn shown_link(project: &Project, path: &Path, target: &Path) -> Option<Result<Shown, TreeError>> {
    let item = link_item(project.relative(path)?, target);
    // A link is bound to where it leads, not to what lies there: that is not the project's.
    let acts = vec![format!(
        "leads out of the project to {}; whatever lies there is used, also when it changes",
        target.display()
    )];
    Some(Shown::new(project, item, acts, path))
}

/// Returns the links that were trusted and lead where they led then.
fn followed_links(project: &Project) -> Vec<Result<Shown, TreeError>> {
    let links = project.trusted_links().into_iter();
    links
        .filter_map(|(path, _)| {
            let target = path.canonicalize().ok()?;
            shown_link(project, &path, &target)
        })
        .collect()
}

/// A link is what the project holds; what lies behind it is not the project's to change.
fn link_item(path: String, target: &Path) -> TrustItem {
    let target = target.to_string_lossy().into_owned();
    TrustItem {
        kind: TrustKind::Link,
        path,
        digest: PackageTree::of_file("target", target.as_bytes()).digest,
        files: BTreeMap::new(),
        target: Some(target),
    }
}

/// Returns the texts among `files`, which lie at `place`: a folder, or the file itself.
pub(crate) fn texts(
    place: &Path,
    files: &BTreeMap<String, TreeFile>,
) -> Result<BTreeMap<String, String>, TreeError> {
    let mut texts = BTreeMap::new();
    for (name, file) in files {
        let path = if place.is_dir() {
            place.join(name)
        } else {
            place.to_owned()
        };
        if let Some(text) = file.text(&path)? {
            texts.insert(name.clone(), text);
        }
    }
    Ok(texts)
}

impl Shown {
    /// `place` is where its files lie: a folder, or the file itself.
    fn new(
        project: &Project,
        item: TrustItem,
        acts: Vec<String>,
        place: &Path,
    ) -> Result<Self, TreeError> {
        let mut shown = Self {
            acts,
            state: State::Pending,
            changes: Vec::new(),
            texts: BTreeMap::new(),
            item,
        };
        if project.trust.standing(&shown.item) != TrustStanding::Trusted {
            shown.texts = texts(place, &shown.item.files)?;
        }
        match project.trust.standing(&shown.item) {
            TrustStanding::Trusted => shown.state = State::Trusted,
            TrustStanding::Pending => {}
            TrustStanding::Changed(known) => {
                shown.state = State::Changed;
                let changes = changes(&known.files, &shown.item.files).into_iter();
                shown.changes = changes
                    .map(|change| {
                        let was = known.files.get(&change.path);
                        let before = was.map(|file| file.sha256.as_str());
                        let diff = shown.diff(&project.store, &change, before);
                        let diff = with_kind(was, shown.item.files.get(&change.path), diff);
                        (change, diff)
                    })
                    .collect();
            }
        }
        Ok(shown)
    }

    fn diff(&self, store: &TrustStore, change: &Change, before: Option<&str>) -> Option<String> {
        let before = match (change.kind, before) {
            (ChangeKind::Added, _) | (_, None) => String::new(),
            (_, Some(digest)) => store.text(digest)?,
        };
        let after = match change.kind {
            ChangeKind::Removed => String::new(),
            _ => self.texts.get(&change.path)?.clone(),
        };
        Some(unified(&change.path, &before, &after))
    }

    /// Keeps its texts, so that a later change can be shown.
    pub(super) fn keep_texts(&self, store: &TrustStore) -> Result<(), skill_core::TrustError> {
        for text in self.texts.values() {
            store.keep_text(text.as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let files: Vec<Value> = self
            .item
            .files
            .iter()
            .map(|(path, file)| {
                json!({"path": path, "kind": file.kind.as_str(), "bytes": file.bytes, "sha256": file.sha256})
            })
            .collect();
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|(change, diff)| {
                json!({"path": change.path, "change": change.kind.as_str(), "diff": diff})
            })
            .collect();
        json!({
            "kind": self.item.kind.as_str(),
            "path": self.item.path,
            "state": self.state.as_str(),
            "digest": self.item.digest,
            "target": self.item.target,
            "acts": self.acts,
            "files": files,
            "changes": changes,
        })
    }
}
