//! The file that remembers what was trusted, and the texts that a later difference is shown from.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::discovery::read_whole;
use crate::trust::item::{ProjectTrust, TrustItem};
use crate::trust::tree::LONGEST_TEXT;

/// The version of the file.
const VERSION: u32 = 1;

/// The most bytes the file may have.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Remembers what was trusted of which project, in one JSON file; only its owner writes it.
///
/// Beside the file, in `approved/`, the trusted texts themselves are kept by their digest.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

/// Trust that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("trust file {}: {problem}", path.display())]
pub struct TrustError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
    /// The cause.
    #[source]
    pub source: Option<io::Error>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    v: u32,
    projects: BTreeMap<String, ProjectTrust>,
}

impl TrustStore {
    /// Returns the store in the file at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what is trusted of the project whose top folder is `project`.
    ///
    /// # Errors
    ///
    /// [`TrustError`] when the file is damaged or of a later version. Then nothing is trusted.
    pub fn project(&self, project: &Path) -> Result<ProjectTrust, TrustError> {
        let mut document = self.read()?;
        let trust = document.projects.remove(&key(project));
        Ok(trust.unwrap_or_default())
    }

    /// Trusts `items` of a project as they are; what was trusted otherwise of it stays.
    ///
    /// # Errors
    ///
    /// [`TrustError`] when the file cannot be read or written; then nothing changed.
    pub fn grant(&self, project: &Path, items: &[TrustItem], at_ms: u64) -> Result<(), TrustError> {
        self.update(|document| {
            let trust = document.projects.entry(key(project)).or_default();
            trust.add(items, at_ms);
        })
    }

    /// Forgets everything that was trusted of a project; returns how many things that were.
    ///
    /// # Errors
    ///
    /// As [`TrustStore::grant`].
    pub fn revoke(&self, project: &Path) -> Result<usize, TrustError> {
        let mut count = 0;
        self.update(|document| {
            let trust = document.projects.remove(&key(project));
            count = trust.map_or(0, |trust| trust.items.len());
        })?;
        Ok(count)
    }

    /// Keeps a text, so that a later one can be held against it. A long one, and what is no text,
    /// is not kept.
    ///
    /// # Errors
    ///
    /// [`TrustError`] when it cannot be written.
    pub fn keep_text(&self, bytes: &[u8]) -> Result<(), TrustError> {
        if bytes.len() as u64 > LONGEST_TEXT || std::str::from_utf8(bytes).is_err() {
            return Ok(());
        }
        let path = self.text_path(&sha256(bytes));
        if path.exists() {
            return Ok(());
        }
        write_whole(&path, bytes).map_err(|error| self.failed("a text cannot be kept", error))
    }

    /// Returns the text with this SHA-256, if it was kept and is still that text.
    pub fn text(&self, digest: &str) -> Option<String> {
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = is_digest.then(|| read_whole(&self.text_path(digest), LONGEST_TEXT).ok())??;
        (sha256(&bytes) == digest).then(|| String::from_utf8(bytes).ok())?
    }

    fn text_path(&self, digest: &str) -> PathBuf {
        self.path.with_file_name("approved").join(digest)
    }

    fn read(&self) -> Result<Document, TrustError> {
        let bytes = match read_whole(&self.path, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Document {
                    v: VERSION,
                    ..Document::default()
                });
            }
            Err(error) => return Err(self.failed("it cannot be read", error)),
        };
        let document: Document = serde_json::from_slice(&bytes)
            .map_err(|error| self.failed("it is damaged", error.into()))?;
        if document.v != VERSION {
            return Err(TrustError {
                path: self.path.clone(),
                problem: format!(
                    "it has version {}, this program knows {VERSION}",
                    document.v
                ),
                source: None,
            });
        }
        Ok(document)
    }

    /// Changes the file: one writer at a time, and a reader sees the old one or the new one.
    fn update(&self, change: impl FnOnce(&mut Document)) -> Result<(), TrustError> {
        let locked =
            lock_beside(&self.path).map_err(|error| self.failed("it cannot be locked", error))?;
        let mut document = self.read()?;
        change(&mut document);
        let written = serde_json::to_vec_pretty(&document)
            .map_err(io::Error::from)
            .and_then(|bytes| write_whole(&self.path, &bytes));
        drop(locked);
        written.map_err(|error| self.failed("it cannot be written", error))
    }

    fn failed(&self, problem: &str, source: io::Error) -> TrustError {
        TrustError {
            path: self.path.clone(),
            problem: problem.to_owned(),
            source: Some(source),
        }
    }
}

fn key(project: &Path) -> String {
    project.to_string_lossy().into_owned()
}

/// Writes a file so that it is there whole or not at all, also after a crash.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = beside(path);
    let written = File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt only gets tidied up.
        let _ = fs::remove_file(&beside);
    }
    written?;
    sync_folder(folder)
}

/// Waits until no other process changes what lies at `path`, and keeps others waiting until the
/// file returned is dropped.
pub(crate) fn lock_beside(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Of a pipe in its place nobody waits for the reader.
        let flags = rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path.with_extension("lock"))?;
    if !file.metadata()?.is_file() {
        let message = "the lock beside it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    file.lock()?;
    Ok(file)
}

/// Makes the names in `folder` durable, where the platform can.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// Returns a name beside `path` that no other writer uses.
pub(crate) fn beside(path: &Path) -> PathBuf {
    use std::hash::{BuildHasher as _, Hasher as _};
    let number = std::hash::RandomState::new().build_hasher().finish();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{number:016x}.new"));
    path.with_file_name(name)
}
