//! `golden [--check]`: rewrites or checks the golden prompts, and finds those that nobody uses.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::cargo::{cargo, root, succeed};

/// Where the golden cases live; each rule has one folder.
const FOLDER: &str = "prompt-compiler/tests/golden";
const CASE: &str = "case.yaml";
const SNAPSHOT: &str = "prompt.snap";
const REMEDY: &str = "`cargo xtask golden` rewrites them; read the difference before you commit it";

/// Whether files may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Rewrite what differs and delete what is unused.
    Write,
    /// Change nothing and fail when anything would.
    Check,
}

/// What is wrong with the files under the golden folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Verdict {
    /// Snapshots that no test asked for.
    orphans: Vec<PathBuf>,
    /// Cases that no test ran.
    not_run: Vec<PathBuf>,
    /// Snapshots in use that have no case beside them.
    without_case: Vec<PathBuf>,
}

/// Runs the golden tests and judges the files that they leave.
pub(crate) fn run(mode: Mode) -> Outcome {
    let used = run_tests(mode)?;
    let folder = root().join(FOLDER);
    let mut files = BTreeSet::new();
    collect(&folder, &folder, &mut files)?;
    let mut verdict = judge(&files, &relative_to(&folder, &used));
    if mode == Mode::Write {
        refuse_to_delete_all(&files, &verdict)?;
        for orphan in verdict.orphans.drain(..) {
            fs::remove_file(folder.join(&orphan))?;
            println!("deleted {FOLDER}/{}", orphan.display());
        }
    }
    report(&verdict)?;
    println!("golden: {} cases, all current", count(&files, CASE));
    Ok(())
}

/// Runs the test target and returns the snapshots that it asked for.
fn run_tests(mode: Mode) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let name = format!("tekne-golden-references-{}", std::process::id());
    let references = std::env::temp_dir().join(name);
    let mut tests = cargo(&[
        "test",
        "--locked",
        "--quiet",
        "--package",
        "prompt-compiler",
        "--test",
        "golden",
    ]);
    tests.env("INSTA_SNAPSHOT_REFERENCES_FILE", &references);
    tests.env(
        "INSTA_UPDATE",
        if mode == Mode::Write { "always" } else { "no" },
    );
    tests.env_remove("INSTA_FORCE_PASS");
    let tested = succeed(&mut tests);
    let listed = fs::read_to_string(&references).unwrap_or_default();
    // Absent when no test ran; either way it is not needed any more.
    let _absent = fs::remove_file(&references);
    tested.map_err(|error| match mode {
        Mode::Write => error,
        Mode::Check => format!("{error}\nhint: where prompts differ, {REMEDY}").into(),
    })?;
    Ok(listed.lines().map(PathBuf::from).collect())
}

fn relative_to(folder: &Path, used: &[PathBuf]) -> BTreeSet<PathBuf> {
    let folder = real(folder);
    used.iter()
        .filter_map(|path| real(path).strip_prefix(&folder).ok().map(PathBuf::from))
        .collect()
}

/// The test names its snapshots by way of its own folder; links and `..` must not matter.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn collect(top: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> Outcome {
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(top, &path, files)?;
        } else {
            files.insert(path.strip_prefix(top)?.to_owned());
        }
    }
    Ok(())
}

fn judge(files: &BTreeSet<PathBuf>, used: &BTreeSet<PathBuf>) -> Verdict {
    let mut verdict = Verdict::default();
    for file in files {
        if file.file_name() == Some(OsStr::new(CASE)) {
            if !used.contains(&file.with_file_name(SNAPSHOT)) {
                verdict.not_run.push(file.clone());
            }
        } else if file.extension() == Some(OsStr::new("snap")) {
            if !used.contains(file) {
                verdict.orphans.push(file.clone());
            } else if !files.contains(&file.with_file_name(CASE)) {
                verdict.without_case.push(file.clone());
            }
        }
    }
    verdict
}

/// A test target that used no snapshot at all is broken; its word must not empty the folder.
fn refuse_to_delete_all(files: &BTreeSet<PathBuf>, verdict: &Verdict) -> Outcome {
    let snapshots = files
        .iter()
        .filter(|file| file.extension() == Some(OsStr::new("snap")))
        .count();
    if snapshots > 0 && verdict.orphans.len() == snapshots {
        return Err("the golden tests used no snapshot, so none is deleted; \
                    does prompt-compiler/tests/golden.rs run the cases?"
            .into());
    }
    Ok(())
}

fn report(verdict: &Verdict) -> Outcome {
    let lines = [
        (
            &verdict.orphans,
            "no test uses this snapshot; `cargo xtask golden` deletes it",
        ),
        (
            &verdict.not_run,
            "no test runs this case, or it has no prompt.snap; is it in the list \
                            of prompt-compiler/tests/golden.rs? then `cargo xtask golden` writes it",
        ),
        (
            &verdict.without_case,
            "this snapshot has no case.yaml beside it; write the case",
        ),
    ];
    let mut count = 0;
    for (paths, message) in lines {
        for path in paths {
            println!("{FOLDER}/{}:1: {message}", path.display());
            count += 1;
        }
    }
    if count == 0 {
        Ok(())
    } else {
        Err(format!("golden: {count} to mend").into())
    }
}

fn count(files: &BTreeSet<PathBuf>, name: &str) -> usize {
    files
        .iter()
        .filter(|file| file.file_name() == Some(OsStr::new(name)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_case_with_its_snapshot_in_use_is_fine() {
        let files = paths(&["order/case.yaml", "order/prompt.snap", "order/notes.md"]);
        assert_eq!(
            judge(&files, &paths(&["order/prompt.snap"])),
            Verdict::default()
        );
    }

    #[test]
    fn what_has_no_partner_or_no_user_is_named() {
        let files = paths(&[
            "gone/prompt.snap",
            "new/case.yaml",
            "stale/case.yaml",
            "stale/old.snap",
            "stale/prompt.snap",
            "bare/prompt.snap",
        ]);
        let used = paths(&["stale/prompt.snap", "bare/prompt.snap"]);
        assert_eq!(
            judge(&files, &used),
            Verdict {
                orphans: vec!["gone/prompt.snap".into(), "stale/old.snap".into()],
                not_run: vec!["new/case.yaml".into()],
                without_case: vec!["bare/prompt.snap".into()],
            }
        );
    }

    #[test]
    fn a_run_that_used_nothing_deletes_nothing() {
        let files = paths(&["a/case.yaml", "a/prompt.snap"]);
        let verdict = judge(&files, &BTreeSet::new());
        assert!(refuse_to_delete_all(&files, &verdict).is_err());
        let files = paths(&["a/case.yaml", "a/prompt.snap", "b/prompt.snap"]);
        let verdict = judge(&files, &paths(&["a/prompt.snap"]));
        assert!(refuse_to_delete_all(&files, &verdict).is_ok());
    }
}
