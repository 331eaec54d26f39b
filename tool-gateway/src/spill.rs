//! What is too long for a result: kept whole, by its digest, and read on a piece at a time.

use std::fmt;
use std::io;

use crate::digest::sha256_hex;
use crate::output::{NOTICE_BYTES, cut};

/// Where results that are too long are kept.
///
/// Methods may block; the gateway calls them on a thread that may.
pub trait Spill: Send + Sync + fmt::Debug {
    /// Keeps a text and returns the id by which it is read.
    fn keep(&self, text: &str) -> io::Result<String>;

    /// Returns a text that was kept, or `None` if there is none of this id.
    fn read(&self, id: &str) -> io::Result<Option<String>>;
}

/// How many hexadecimal digits of its digest name a text.
#[cfg(feature = "files")]
const ID_DIGITS: usize = 16;

/// Returns the beginning and the end of a text that is longer than `limit` bytes, and in between
/// how the rest is read.
pub(crate) fn shortened(text: &str, id: &str, limit: usize) -> String {
    let room = limit.saturating_sub(2 * NOTICE_BYTES);
    let head = cut(text, room - room / 4);
    let tail = end_of(text, room / 4);
    let (total, left) = (text.len(), text.len() - head.len() - tail.len());
    let digest = sha256_hex(text.as_bytes());
    let offset = head.len();
    format!(
        "{head}\n[{left} of {total} bytes are left out here; the whole is kept, sha256 {digest}; read_output {{\"id\": \"{id}\", \"offset\": {offset}}} reads on]\n{tail}"
    )
}

/// Returns the longest end of `text` of at most `limit` bytes that begins on a character.
fn end_of(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(feature = "files")]
pub use folder::FolderSpill;

#[cfg(feature = "files")]
mod folder {
    use std::io::{self, Write as _};
    use std::path::{Path, PathBuf};

    use super::{ID_DIGITS, Spill};
    use crate::digest::sha256_hex;

    /// How many texts are kept; of more the oldest go.
    const MAX_TEXTS: usize = 500;

    /// Keeps results in a folder that only its owner can look into.
    #[derive(Clone, Debug)]
    pub struct FolderSpill {
        folder: PathBuf,
    }

    impl FolderSpill {
        /// Returns the store in `folder`, which is made when something is kept.
        pub fn new(folder: impl Into<PathBuf>) -> Self {
            Self {
                folder: folder.into(),
            }
        }

        fn path(&self, id: &str) -> Option<PathBuf> {
            let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_id.then(|| self.folder.join(format!("{id}.txt")))
        }

        fn tidy(&self) -> io::Result<()> {
            let mut texts: Vec<_> = std::fs::read_dir(&self.folder)?
                .flatten()
                .filter(|entry| entry.path().extension().is_some_and(|end| end == "txt"))
                .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
                .collect();
            texts.sort();
            let over = texts.len().saturating_sub(MAX_TEXTS);
            for (_, path) in texts.into_iter().take(over) {
                std::fs::remove_file(path)?;
            }
            Ok(())
        }
    }

    impl Spill for FolderSpill {
        fn keep(&self, text: &str) -> io::Result<String> {
            let digest = sha256_hex(text.as_bytes());
            let id = digest.get(..ID_DIGITS).unwrap_or_default().to_owned();
            let Some(path) = self.path(&id) else {
                return Err(io::Error::other("no id"));
            };
            private_folder(&self.folder)?;
            if std::fs::read(&path).is_ok_and(|kept| kept == text.as_bytes()) {
                return Ok(id);
            }
            let beside = path.with_extension(format!("{}.new", std::process::id()));
            let mut file = private_file(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, &path)?;
            self.tidy()?;
            Ok(id)
        }

        fn read(&self, id: &str) -> io::Result<Option<String>> {
            let Some(path) = self.path(id) else {
                return Ok(None);
            };
            match std::fs::read_to_string(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some),
            }
        }
    }

    fn private_folder(path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.recursive(true).create(path)
    }

    fn private_file(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        options.open(path)
    }
}
