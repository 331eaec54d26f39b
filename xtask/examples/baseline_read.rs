//! Reads every file below a folder and nothing else: the floor for a program that lists skills.
#![expect(
    clippy::print_stdout,
    reason = "the count is what shows that the files were read"
)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("usage: baseline_read FOLDER"))?;
    let (mut files, mut bytes) = (0_usize, 0_usize);
    read_all(&folder, &mut files, &mut bytes)?;
    println!("{files} files, {bytes} bytes");
    Ok(())
}

fn read_all(folder: &Path, files: &mut usize, bytes: &mut usize) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            read_all(&entry.path(), files, bytes)?;
        } else {
            *bytes += fs::read(entry.path())?.len();
            *files += 1;
        }
    }
    Ok(())
}
