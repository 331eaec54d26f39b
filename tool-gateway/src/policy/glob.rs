//! Patterns of names and paths: `*`, `?`, `**`, and `\` to take the next character as it is.

use unicode_normalization::UnicodeNormalization as _;

use crate::escape::is_invisible;

/// A pattern that names itself badly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GlobError {
    /// Where in the pattern, in characters from 0.
    pub(super) at: usize,
    pub(super) message: String,
}

/// A pattern of one name, in which `*` is any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    AnyChar,
    AnyText,
}

impl Glob {
    /// Reads a pattern; classes and alternatives are refused, since taking them literally would
    /// make a deny rule match less than its author meant.
    pub(super) fn parse(pattern: &str) -> Result<Self, GlobError> {
        let mut tokens = Vec::new();
        let mut chars = pattern.chars().enumerate();
        while let Some((at, c)) = chars.next() {
            tokens.push(match c {
                '*' => Token::AnyText,
                '?' => Token::AnyChar,
                '[' | '{' => {
                    let message =
                        format!("`{c}` is not a wildcard here; write `\\{c}` for the character");
                    return Err(GlobError { at, message });
                }
                '\\' => match chars.next() {
                    Some((_, escaped)) => Token::Char(escaped),
                    None => {
                        return Err(GlobError {
                            at,
                            message: "nothing follows `\\`".to_owned(),
                        });
                    }
                },
                c => Token::Char(c),
            });
        }
        Ok(Self { tokens })
    }

    /// Tells whether the pattern matches one text only.
    pub(super) fn is_literal(&self) -> bool {
        self.tokens
            .iter()
            .all(|token| matches!(token, Token::Char(_)))
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        matches_tokens(&self.tokens, &text)
    }

    /// Returns the pattern in lower case.
    pub(super) fn lowercase(&self) -> Self {
        self.map_literals(|text| text.to_lowercase())
    }

    /// Returns the pattern folded as [`fold`] folds a name; what stands between wildcards is not
    /// the end of a name, so nothing is trimmed there.
    fn folded(&self) -> Self {
        if self.is_literal() {
            self.map_literals(fold)
        } else {
            self.map_literals(fold_characters)
        }
    }

    /// Maps each run of characters between wildcards.
    fn map_literals(&self, map: impl Fn(&str) -> String) -> Self {
        let mut tokens = Vec::new();
        let mut literal = String::new();
        for token in &self.tokens {
            match token {
                Token::Char(c) => literal.push(*c),
                wildcard => {
                    tokens.extend(map(&literal).chars().map(Token::Char));
                    literal.clear();
                    tokens.push(*wildcard);
                }
            }
        }
        tokens.extend(map(&literal).chars().map(Token::Char));
        Self { tokens }
    }
}

/// Matches with one point of return: the last `any`, which takes one item more each time. That is
/// enough, since between two of them stands a run of a fixed length.
fn matches_items<P, T>(
    pattern: &[P],
    items: &[T],
    any: impl Fn(&P) -> bool,
    one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut position, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(item) = items.get(at) {
        match pattern.get(position) {
            Some(wanted) if any(wanted) => {
                retry = Some((position, at));
                position += 1;
            }
            Some(wanted) if one(wanted, item) => (position, at) = (position + 1, at + 1),
            _ => {
                let Some((star, from)) = retry else {
                    return false;
                };
                retry = Some((star, from + 1));
                (position, at) = (star + 1, from + 1);
            }
        }
    }
    pattern.iter().skip(position).all(any)
}

fn matches_tokens(tokens: &[Token], text: &[char]) -> bool {
    let any = |token: &Token| *token == Token::AnyText;
    matches_items(tokens, text, any, |token, c| match token {
        Token::AnyText => false,
        Token::AnyChar => true,
        Token::Char(wanted) => wanted == c,
    })
}

/// A pattern of a relative path: segments, and `**` for any number of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathGlob {
    exact: Vec<Segment>,
    folded: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    AnyDepth,
    Name(Glob),
}

impl PathGlob {
    pub(super) fn parse(pattern: &str) -> Result<Self, GlobError> {
        let mut exact = Vec::new();
        let mut at = 0;
        if pattern.starts_with('/') {
            let message =
                "paths are relative to the workspace root; drop the leading `/`".to_owned();
            return Err(GlobError { at, message });
        }
        for segment in pattern.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    let message = "`..` does not stay below the workspace root".to_owned();
                    return Err(GlobError { at, message });
                }
                "**" => exact.push(Segment::AnyDepth),
                name => exact.push(Segment::Name(Glob::parse(name).map_err(|error| {
                    GlobError {
                        at: at + error.at,
                        ..error
                    }
                })?)),
            }
            at += segment.chars().count() + 1;
        }
        let mut folded: Vec<Segment> = exact
            .iter()
            .map(|segment| match segment {
                Segment::AnyDepth => Segment::AnyDepth,
                Segment::Name(glob) => Segment::Name(glob.folded()),
            })
            .collect();
        // Who names a folder means what is in it, with a slash behind it or without.
        let names_one = matches!(exact.last(), Some(Segment::Name(glob)) if glob.is_literal());
        if names_one || pattern.ends_with('/') {
            folded.push(Segment::AnyDepth);
        }
        Ok(Self { exact, folded })
    }

    /// Tells whether the pattern matches one path only.
    pub(super) fn is_literal(&self) -> bool {
        self.exact
            .iter()
            .all(|segment| matches!(segment, Segment::Name(glob) if glob.is_literal()))
    }

    /// Tells whether the pattern matches exactly this path.
    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = segments(path).collect();
        matches_segments(&self.exact, &names)
    }

    /// Tells whether the pattern matches the path, or a folder above it that it names, on a file
    /// system that folds names.
    pub(super) fn matches_folded(&self, path: &str) -> bool {
        let names: Vec<String> = segments(path).map(fold).collect();
        matches_segments(&self.folded, &names)
    }
}

/// Returns the names of a normalised relative path; the root has none.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|name| !name.is_empty() && *name != ".")
}

fn matches_segments<S: AsRef<str>>(pattern: &[Segment], names: &[S]) -> bool {
    let any = |segment: &Segment| *segment == Segment::AnyDepth;
    matches_items(pattern, names, any, |segment, name| match segment {
        Segment::AnyDepth => false,
        Segment::Name(glob) => glob.matches(name.as_ref()),
    })
}

/// Folds a file name as the most forgiving file systems do: case, composition, invisible
/// characters, trailing dots and spaces, and what follows a `:`.
pub(super) fn fold(name: &str) -> String {
    let folded = fold_characters(name);
    let stream = folded.split(':').next().unwrap_or_default();
    let trimmed = stream.trim_end_matches(['.', ' ']);
    // A name of dots and spaces alone would fold to nothing.
    if trimmed.is_empty() {
        folded
    } else {
        trimmed.to_owned()
    }
}

fn fold_characters(text: &str) -> String {
    text.nfc()
        .flat_map(char::to_lowercase)
        .nfc()
        .filter(|c| !is_invisible(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_pattern_matches_by_whole_segments() {
        let matches = |pattern: &str, path: &str| PathGlob::parse(pattern).unwrap().matches(path);
        for (pattern, path) in [
            ("**", "."),
            ("**", "a"),
            ("**", "a/b/c"),
            ("notes/**", "notes"),
            ("notes/**", "notes/a/b"),
            ("*.md", "a.md"),
            ("**/*.md", "a.md"),
            ("**/*.md", "x/y/a.md"),
            ("a/**/z", "a/z"),
            ("a/**/z", "a/b/c/z"),
            ("a?c", "abc"),
            (r"\[id\].ts", "[id].ts"),
            ("notes/", "notes"),
        ] {
            assert!(matches(pattern, path), "{pattern} should match {path}");
        }
        for (pattern, path) in [
            ("notes/**", "notes-evil/a"),
            ("*.md", "x/a.md"),
            ("*", "a/b"),
            ("a?c", "a/c"),
            ("notes", "notes/a"),
            ("a/**/z", "a/b"),
            ("A", "a"),
        ] {
            assert!(!matches(pattern, path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn folding_sees_through_spellings_of_one_name() {
        let folded =
            |pattern: &str, path: &str| PathGlob::parse(pattern).unwrap().matches_folded(path);
        for path in [
            "Secret/x",
            "SECRET./x",
            "secret /x",
            "se\u{200b}cret/x",
            "se\u{ad}cret/x",
            "sec\u{e0041}ret/x",
            "secret::$INDEX_ALLOCATION/x",
        ] {
            assert!(folded("secret/**", path), "{path}");
        }
        assert!(folded("caf\u{e9}/**", "cafe\u{301}/x"));
        assert!(!folded("secret/**", "secrets/x"));
    }

    #[test]
    fn a_folder_named_with_or_without_a_slash_means_what_is_in_it() {
        let folded =
            |pattern: &str, path: &str| PathGlob::parse(pattern).unwrap().matches_folded(path);
        for pattern in ["secret", "secret/", "**/secret", "secret/**", "*cret/"] {
            assert!(folded(pattern, "secret"), "{pattern}");
            assert!(folded(pattern, "secret/a/b"), "{pattern}");
            assert!(!folded(pattern, "secrets/a"), "{pattern}");
        }
        assert!(!folded("*.pem", "x.pem/a"));
        assert!(!PathGlob::parse("secret").unwrap().matches("secret/a"));
    }

    #[test]
    fn a_pattern_that_would_match_less_than_it_says_is_refused() {
        for (pattern, at) in [
            ("a/[bc]", 2),
            ("{a,b}", 0),
            ("a/../b", 2),
            ("/etc", 0),
            ("a\\", 1),
        ] {
            assert_eq!(PathGlob::parse(pattern).unwrap_err().at, at, "{pattern}");
        }
    }

    #[test]
    fn many_stars_do_not_take_long() {
        let glob = Glob::parse(&"*a".repeat(30)).unwrap();
        assert!(!glob.matches(&"a".repeat(29)));
        assert!(glob.matches(&"a".repeat(5000)));
        let deep = "a/".repeat(2000);
        let glob = PathGlob::parse(&format!("{}**/b", "**/a/".repeat(30))).unwrap();
        assert!(!glob.matches(&deep));
        assert!(glob.matches(&format!("{deep}b")));
    }
}
