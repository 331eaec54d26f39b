//! The files that a turn is about: skills for certain files are the model's while one of these is
//! among them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use llm_providers::named_files;
use loop_runtime::{JournalEvent, SessionStore, TurnRequest};
use skill_core::project_root;

use crate::environment::Environment;
use crate::roots;

/// Returns the files that the task of `request` and the tasks before it in its session name,
/// relative to the project, in the order of their paths.
pub(crate) async fn worked_on(
    environment: &Environment,
    store: &dyn SessionStore,
    request: &TurnRequest,
) -> Vec<String> {
    let mut texts = vec![request.input.joined_text()];
    if let Some(session) = &request.session
        // A session that cannot be read is told about when it is resumed.
        && let Ok(record) = store.load(session).await
    {
        texts.extend(
            record
                .entries
                .iter()
                .filter_map(|entry| match &entry.event {
                    JournalEvent::TurnStarted { input, .. } => Some(input.joined_text()),
                    _ => None,
                }),
        );
    }
    let texts = texts.iter().map(String::as_str);
    files_of(environment, texts, request.file.as_deref())
}

/// Returns the files that texts name and the one that is open, relative to the project, in the
/// order of their paths.
pub(crate) fn files_of<'t>(
    environment: &Environment,
    texts: impl IntoIterator<Item = &'t str>,
    open: Option<&str>,
) -> Vec<String> {
    let top = project_root(&roots::places(environment)).unwrap_or_else(|| environment.cwd.clone());
    let named: BTreeSet<String> = texts
        .into_iter()
        .flat_map(|text| named(text, &environment.cwd))
        .chain(open.map(str::to_owned))
        .filter_map(|file| below(&top, &environment.cwd.join(file)))
        .collect();
    named.into_iter().collect()
}

/// How much of a text is searched for names; what is longer is material, not a task.
const SEARCHED: usize = 64 * 1024;

/// Returns the files that a text names: by the look of their names, or because they are there.
fn named(text: &str, cwd: &Path) -> Vec<String> {
    let end = (0..=SEARCHED.min(text.len())).rfind(|at| text.is_char_boundary(*at));
    let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
    let mut files = named_files(text);
    let around = |letter: char| letter.is_ascii_punctuation() && !"_./~-".contains(letter);
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(around));
    let there = words.map(|word| word.trim_end_matches('.'));
    let there = there.filter(|word| !word.is_empty() && cwd.join(word).is_file());
    files.extend(there.map(str::to_owned));
    files
}

/// Returns the path below `top`, with `/` between its parts; nothing is looked up.
fn below(top: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    let below = plain.strip_prefix(top).ok()?;
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    parts
        .map(|parts| parts.join("/"))
        .filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_top_of_the_project_and_never_from_outside() {
        let below = |path: &str| below(Path::new("/p"), &Path::new("/p/sub").join(path));
        assert_eq!(below("a.rs").as_deref(), Some("sub/a.rs"));
        assert_eq!(below("./x/../a.rs").as_deref(), Some("sub/a.rs"));
        assert_eq!(below("../src/a.rs").as_deref(), Some("src/a.rs"));
        for outside in ["../../a.rs", "/etc/passwd", ".."] {
            assert_eq!(below(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_file_without_an_ending_is_named_where_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Makefile"), "").unwrap();
        let named = |text: &str| named(text, folder.path());
        assert_eq!(named("Mend the Makefile."), ["Makefile"]);
        assert_eq!(named("what about (Makefile), `Dockerfile`?"), ["Makefile"]);
        assert_eq!(named("see src/new.rs"), ["src/new.rs"]);
        // What is piped in behind a task costs nothing.
        let long = format!("see a.rs {} b.rs", "周 ".repeat(SEARCHED));
        assert_eq!(named(&long), ["a.rs"]);
    }
}
