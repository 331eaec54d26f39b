//! Mentions: files, folders and lines that the user names with `@` in a task.

use async_trait::async_trait;
use prompt_compiler::{ContextFragment, FragmentKind};

use super::reader::{ContextReader, Found};
use super::words::is_cjk;
use super::{ContextError, ContextQuery, ContextSource, Gathered};

/// How many mentions of a task are taken.
const MOST: usize = 32;

/// Brings what a task mentions: `@notes/week.md`, `@notes/`, `@src/main.rs:10-20`, `@"a name.md"`.
#[derive(Clone, Debug)]
pub struct Mentions {
    reader: ContextReader,
}

impl Mentions {
    /// Returns the source over what `reader` reads.
    pub fn new(reader: ContextReader) -> Self {
        Self { reader }
    }
}

/// What a task mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mention {
    path: String,
    lines: Option<(usize, usize)>,
}

#[async_trait]
impl ContextSource for Mentions {
    fn name(&self) -> &str {
        "mentions"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        let mut gathered = Gathered::default();
        for mention in mentions(&query.text) {
            match self.reader.read(&mention.path).await {
                Ok(found) => gathered.fragments.push(fragment(&mention, found)),
                Err(error) => gathered.notices.push(format!(
                    "`@{}` is not in the request: {error}",
                    mention.path
                )),
            }
        }
        Ok(gathered)
    }
}

fn fragment(mention: &Mention, found: Found) -> ContextFragment {
    let path = &mention.path;
    let (name, text) = match (found, mention.lines) {
        (Found::Folder(names), _) => (format!("folder {path}"), names.join("\n")),
        (Found::Text(text, _), None) => (format!("file {path}"), text),
        (Found::Text(text, _), Some((first, last))) => {
            let lines: Vec<&str> = text
                .lines()
                .skip(first - 1)
                .take(last.saturating_sub(first) + 1)
                .collect();
            (
                format!("file {path}, lines {first} to {last}"),
                lines.join("\n"),
            )
        }
    };
    ContextFragment {
        provenance: path.clone(),
        ..ContextFragment::new(FragmentKind::Mention, name, text)
    }
}

/// Returns what `text` mentions, in order, each once.
///
/// A mention begins where a word does and ends at a blank, or at the closing quote; punctuation at
/// the end of a sentence is no part of it. What looks like an address of a person is none.
fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let begins = text
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|before| {
                is_cjk(before) || !(before.is_alphanumeric() || "._-/@".contains(before))
            });
        let rest = text.get(at + 1..).unwrap_or_default();
        if let Some(mention) = read(rest).filter(|_| begins)
            && !found.contains(&mention)
            && found.len() < MOST
        {
            found.push(mention);
        }
    }
    found
}

fn read(rest: &str) -> Option<Mention> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (path, _) = quoted.split_once('"')?;
        return (!path.is_empty()).then(|| Mention {
            path: path.to_owned(),
            lines: None,
        });
    }
    let word = rest.split(char::is_whitespace).next()?;
    let ended = |letter: char| ",;:!?)]}>\"'`。，；：！？）】》".contains(letter) || letter == '.';
    let word = word.trim_end_matches(ended);
    // Without a mark of a path, `@name` may be anybody.
    if !word.contains(['/', '.']) {
        return None;
    }
    Some(with_lines(word).unwrap_or_else(|| Mention {
        path: word.to_owned(),
        lines: None,
    }))
}

/// Reads `PATH:FIRST` and `PATH:FIRST-LAST`.
fn with_lines(word: &str) -> Option<Mention> {
    let (path, lines) = word.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first > 0 && first <= last && !path.is_empty()).then(|| Mention {
        path: path.to_owned(),
        lines: Some((first, last)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let shown = |mention: Mention| match mention.lines {
            Some((first, last)) => format!("{}:{first}-{last}", mention.path),
            None => mention.path,
        };
        mentions(text).into_iter().map(shown).collect()
    }

    #[test]
    fn files_folders_lines_and_names_with_blanks_are_mentioned() {
        assert_eq!(
            found("compare @notes/week.md with @notes/ and @src/a.rs:3-5, (@b.md:7) @\"a b.md\"."),
            [
                "notes/week.md",
                "notes/",
                "src/a.rs:3-5",
                "b.md:7-7",
                "a b.md"
            ]
        );
        assert_eq!(found("看看@notes/week.md。"), ["notes/week.md"]);
    }

    #[test]
    fn addresses_of_people_names_and_what_was_mentioned_already_are_none() {
        assert_eq!(
            found("write to ines@example.org and @ines"),
            Vec::<String>::new()
        );
        assert_eq!(found("@a.md @a.md"), ["a.md"]);
        assert_eq!(found("@ \"x\" @\"\" a@b/c.md"), Vec::<String>::new());
    }

    #[test]
    fn lines_that_are_none_are_part_of_the_name() {
        assert_eq!(
            found("@a.md:0 @b.md:5-3 @c.md:x"),
            ["a.md:0", "b.md:5-3", "c.md:x"]
        );
    }

    #[test]
    fn of_a_file_only_the_lines_mentioned_are_shown() {
        let mention = Mention {
            path: "a.md".into(),
            lines: Some((2, 3)),
        };
        let text = Found::Text("one\ntwo\nthree\nfour\n".into(), false);
        let fragment = fragment(&mention, text);
        assert_eq!(fragment.text, "two\nthree");
        assert_eq!(fragment.name, "file a.md, lines 2 to 3");
    }
}
