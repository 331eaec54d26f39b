//! Paths with blanks in them: only backticks or quotes tell where one begins and ends.

use crate::offline::files::has_known_ending;

/// Programs that take paths: what begins with one is a command, not a name.
const PROGRAMS: &[&str] = &[
    "bash", "cargo", "cat", "cd", "code", "cp", "curl", "diff", "echo", "git", "go", "grep",
    "head", "less", "ls", "make", "mkdir", "mv", "node", "npm", "npx", "open", "pip", "python",
    "python3", "rm", "run", "sed", "sh", "tail", "touch", "vim", "wget",
];

/// Returns the paths with blanks that stand in backticks or quotes, each with where it begins.
pub(super) fn paths(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((begin, mark)) = next_mark(text, from) {
        let inside = text.get(begin..).unwrap_or_default();
        // A mark that is not closed on its line was none.
        let line = inside.split('\n').next().unwrap_or_default();
        let Some(length) = line.find(mark) else {
            from = begin;
            continue;
        };
        let span = line.get(..length).unwrap_or_default();
        // Backticks are for code; quotes are for speech too, so a folder in front has to tell.
        let has_folder = span
            .split(' ')
            .next()
            .is_some_and(|first| first.contains('/'));
        if (mark == '`' || has_folder) && is_path(span) {
            found.push((begin, span));
        }
        from = begin + length + mark.len_utf8();
    }
    found
}

/// Returns the next mark at or behind `from`, and where what it opens begins.
fn next_mark(text: &str, from: usize) -> Option<(usize, char)> {
    let rest = text.get(from..)?;
    let (at, mark) = rest.char_indices().find(|(_, c)| matches!(c, '`' | '"'))?;
    Some((from + at + mark.len_utf8(), mark))
}

/// Tells whether a text with blanks is one path: it ends as a file does and says nothing else.
fn is_path(span: &str) -> bool {
    let words: Vec<&str> = span.split(' ').collect();
    let [first, between @ .., _] = words.as_slice() else {
        return false;
    };
    let ends_before = [first]
        .into_iter()
        .chain(between)
        .any(|word| has_known_ending(word));
    let is_option = words
        .iter()
        .any(|word| word.starts_with('-') && word.len() > 1);
    let is_prose = !first.contains('/') && between.iter().any(|word| CONNECTING.contains(word));
    let odd = |c: char| c.is_control() || "<>|*?;$=:\\".contains(c);
    let is_command = is_option || PROGRAMS.contains(first);
    let is_odd = words.contains(&"") || span.contains(odd);
    has_known_ending(span) && !(ends_before || is_command || is_prose || is_odd)
}

/// Words that stand between others in a sentence, and seldom in the name of a file.
const CONNECTING: &[&str] = &["and", "at", "from", "in", "into", "is", "of", "the", "with"];
