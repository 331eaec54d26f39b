//! What is at a path before it is written.

use std::io::Read;

use cap_std::fs::Metadata;
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::workspace::Workspace;

/// The longest file that is compared for the preview; a longer one is shown as its new text.
const MAX_DIFF_BYTES: usize = 512 * 1024;

/// How much of a file is read for its digest; of a longer one, length and time count too.
const MAX_DIGEST_BYTES: u64 = 64 * 1024 * 1024;

/// What is at a path, and a digest of it.
#[derive(Debug)]
pub(in crate::builtin) struct Present {
    pub(in crate::builtin) state: State,
    /// Another one for every other content.
    pub(in crate::builtin) basis: String,
}

#[derive(Debug)]
pub(in crate::builtin) enum State {
    Absent,
    Text(String),
    /// Too long to compare, or not readable.
    Unknown,
}

impl Present {
    /// Looks at a resolved path.
    pub(in crate::builtin) fn at(workspace: &Workspace, resolved: &str) -> Self {
        match workspace.look(resolved) {
            Ok(None) => Self {
                state: State::Absent,
                basis: "absent".to_owned(),
            },
            Ok(Some(found)) => Self::read(workspace, resolved, &found)
                .unwrap_or_else(|| Self::unread(&outside_of(&found))),
            Err(_) => Self::unread("unknown"),
        }
    }

    fn unread(basis: &str) -> Self {
        Self {
            state: State::Unknown,
            basis: basis.to_owned(),
        }
    }

    fn read(workspace: &Workspace, resolved: &str, found: &Metadata) -> Option<Self> {
        let mut file = workspace.open_file(resolved).ok()?.take(MAX_DIGEST_BYTES);
        let (mut hash, mut start) = (Sha256::new(), Vec::new());
        let mut length: u64 = 0;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = file.read(&mut buffer).ok()?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            hash.update(bytes);
            length += read as u64;
            if start.len() <= MAX_DIFF_BYTES {
                start.extend_from_slice(bytes);
            }
        }
        let mut basis = hex(&hash.finalize());
        if length == MAX_DIGEST_BYTES {
            basis.push_str(&outside_of(found));
        }
        let state = if start.len() <= MAX_DIFF_BYTES {
            State::Text(String::from_utf8_lossy(&start).into_owned())
        } else {
            State::Unknown
        };
        Some(Self { state, basis })
    }
}

/// Returns what can be told of a file without reading it.
fn outside_of(found: &Metadata) -> String {
    format!(" {} {:?}", found.len(), found.modified().ok())
}
