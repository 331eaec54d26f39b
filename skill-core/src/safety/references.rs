//! Files that a body refers to, for finding those that are missing.

/// Folders of a package that its text refers into.
const FOLDERS: &[&str] = &["scripts/", "references/", "assets/"];
/// What stands for the folder of the skill.
const HERE: &[&str] = &[
    "./",
    "{baseDir}/",
    "${CLAUDE_SKILL_DIR}/",
    "$CLAUDE_SKILL_DIR/",
];

/// How many files a body refers to at most.
const MOST: usize = 256;

/// Returns the files below its own folder that `body` refers to, each once, with the line of the
/// body it stands on, counted from 1.
///
/// Links of Markdown and paths into `scripts`, `references` and `assets` are references; anything
/// with a scheme, a place for a name or a wildcard in it is none.
pub fn references(body: &str) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut in_code = false;
    for (line, number) in body.lines().zip(1u32..) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let links = links(line).filter(|_| !in_code);
        for path in links.chain(paths(line)) {
            if found.len() >= MOST {
                return found;
            }
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, number));
            }
        }
    }
    found
}

/// Returns the targets of the links on a line.
fn links(line: &str) -> impl Iterator<Item = String> {
    let targets = line.split("](").skip(1);
    targets.filter_map(|rest| {
        let target = rest.split([')', ' ', '#', '?']).next()?;
        clean(target).filter(|path| path.contains('.') && !path.contains(':'))
    })
}

/// Returns the paths on a line that lead into a folder of the package.
fn paths(line: &str) -> impl Iterator<Item = String> {
    let ends = |letter: char| letter.is_whitespace() || "`\"'()[]<>,;|*=#?".contains(letter);
    line.split(ends).filter_map(|word| {
        let path = clean(word.trim_end_matches(['.', ':', '!', '?', '，', '。']))?;
        let folder = FOLDERS
            .iter()
            .any(|folder| path.len() > folder.len() && path.starts_with(folder));
        let file = path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.contains('.'));
        (folder && file).then_some(path)
    })
}

/// Returns a path below the folder of the skill, or nothing for what cannot be one.
fn clean(word: &str) -> Option<String> {
    let path = HERE
        .iter()
        .find_map(|here| word.strip_prefix(here))
        .unwrap_or(word);
    let odd = path.is_empty()
        || path.starts_with(['/', '#', '~'])
        || path.contains(['{', '}', '$', '*', '<', '>', '\\', '%', '…'])
        || path.split('/').any(|part| part == "..");
    (!odd).then(|| path.to_owned())
}
