//! A session store of your own: one file of lines a session, in an afternoon.
//!
//! A line is one write: a digest, a blank, and JSON. A line that a crash tore has a digest that does
//! not fit; it was never acknowledged, so it is left out when the file is read and cut off before the
//! next write. The contract's own suite checks it:
//!
//! ```sh
//! cargo run -p loop-runtime --features testing --example custom_store
//! ```

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use loop_runtime::{
    JournalEntry, Lease, SessionHeader, SessionRecord, SessionStore, SessionSummary, StoreError,
    StoreErrorKind,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Keeps each session in a file of a folder.
#[derive(Debug)]
pub(crate) struct LinesStore {
    folder: PathBuf,
}

/// What one line holds.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<SessionHeader>,
    events: Vec<JournalEntry>,
}

impl LinesStore {
    /// Opens the store in `folder`, which must exist.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Returns the file of a session.
    pub(crate) fn path(&self, session: &str) -> Result<PathBuf, StoreError> {
        // An id becomes the name of a file: nothing else may get into it.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if session.is_empty() || !session.chars().all(plain) {
            return Err(StoreError::not_found(session));
        }
        Ok(self.folder.join(format!("{session}.lines")))
    }

    /// Reads what is whole; returns it with the length of it in bytes.
    fn read(&self, session: &str) -> Result<(SessionRecord, u64), StoreError> {
        let mut text = Vec::new();
        match File::open(self.path(session)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::not_found(session));
            }
            file => file
                .and_then(|mut file| file.read_to_end(&mut text))
                .map_err(|error| failed(session, error))?,
        };
        let mut length = 0;
        let mut record: Option<SessionRecord> = None;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let Some(write) = decode(line) else { break };
            length += line.len() as u64;
            match (&mut record, write.header) {
                (Some(record), _) => record.entries.extend(write.events),
                (None, Some(header)) => {
                    record = Some(SessionRecord {
                        header,
                        entries: write.events,
                        damage: None,
                    });
                }
                (None, None) => break,
            }
        }
        let record = record.ok_or_else(|| StoreError::not_found(session))?;
        Ok((record, length))
    }

    fn write(&self, session: &str, after: u64, write: &Line) -> Result<(), StoreError> {
        let path = self.path(session)?;
        let line = encode(write).map_err(|error| failed(session, error))?;
        let written = || -> io::Result<()> {
            let mut file = File::options()
                .create(true)
                .write(true)
                .truncate(false)
                .open(&path)?;
            file.set_len(after)?;
            file.seek(SeekFrom::Start(after))?;
            let written = file.write_all(&line).and_then(|()| file.sync_all());
            if written.is_err() {
                // A write that failed did not happen; if even this fails, the digest says so.
                let _ = file.set_len(after);
            }
            written?;
            // A new name is on the disk when its folder is.
            File::open(&self.folder)?.sync_all()
        };
        written().map_err(|error| failed(session, error))
    }
}

#[async_trait]
impl SessionStore for LinesStore {
    async fn create(
        &self,
        header: &SessionHeader,
        events: &[JournalEntry],
    ) -> Result<(), StoreError> {
        let session = header.id.as_str();
        if self.read(session).is_ok() || !follow(events, 0) {
            return Err(StoreError::conflict(session));
        }
        let write = Line {
            header: Some(header.clone()),
            events: events.to_vec(),
        };
        self.write(session, 0, &write)
    }

    async fn append(&self, session: &str, events: &[JournalEntry]) -> Result<(), StoreError> {
        let (record, length) = self.read(session)?;
        if !follow(events, record.entries.len() as u64) {
            return Err(StoreError::conflict(session));
        }
        let write = Line {
            header: None,
            events: events.to_vec(),
        };
        self.write(session, length, &write)
    }

    async fn lease(&self, session: &str) -> Result<Lease, StoreError> {
        let path = self.path(session)?.with_extension("lock");
        let file = File::create(path).map_err(|error| failed(session, error))?;
        // The system frees the lock when the file is closed, however the process ends.
        match file.try_lock() {
            Ok(()) => Ok(Lease::new(file)),
            Err(fs::TryLockError::WouldBlock) => Err(StoreError::busy(session)),
            Err(fs::TryLockError::Error(error)) => Err(failed(session, error)),
        }
    }

    async fn load(&self, session: &str) -> Result<SessionRecord, StoreError> {
        Ok(self.read(session)?.0)
    }

    async fn list(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        let folder = fs::read_dir(&self.folder).map_err(|error| failed("*", error))?;
        let mut list = Vec::new();
        for path in folder.flatten().map(|entry| entry.path()) {
            let is_session = path
                .extension()
                .is_some_and(|extension| extension == "lines");
            let name = path.file_stem().and_then(|name| name.to_str());
            let (true, Some(name)) = (is_session, name) else {
                continue;
            };
            // A file whose first line was torn holds no session yet.
            if let Ok((record, _)) = self.read(name) {
                let last = record.entries.last();
                list.push(SessionSummary {
                    updated_ms: last.map_or(record.header.created_ms, |entry| entry.at_ms),
                    events: record.entries.len() as u64,
                    header: record.header,
                });
            }
        }
        list.sort_by(|one, other| {
            (other.updated_ms, &other.header.id).cmp(&(one.updated_ms, &one.header.id))
        });
        list.truncate(limit);
        Ok(list)
    }

    async fn delete(&self, session: &str) -> Result<(), StoreError> {
        self.read(session)?;
        let path = self.path(session)?;
        fs::remove_file(path)
            .and_then(|()| File::open(&self.folder)?.sync_all())
            .map_err(|error| failed(session, error))
    }
}

fn follow(events: &[JournalEntry], last: u64) -> bool {
    (last + 1..)
        .zip(events)
        .all(|(seq, entry)| entry.seq == seq)
}

fn encode(write: &Line) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(write)?;
    Ok(format!("{} {json}\n", digest(json.as_bytes())).into_bytes())
}

fn decode(line: &[u8]) -> Option<Line> {
    let line = line.strip_suffix(b"\n")?;
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (found, json) = (line.get(..space)?, line.get(space + 1..)?);
    if found != digest(json).as_bytes() {
        return None;
    }
    serde_json::from_slice(json).ok()
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failed(session: &str, error: io::Error) -> StoreError {
    StoreError {
        kind: StoreErrorKind::Io,
        message: format!("session `{session}` in a file of lines: {error}"),
        source: Some(Box::new(error)),
    }
}

#[cfg(not(test))]
#[expect(clippy::print_stdout, reason = "a program talks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("custom-store-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let kept = runtime.block_on(loop_runtime::testing::check_store(&LinesStore::new(
        &folder,
    )));
    fs::remove_dir_all(&folder)?;
    kept?;
    println!("the store keeps the contract");
    Ok(())
}
