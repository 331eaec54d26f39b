//! Which program an argument vector means, and what of it an approval is bound to.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::digest::{hex, sha256_hex};
use crate::process::Launch;
use crate::workspace::Workspace;

/// How many files an approval is bound to.
const MAX_FILES: usize = 64;

/// How much of a file counts; of a longer one its length does too.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Returns the file that runs for the first word of an argument vector.
///
/// A word with a `/` is a path from `cwd`; another one is looked for in the search path, leaving
/// out folders in which anybody, or the model, may put a program.
pub(crate) fn find_program(
    word: &str,
    cwd: &Path,
    workspace: &Path,
    launch: &Launch,
) -> io::Result<PathBuf> {
    if word.contains('/') {
        let path = cwd.join(word);
        return if is_program(&path) {
            Ok(path)
        } else {
            Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no program at `{word}`"),
            ))
        };
    }
    let folders = launch.search_path.iter();
    folders
        .filter(|folder| folder.is_absolute() && !folder.starts_with(workspace))
        .filter(|folder| !is_open_to_all(folder))
        .map(|folder| folder.join(word))
        .find(|path| is_program(path))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no program named `{word}`"),
            )
        })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(unix)]
fn is_open_to_all(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    folder
        .metadata()
        .is_ok_and(|found| found.permissions().mode() & 0o002 != 0)
}

/// What an approval of a program is bound to: the folder it runs in, the bytes of the program, and
/// the bytes of every file of the workspace that its arguments name.
pub(crate) struct Bound {
    text: String,
}

impl Bound {
    /// Looks at a program that runs in the folder `cwd` of `workspace`.
    pub(crate) fn of(
        program: &Path,
        arguments: &[String],
        cwd: &str,
        workspace: &Workspace,
    ) -> io::Result<Self> {
        let folder = workspace.open_folder(cwd).map_err(io::Error::other)?;
        let mut text = format!(
            "cwd {cwd} {:?}\nprogram {} {}",
            identity(&folder)?,
            program.display(),
            file_digest(std::fs::File::open(program)?)?
        );
        for argument in arguments.iter().take(MAX_FILES) {
            // An option may carry its file with it: `--script=build.sh`.
            let named = argument
                .rsplit_once('=')
                .map_or(argument.as_str(), |(_, file)| file);
            for word in [argument.as_str(), named] {
                if let Some(digest) = digest_in(workspace, cwd, word) {
                    text.push_str(&format!("\n{word} {digest}"));
                    break;
                }
            }
        }
        Ok(Self { text })
    }

    /// Returns a digest of all of it.
    pub(crate) fn basis(&self) -> String {
        sha256_hex(self.text.as_bytes())
    }
}

/// Returns the digest of a file of the workspace that is named from `cwd`.
fn digest_in(workspace: &Workspace, cwd: &str, word: &str) -> Option<String> {
    if word.is_empty() || word.starts_with('-') {
        return None;
    }
    let path = if Path::new(word).is_absolute() || cwd == "." {
        word.to_owned()
    } else {
        format!("{cwd}/{word}")
    };
    let resolved = workspace.resolve(&path).ok()?;
    let file = workspace.open_file(&resolved).ok()?;
    file_digest(file.into_std()).ok()
}

fn file_digest(file: std::fs::File) -> io::Result<String> {
    let length = file.metadata()?.len();
    let mut hash = Sha256::new();
    let mut file = file.take(MAX_FILE_BYTES);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(bytes) if !bytes.is_empty() => hash.update(bytes),
            _ => break,
        }
    }
    Ok(format!("{length} {}", hex(&hash.finalize())))
}

fn identity(folder: &cap_std::fs::Dir) -> io::Result<(u64, u64)> {
    use cap_std::fs::MetadataExt as _;
    let found = folder.dir_metadata()?;
    Ok((found.dev(), found.ino()))
}
