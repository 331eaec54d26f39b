//! Digests: SHA-256 in lower-case hexadecimal, domain-separated, every part length-prefixed.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::skill::Skill;

/// A digest in the making.
///
/// Each part goes in with its length before it, so no two lists of parts run into one another.
pub(crate) struct Digester {
    hash: Sha256,
    /// Parts that were not hashed yet; most are short, and hashing has a price for each call.
    waiting: Vec<u8>,
}

/// A part of this length goes into the hash by itself.
const LONG: usize = 512;

impl Digester {
    /// Starts a digest that differs from those of every other `domain`.
    pub(crate) fn new(domain: &str) -> Self {
        let mut digester = Self {
            hash: Sha256::new(),
            waiting: Vec::with_capacity(2 * LONG),
        };
        digester.part(domain.as_bytes());
        digester
    }

    /// Adds one part.
    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.waiting
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        if bytes.len() < LONG {
            self.waiting.extend_from_slice(bytes);
        }
        if self.waiting.len() >= LONG || bytes.len() >= LONG {
            self.hash.update(&self.waiting);
            self.waiting.clear();
        }
        if bytes.len() >= LONG {
            self.hash.update(bytes);
        }
    }

    /// Returns the digest.
    pub(crate) fn finish(self) -> String {
        hexadecimal(&self.finish_bytes())
    }

    /// Returns the digest as bytes.
    pub(crate) fn finish_bytes(mut self) -> [u8; 32] {
        self.hash.update(&self.waiting);
        self.hash.finalize().into()
    }
}

/// Returns the plain SHA-256 of `bytes`, as `sha256sum` prints it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| {
        char::from(if value < 10 {
            b'0' + value
        } else {
            b'a' + value - 10
        })
    };
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Returns the digest of a skill's declared fields and body; its path, scope and time are no part
/// of it.
pub(crate) fn content_digest(skill: &Skill, body: &str) -> String {
    let mut digester = Digester::new("tekne skill content 1");
    for text in [skill.id.as_str(), &skill.name, &skill.description] {
        digester.part(text.as_bytes());
    }
    digester.part(skill.load.as_str().as_bytes());
    for text in [
        &skill.when_to_use,
        &skill.version,
        &skill.author,
        &skill.license,
        &skill.compatibility,
    ] {
        optional(&mut digester, text.as_deref());
    }
    for list in [
        &skill.groups,
        &skill.tags,
        &skill.roles,
        &skill.contexts,
        &skill.allowed_tools,
        &skill.disallowed_tools,
        &skill.paths,
    ] {
        strings(&mut digester, list);
    }
    match &skill.restrict_tools {
        Some(list) => strings(&mut digester, list),
        None => digester.part(b"-"),
    }
    digester.part(&[
        u8::from(skill.invocation.model),
        u8::from(skill.invocation.user),
        u8::from(skill.listed),
    ]);
    value(&mut digester, &skill.metadata);
    let mut keys: Vec<_> = skill.other.iter().collect();
    keys.sort_by_key(|(key, _)| *key);
    for (key, entry) in keys {
        digester.part(key.as_bytes());
        value(&mut digester, entry);
    }
    if let Some(declaration) = &skill.declaration {
        // It holds text, numbers and lists only, all of which JSON can write.
        let declared = serde_json::to_value(declaration).unwrap_or_default();
        value(&mut digester, &declared);
    }
    digester.part(body.as_bytes());
    digester.finish()
}

fn optional(digester: &mut Digester, text: Option<&str>) {
    match text {
        Some(text) => strings(digester, &[text]),
        None => digester.part(b"-"),
    }
}

fn strings(digester: &mut Digester, list: &[impl AsRef<str>]) {
    digester.part(&(list.len() as u64).to_le_bytes());
    for text in list {
        digester.part(text.as_ref().as_bytes());
    }
}

/// Adds a tree with its maps in the order of their keys.
fn value(digester: &mut Digester, tree: &Value) {
    match tree {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            digester.part(format!("map {}", keys.len()).as_bytes());
            for (key, entry) in keys {
                digester.part(key.as_bytes());
                value(digester, entry);
            }
        }
        Value::Array(list) => {
            digester.part(format!("list {}", list.len()).as_bytes());
            for entry in list {
                value(digester, entry);
            }
        }
        Value::String(text) => {
            digester.part(b"text");
            digester.part(text.as_bytes());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            digester.part(tree.to_string().as_bytes());
        }
    }
}
