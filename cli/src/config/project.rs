//! What a project's file may say: it comes with the project, so it can only tighten.
//!
//! Whatever would loosen a rule, start a program or choose an address is left out, with a notice,
//! unless the user trusts the file as it is.

use std::path::{Component, Path};

use serde_json::Value;

use super::error::{Notice, printable};
use super::node::{Entry, Kind, Node};
use super::origin::{Origin, Step, spelled};
use tool_gateway::Effect;

use super::schema::{PolicyRule, WallTime};

/// The part of a project's layer that has effect, and what was left out of it.
pub(super) struct Restricted {
    pub(super) layer: Node,
    pub(super) notices: Vec<Notice>,
    pub(super) loosens: Vec<Loosening>,
}

/// A setting that has effect only if its file is trusted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loosening {
    /// The key, such as `tools.policy[0]`.
    pub(crate) key: String,
    /// What it would be.
    pub(crate) value: Value,
    /// Why it needs trust.
    pub(crate) why: &'static str,
}

/// Leaves out of a project's layer what it may not say, given the layers below it.
///
/// `trusted` says that the user trusts the file as it is; then only what no project may ever say
/// is left out.
pub(super) fn restrict(
    project: Node,
    below: &Node,
    user_file: Option<&Path>,
    trusted: bool,
) -> Restricted {
    let mut judge = Judge {
        below,
        user_file,
        trusted,
        notices: Vec::new(),
        loosens: Vec::new(),
        steps: Vec::new(),
    };
    let layer = judge.node(project);
    Restricted {
        layer,
        notices: judge.notices,
        loosens: judge.loosens,
    }
}

struct Judge<'a> {
    below: &'a Node,
    user_file: Option<&'a Path>,
    trusted: bool,
    notices: Vec<Notice>,
    loosens: Vec<Loosening>,
    steps: Vec<Step>,
}

/// What becomes of a value.
enum Verdict {
    Keep,
    /// Look at what is inside.
    Descend,
    /// It has effect only if the file is trusted.
    Ignore(&'static str),
    /// No project decides this, trusted or not.
    Never(&'static str),
}

const RAISES: &str = "a project can't raise a limit";
const WIDENS: &str = "a project can't widen what an assistant may do or see";

impl Judge<'_> {
    fn node(&mut self, node: Node) -> Node {
        let kind = match node.kind {
            Kind::Map(entries) => Kind::Map(
                entries
                    .into_iter()
                    .filter_map(|entry| self.entry(entry))
                    .collect(),
            ),
            Kind::List(items) => {
                let items = items.into_iter().enumerate();
                Kind::List(
                    items
                        .filter_map(|(index, item)| self.item(index, item))
                        .collect(),
                )
            }
            leaf => leaf,
        };
        Node {
            kind,
            origin: node.origin,
        }
    }

    fn entry(&mut self, entry: Entry) -> Option<Entry> {
        self.steps.push(Step::Key(entry.key.clone()));
        let value = self.value(entry.value, &entry.origin);
        self.steps.pop();
        Some(Entry {
            value: value?,
            ..entry
        })
    }

    fn item(&mut self, index: usize, item: Node) -> Option<Node> {
        self.steps.push(Step::Index(index));
        let origin = item.origin.clone();
        let item = self.value(item, &origin);
        self.steps.pop();
        item
    }

    fn value(&mut self, node: Node, origin: &Origin) -> Option<Node> {
        match self.verdict(&node) {
            Verdict::Keep => Some(self.as_the_projects(node)),
            Verdict::Descend => {
                let was_empty = is_empty(&node);
                // A key that lost all it held says nothing, so it is not shown as said.
                Some(self.node(node)).filter(|left| was_empty || !is_empty(left))
            }
            Verdict::Ignore(why) => {
                self.loosens.push(Loosening {
                    key: spelled(&self.steps),
                    value: node.to_json(),
                    why,
                });
                if self.trusted {
                    return Some(self.as_the_projects(node));
                }
                self.notice(why, &node, origin, true);
                None
            }
            Verdict::Never(why) => {
                self.notice(why, &node, origin, false);
                None
            }
        }
    }

    /// Says of a folder of skills that a project's file names whose it is: left out, the scope would
    /// be that of the user's own list, which nobody holds back.
    fn as_the_projects(&self, mut node: Node) -> Node {
        let of_roots = matches!(
            self.steps.as_slice(),
            [Step::Key(skills), Step::Key(roots), Step::Index(_)] if skills == "skills" && roots == "roots"
        );
        let is_said = node
            .get("scope")
            .is_some_and(|scope| scope.kind != Kind::Null);
        if let Kind::Map(entries) = &mut node.kind
            && of_roots
            && !is_said
        {
            entries.retain(|entry| entry.key != "scope");
            entries.push(Entry {
                key: "scope".to_owned(),
                origin: node.origin.clone(),
                value: Node {
                    kind: Kind::Text("project".to_owned()),
                    origin: node.origin.clone(),
                },
            });
        }
        node
    }

    /// Every key of the configuration has its line here; one that is forgotten is ignored.
    fn verdict(&self, node: &Node) -> Verdict {
        let keys: Vec<&str> = self
            .steps
            .iter()
            .map(|step| {
                if let Step::Key(key) = step {
                    key.as_str()
                } else {
                    "[]"
                }
            })
            .collect();
        match keys.as_slice() {
            ["model"] | ["router", ..] => Verdict::Keep,
            ["providers"] => Verdict::Descend,
            ["providers", _] => Verdict::Ignore("a project can't choose an address"),
            ["mcp_servers"] => Verdict::Descend,
            ["mcp_servers", _] => Verdict::Ignore("a project can't start a program"),

            ["skills"] => Verdict::Descend,
            ["skills", "disabled" | "exclude" | "name_only"] => Verdict::Keep,
            ["skills", "include"] => self.only_if_new("a project can't replace your list"),
            ["skills", "prefer"] => keep_if(
                node.text() == Some("user"),
                "a project can't put its skills before yours",
            ),
            ["skills", "roots"] => Verdict::Descend,
            ["skills", "roots", "[]"] => root(node),

            ["tools"] => Verdict::Descend,
            // Merging narrows.
            ["tools", "allow"] => Verdict::Keep,
            ["tools", "policy"] => Verdict::Descend,
            ["tools", "policy", "[]"] => keep_if(!allows(node), "a project can't allow anything"),

            ["limits"] | ["context"] | ["context", "caps"] => Verdict::Descend,
            ["limits", _] | ["context", "window"] | ["context", "caps", _] => {
                keep_if(self.is_no_higher(node), RAISES)
            }
            ["context", "reserve_output" | "recall"] => Verdict::Keep,
            ["trust"] => Verdict::Descend,
            ["trust", "skills"] if node.text() == Some("pinned") => Verdict::Keep,
            ["trust", "skills"] => Verdict::Never("a project can't open what it holds"),
            ["assistants"] | ["assistants", _] => Verdict::Descend,
            ["assistants", _, rest @ ..] => self.assistant(rest, node),
            _ => Verdict::Never("a project has no say in it"),
        }
    }

    fn assistant(&self, keys: &[&str], node: &Node) -> Verdict {
        match keys {
            // Merging narrows `tools`; the others say how it works, not what it may do.
            ["tools" | "model" | "preset" | "system" | "residency" | "placement"] => Verdict::Keep,
            ["profile"] => self.only_if_new(WIDENS),
            ["groups" | "roles"] => Verdict::Ignore(WIDENS),
            ["skills"] | ["skills", _] | ["budget"] => Verdict::Descend,
            ["skills", _, "load"] => Verdict::Keep,
            ["skills", _, "enabled"] => {
                let disabled = self
                    .lower()
                    .is_some_and(|lower| lower.kind == Kind::Bool(false));
                keep_if(!disabled || node.kind == Kind::Bool(false), WIDENS)
            }
            ["max_loaded"] | ["budget", _] => keep_if(self.is_no_higher(node), RAISES),
            _ => Verdict::Never("a project has no say in it"),
        }
    }

    /// Returns what the layers below say under the key at hand.
    fn lower(&self) -> Option<&Node> {
        self.steps
            .iter()
            .try_fold(self.below, |node, step| match step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.items().get(*index),
            })
    }

    fn only_if_new(&self, why: &'static str) -> Verdict {
        keep_if(self.lower().is_none(), why)
    }

    fn is_no_higher(&self, node: &Node) -> bool {
        let Some(lower) = self.lower() else {
            return true;
        };
        match (amount(node), amount(lower)) {
            (Some(amount), Some(lower)) => amount <= lower,
            _ => false,
        }
    }

    fn notice(&mut self, why: &'static str, node: &Node, origin: &Origin, trust_helps: bool) {
        let key = spelled(&self.steps);
        let now = self
            .lower()
            .filter(|lower| amount(lower).is_some())
            .map(|lower| {
                let value = lower.to_json().to_string();
                format!(
                    " (it stays {}, from {})",
                    value.trim_matches('"'),
                    lower.origin
                )
            });
        let value = match &node.kind {
            Kind::List(_) | Kind::Map(_) => String::new(),
            _ => format!(": {}", node.to_json().to_string().trim_matches('"')),
        };
        let message = format!(
            "`{key}{value}` is ignored: {why}{}",
            now.as_deref().unwrap_or_default()
        );
        let user_file = self
            .user_file
            .map_or("your own configuration".to_owned(), |path| {
                path.display().to_string()
            });
        self.notices.push(Notice {
            code: "config_ignored",
            key,
            origin: origin.clone(),
            message: printable(&message),
            hint: if trust_helps {
                format!("to have it, look at it with `tekne trust`, or write it to {user_file}")
            } else {
                format!("to have it, write it to {user_file}")
            },
        });
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.kind {
        Kind::Map(entries) => entries.is_empty(),
        Kind::List(items) => items.is_empty(),
        _ => false,
    }
}

fn keep_if(allowed: bool, why: &'static str) -> Verdict {
    if allowed {
        Verdict::Keep
    } else {
        Verdict::Ignore(why)
    }
}

fn allows(rule: &Node) -> bool {
    let rule = rule.text().and_then(|text| text.parse::<PolicyRule>().ok());
    rule.is_none_or(|rule| rule.rule().effect() == Effect::Allow)
}

/// A project may add folders of its own, under its own name.
fn root(node: &Node) -> Verdict {
    let scope = node.get("scope").and_then(Node::text).unwrap_or("project");
    if scope != "project" {
        return Verdict::Never("a project's skills have the scope `project`");
    }
    let path = Path::new(node.get("path").and_then(Node::text).unwrap_or_default());
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let at_home = path.starts_with("~");
    keep_if(
        path.components().all(inside) && !at_home,
        "a project can't bring in a folder outside of it",
    )
}

/// Returns a limit as a number: an amount, or the seconds of a time.
fn amount(node: &Node) -> Option<f64> {
    match &node.kind {
        Kind::Number(number) => number.as_f64(),
        Kind::Text(text) => text
            .parse::<WallTime>()
            .ok()
            .map(|time| time.duration().as_secs_f64()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
