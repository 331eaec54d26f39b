//! Reads the layers from their files and makes one configuration of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use skill_core::PackageTree;

use super::check::check;
use super::document::parse;
use super::error::{ConfigError, Notice, printable};
use super::merge::{merge, origins};
use super::node::{Entry, Kind, Node};
use super::origin::{Layer, Origin, Origins, Step, spelled};
use super::project::{Loosening, restrict};
use super::read::read;
use super::schema::Config;

/// Keys that are read and checked, but that nothing in this version acts on.
const UNSUPPORTED: &[(&str, Option<&str>)] = &[
    ("mcp_servers.*", None),
    ("router", None),
    ("assistants.*.profile", Some("complete")),
    ("assistants.*.profile", Some("routed")),
];

/// Where the layers are; the caller has looked at the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// `/etc/tekne/config.yaml`.
    pub(crate) managed: Option<PathBuf>,
    /// `config.yaml` in the user's configuration folder.
    pub(crate) user: Option<PathBuf>,
    /// `.tekne/config.yaml` of the project.
    pub(crate) project: Option<PathBuf>,
    /// The file that `--config` names; this one must exist.
    pub(crate) file: Option<PathBuf>,
    /// What `~/` stands for.
    pub(crate) home: Option<PathBuf>,
    /// The digest of the project's file that the user trusts.
    pub(crate) trusted: Option<String>,
}

/// A value that a flag or the environment sets, above every file.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    /// The key, such as `limits.max_steps`.
    pub(crate) key: &'static str,
    pub(crate) value: Value,
    /// [`Origin::Flag`] or [`Origin::Environment`].
    pub(crate) origin: Origin,
}

/// A file of the configuration and whether it was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerFile {
    pub(crate) layer: Layer,
    pub(crate) path: PathBuf,
    pub(crate) found: bool,
}

/// The configuration of a run.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// What holds.
    pub(crate) config: Config,
    /// Where each value came from.
    pub(crate) origins: Origins,
    /// What was written and does not hold.
    pub(crate) notices: Vec<Notice>,
    /// Every file that was looked for, lowest first.
    pub(crate) files: Vec<LayerFile>,
    /// The project's file, if it is there.
    pub(crate) project: Option<ProjectFile>,
}

/// A project's file, as far as trust in it goes.
#[derive(Clone, Debug)]
pub(crate) struct ProjectFile {
    pub(crate) path: PathBuf,
    /// Its digest.
    pub(crate) tree: PackageTree,
    /// What of it has effect only if it is trusted.
    pub(crate) loosens: Vec<Loosening>,
}

/// Reads, checks and merges all layers.
pub(crate) fn load(places: &Places, overrides: &[Override]) -> Result<Loaded, ConfigError> {
    let mut files = Vec::new();
    let mut notices = Vec::new();
    let mut project = None;
    let mut merged = built_in();
    let layers = [
        (Layer::Managed, &places.managed),
        (Layer::User, &places.user),
        (Layer::Project, &places.project),
        (Layer::File, &places.file),
    ];
    for (layer, path) in layers {
        let Some(path) = path else { continue };
        let text = read(path, layer == Layer::File)?;
        files.push(LayerFile {
            layer,
            path: path.clone(),
            found: text.is_some(),
        });
        let Some(text) = text else { continue };
        let mut tree = parse(&text, layer, &Arc::from(path.as_path()))?.without_nulls();
        check(&tree)?;
        if layer == Layer::Project {
            let file = PackageTree::of_file("config.yaml", text.as_bytes());
            let trusted = places.trusted.as_ref() == Some(&file.digest);
            let restricted = restrict(tree, &merged, places.user.as_deref(), trusted);
            notices.extend(restricted.notices);
            tree = restricted.layer;
            project = Some(ProjectFile {
                path: path.clone(),
                tree: file,
                loosens: restricted.loosens,
            });
        }
        notices.extend(unsupported(&tree));
        absolute_roots(&mut tree, path, layer, places.home.as_deref());
        merged = merge([merged, tree]);
    }
    for over in overrides {
        let tree = nested(over);
        check(&tree)?;
        merged = merge([merged, tree]);
    }
    let config = check(&merged)?;
    let origins = origins(&merged);
    check_together(&config, &origins)?;
    Ok(Loaded {
        config,
        origins,
        notices,
        files,
        project,
    })
}

/// Returns what holds when nobody says anything; everything else has its default where it is used.
fn built_in() -> Node {
    let value = json!({"limits": {"max_steps": 50}, "trust": {"skills": "open"}});
    Node::from_json(value, &Origin::BuiltIn)
}

fn nested(over: &Override) -> Node {
    let value = over
        .key
        .rsplit('.')
        .fold(over.value.clone(), |value, key| json!({ key: value }));
    Node::from_json(value, &over.origin)
}

/// Makes the paths of skill roots absolute while it is known which file named them.
fn absolute_roots(tree: &mut Node, file: &Path, layer: Layer, home: Option<&Path>) {
    let folder = file.parent().unwrap_or(file);
    // A project's file stands in `.tekne/`; its paths start at the project.
    let base = if layer == Layer::Project {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    };
    let Some(skills) = entry_of(tree, "skills") else {
        return;
    };
    let Some(Node {
        kind: Kind::List(roots),
        ..
    }) = entry_of(skills, "roots")
    else {
        return;
    };
    for root in roots {
        if let Some(Node {
            kind: Kind::Text(path),
            ..
        }) = entry_of(root, "path")
        {
            let absolute = match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => base.join(path.as_str()),
            };
            *path = absolute.to_string_lossy().into_owned();
        }
    }
}

fn entry_of<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Kind::Map(entries) = &mut node.kind else {
        return None;
    };
    entries
        .iter_mut()
        .find(|entry| entry.key == key)
        .map(|entry| &mut entry.value)
}

/// Finds what a layer says about things that this version does not do.
fn unsupported(tree: &Node) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (pattern, value) in UNSUPPORTED {
        let keys: Vec<&str> = pattern.split('.').collect();
        find(tree, &keys, &mut Vec::new(), &mut |steps, entry| {
            if value.is_some_and(|value| entry.value.text() != Some(value)) {
                return;
            }
            let key = spelled(steps);
            let said = value.map(|value| format!(": {value}")).unwrap_or_default();
            notices.push(Notice {
                code: "config_unsupported",
                message: printable(&format!(
                    "`{key}{said}` has no effect: this version does not support it"
                )),
                key,
                origin: entry.origin.clone(),
                hint: "remove it until it is supported".to_owned(),
            });
        });
    }
    notices
}

/// Calls back for each entry that a pattern of keys leads to; `*` is any key.
fn find(node: &Node, keys: &[&str], steps: &mut Vec<Step>, found: &mut dyn FnMut(&[Step], &Entry)) {
    let Some((first, rest)) = keys.split_first() else {
        return;
    };
    for entry in node
        .entries()
        .iter()
        .filter(|entry| *first == "*" || entry.key == *first)
    {
        steps.push(Step::Key(entry.key.clone()));
        if rest.is_empty() {
            found(steps, entry);
        } else {
            find(&entry.value, rest, steps, found);
        }
        steps.pop();
    }
}

/// Checks values that are right alone and wrong together.
fn check_together(config: &Config, origins: &Origins) -> Result<(), ConfigError> {
    let context = &config.context;
    if let (Some(window), Some(reserve)) = (context.window, context.reserve_output)
        && reserve >= window.get()
    {
        let message = format!(
            "`context.reserve_output` ({reserve}) leaves nothing of `context.window` ({window})"
        );
        return Err(origins.error("context.reserve_output", message, None));
    }
    for (name, server) in &config.mcp_servers {
        let key = spelled(&[Step::Key("mcp_servers".to_owned()), Step::Key(name.clone())]);
        let message = match (&server.command, &server.url) {
            (None, None) => "has neither `command` nor `url`",
            (Some(_), Some(_)) => "has both `command` and `url`",
            _ => continue,
        };
        let hint = "a server is either started with `command` or reached at `url`";
        return Err(origins.error(&key, format!("`{key}` {message}"), Some(hint.to_owned())));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
