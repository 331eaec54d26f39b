//! The policy that another dialect keeps in a file of its own: `agents/openai.yaml`.

use std::path::PathBuf;

use crate::skill::findings::Findings;
use crate::skill::yaml::{self, Kind, Node};

/// Where the file lies below the folder of a skill.
pub(crate) const PATH: &str = "agents/openai.yaml";

/// The folder of that file.
pub(crate) const FOLDER: &str = "agents";

/// The file as it was read.
#[derive(Debug)]
pub(crate) struct Companion {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its bytes; `None` where it is there and could not be read.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Tells whether the model may use the skill, as far as `companion` has a say.
///
/// It restricts: what cannot be read hides the skill from the model.
pub(crate) fn allows_model(companion: &Companion, findings: &mut Findings) -> bool {
    let text = companion
        .bytes
        .as_deref()
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    let said = text.map_or(Err(None), implicit);
    said.unwrap_or_else(|place| {
        let message =
            format!("`{PATH}` restricts and could not be read; the model does not see the skill");
        findings.add("SK101", place, message).about(&companion.path);
        false
    })
}

/// Returns `policy.allow_implicit_invocation`, true where it is not there; else where it is broken.
fn implicit(text: &str) -> Result<bool, Option<(u32, u32)>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = yaml::parse(text).map_err(|error| Some((error.line, error.column)))?;
    let Some(root) = root.filter(|root| !root.is_null()) else {
        return Ok(true);
    };
    let Some(policy) = get(&root, "policy")? else {
        return Ok(true);
    };
    if policy.is_null() {
        return Ok(true);
    }
    let Some(allowed) = get(policy, "allow_implicit_invocation")? else {
        return Ok(true);
    };
    let word = allowed.text().map(|text| text.trim().to_ascii_lowercase());
    match word.as_deref() {
        Some("true" | "yes" | "on") => Ok(true),
        Some("false" | "no" | "off") => Ok(false),
        _ => Err(Some((allowed.line, allowed.column))),
    }
}

/// Returns the value of `key` in a map; two that are one too many, like what is no map, are broken.
fn get<'n>(node: &'n Node<'n>, key: &str) -> Result<Option<&'n Node<'n>>, Option<(u32, u32)>> {
    let Kind::Map { pairs } = &node.kind else {
        return Err(Some((node.line, node.column)));
    };
    // A merge or a key behind an alias may be that key.
    let is_plain = |key: &Node<'_>| matches!(&key.kind, Kind::Scalar { text, .. } if text != "<<");
    if let Some((key, _)) = pairs.iter().find(|(key, _)| !is_plain(key)) {
        return Err(Some((key.line, key.column)));
    }
    let is_key = |node: &Node<'_>| matches!(&node.kind, Kind::Scalar { text, .. } if text == key);
    let mut found = pairs.iter().filter(|(known, _)| is_key(known));
    match (found.next(), found.next()) {
        (first, None) => Ok(first.map(|(_, value)| value)),
        (_, Some((key, _))) => Err(Some((key.line, key.column))),
    }
}
