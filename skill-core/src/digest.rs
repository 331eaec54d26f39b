//! Digests: SHA-256 in lower-case hexadecimal, domain-separated, every part length-prefixed.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::skill::Skill;

/// A digest in the making.
///
/// Each part goes in with its length before it, so no two lists of parts run into one another.
pub(crate) struct Digester {
    hash: Sha256,
    /// Parts that were not hashed yet; most are short, and hashing has a price for each call. They
    /// lie on the stack, because an allocator tidies up whenever it is asked for this much.
    waiting: [u8; WAITING],
    /// How much of it is filled.
    filled: usize,
}

/// How many bytes wait before they are hashed.
const WAITING: usize = 1024;

impl Digester {
    /// Starts a digest that differs from those of every other `domain`.
    pub(crate) fn new(domain: &str) -> Self {
        let mut digester = Self {
            hash: Sha256::new(),
            waiting: [0; WAITING],
            filled: 0,
        };
        digester.part(domain.as_bytes());
        digester
    }

    /// Adds one part.
    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.add(&(bytes.len() as u64).to_le_bytes());
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        if let Some(room) = self.waiting.get_mut(self.filled..end) {
            room.copy_from_slice(bytes);
            self.filled = end;
            return;
        }
        self.flush();
        match self.waiting.get_mut(..bytes.len()) {
            Some(room) if bytes.len() < WAITING / 2 => {
                room.copy_from_slice(bytes);
                self.filled = bytes.len();
            }
            _ => self.hash.update(bytes),
        }
    }

    fn flush(&mut self) {
        let waiting = self.waiting.get(..self.filled).unwrap_or_default();
        self.hash.update(waiting);
        self.filled = 0;
    }

    /// Returns the digest.
    pub(crate) fn finish(self) -> String {
        hexadecimal(&self.finish_bytes())
    }

    /// Returns the digest as bytes.
    pub(crate) fn finish_bytes(mut self) -> [u8; 32] {
        self.flush();
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
