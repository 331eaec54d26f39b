//! The keys of a frontmatter with their text as written, for files that are no skills.

use std::path::Path;

use crate::safety;
use crate::skill::Diagnostic;
use crate::skill::decode::decode;
use crate::skill::document::{self, Document};
use crate::skill::fence::{self, FenceState};
use crate::skill::findings::Findings;
use crate::skill::keys::{key_line, normal};
use crate::skill::repair;

/// What a file says above its body.
#[derive(Debug)]
pub(crate) struct RawFields {
    /// Each key in its normal spelling, its text as a value, and its text as written.
    fields: Vec<(String, Option<String>, String)>,
    pub(crate) body: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl RawFields {
    /// Reads a file, whose frontmatter may be missing.
    pub(crate) fn read(bytes: &[u8], path: &Path) -> Self {
        let mut findings = Findings::default();
        let text = decode(bytes, &mut findings);
        let mut fences = Findings::default();
        let split = fence::split(&text, &mut fences);
        let (yaml, body) = match split.state {
            FenceState::Closed => (split.yaml, split.body),
            FenceState::Unclosed | FenceState::Missing => (None, &*text),
        };
        let document = yaml.map_or_else(Document::default, |yaml| {
            // What a glob of an editor looks like to YAML is no finding.
            let mut ignored = Findings::default();
            match document::whole(yaml) {
                Some(root) => document::from_root(root, yaml, split.yaml_line, &mut ignored),
                None => repair::by_key(yaml, split.yaml_line, &mut ignored),
            }
        });
        let raw = yaml.map(written).unwrap_or_default();
        let fields = raw.into_iter().map(|(key, raw)| {
            let field = document
                .fields
                .iter()
                .rfind(|field| normal(&field.key) == key.as_str());
            let value = field.and_then(|field| field.value.text());
            let value = value
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty());
            (key, value, raw)
        });
        let fields = fields.collect();
        safety::check(&text, 0, &mut findings);
        let body = body.trim_start_matches('\n').trim_end().to_owned();
        Self {
            fields,
            body,
            diagnostics: findings.into_list(path),
        }
    }

    /// Returns the value of `key`, given in its normal spelling, as text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let found = self.fields.iter().rfind(|(known, ..)| known == key)?;
        found.1.clone()
    }

    /// Returns what is written behind `key`; nothing where that is blank.
    pub(crate) fn raw(&self, key: &str) -> Option<&str> {
        let found = self.fields.iter().rfind(|(known, ..)| known == key)?;
        Some(found.2.as_str()).filter(|raw| !raw.is_empty())
    }
}

/// Returns each key with what is written on its line and on the indented ones below.
fn written(yaml: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in yaml.lines() {
        if let Some(key) = key_line(line) {
            fields.push((normal(key.key).into_owned(), key.rest.trim().to_owned()));
        } else if let Some((_, raw)) = fields.last_mut()
            && !line.trim().is_empty()
        {
            if !raw.is_empty() {
                raw.push('\n');
            }
            raw.push_str(line.trim());
        }
    }
    fields
}
