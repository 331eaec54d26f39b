//! Globs over names and paths: `*`, `?`, `**`, `[a-z]`, `{a,b}`; bounded in time and in expansions.

/// The longest glob, in bytes; a longer one was made to cost time.
const LONGEST: usize = 1_024;

/// How many patterns the braces of one list may expand to.
const MOST_PATTERNS: usize = 256;

/// What a star may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Names: any letters.
    Names,
    /// Paths: letters within one folder; only `**` goes on into the next.
    Paths,
}

/// A list of globs of which one has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Globs {
    patterns: Vec<Pattern>,
}

impl Globs {
    /// Reads `globs`; `None` where their braces expand to more patterns than are allowed.
    pub(crate) fn new<'a>(globs: impl IntoIterator<Item = &'a str>, over: Over) -> Option<Self> {
        let mut texts = Vec::new();
        for glob in globs {
            expand(glob, &mut texts)?;
        }
        let patterns = texts.iter().map(|text| Pattern::new(text, over)).collect();
        Some(Self { patterns })
    }

    /// Tells whether there is no glob in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Tells whether one of them matches all of `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(text))
    }
}

/// Returns what is wrong with a glob over names that cannot be meant as it is written: it is empty,
/// one of its brackets or braces does not end, or it spells more patterns than are allowed.
///
/// Matching takes such brackets for letters; whoever reads settings says so first.
pub fn glob_problem(glob: &str) -> Option<&'static str> {
    if glob.trim().is_empty() {
        return Some("is empty and names nothing");
    }
    let mut texts = Vec::new();
    if expand(glob, &mut texts).is_none() {
        return Some("is too long, or its braces spell too many patterns");
    }
    if texts.iter().any(|text| has_open_bracket(text)) {
        return Some("has a `[` without its `]`");
    }
    let has_open_brace = texts.iter().any(|text| text.contains('{'));
    has_open_brace.then_some("has a `{` without its `}`")
}

fn has_open_bracket(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, from)) = rest.find('[').and_then(|at| rest.split_at_checked(at)) {
        match class(from) {
            Some((_, after)) => rest = after,
            None => return true,
        }
    }
    false
}

/// Adds the patterns that the braces of `glob` spell; `None` once there are too many.
fn expand(glob: &str, patterns: &mut Vec<String>) -> Option<()> {
    if glob.len() > LONGEST {
        return None;
    }
    let mut waiting = vec![glob.to_owned()];
    while let Some(glob) = waiting.pop() {
        match braces(&glob) {
            None => patterns.push(glob),
            Some((before, choices, after)) => {
                let spelled = choices.iter().rev();
                waiting.extend(spelled.map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if waiting.len() + patterns.len() > MOST_PATTERNS {
            return None;
        }
    }
    Some(())
}

/// Returns the first group of braces of `glob`, cut at its commas, and what stands around it.
fn braces(glob: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = glob.find('{')?;
    let (mut depth, mut start, mut choices) = (0usize, open + 1, Vec::new());
    for (at, letter) in glob.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => {
                choices.push(glob.get(start..at)?);
                return Some((glob.get(..open)?, choices, glob.get(at + 1..)?));
            }
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => {
                choices.push(glob.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    tokens: Vec<Token>,
    /// It names no folder, so that it is held against the last part of a path too.
    is_leaf: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Letter(char),
    /// One letter within a folder.
    Any,
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    /// Any letters within a folder.
    Star,
    /// Any letters at all.
    Everything,
    /// Whole folders, or nothing: the start of it, which may be passed over, and its inside.
    Folders,
    Inside,
}

impl Pattern {
    fn new(text: &str, over: Over) -> Self {
        let text = match over {
            Over::Names => text,
            Over::Paths => text.trim_start_matches("./").trim_start_matches('/'),
        };
        Self {
            tokens: tokens(text, over),
            is_leaf: over == Over::Paths && !text.contains('/'),
        }
    }

    fn matches(&self, text: &str) -> bool {
        let leaf = || text.rsplit('/').next().unwrap_or(text);
        self.matches_all(text) || (self.is_leaf && self.matches_all(leaf()))
    }

    /// Follows every way through the pattern at once: time is letters times tokens at most.
    fn matches_all(&self, text: &str) -> bool {
        let mut at = vec![false; self.tokens.len() + 1];
        self.reach(&mut at, 0);
        for letter in text.chars() {
            let mut next = vec![false; at.len()];
            for (place, token) in self.tokens.iter().enumerate() {
                if at.get(place).copied().unwrap_or(false) {
                    self.step(&mut next, place, token, letter);
                }
            }
            at = next;
        }
        at.last().copied().unwrap_or(false)
    }

    fn step(&self, next: &mut [bool], place: usize, token: &Token, letter: char) {
        match token {
            Token::Letter(own) if *own == letter => self.reach(next, place + 1),
            Token::Any if letter != '/' => self.reach(next, place + 1),
            Token::Class { ranges, negated } => {
                let within = ranges
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&letter));
                if within != *negated && letter != '/' {
                    self.reach(next, place + 1);
                }
            }
            Token::Star if letter != '/' => self.reach(next, place),
            Token::Everything => self.reach(next, place),
            Token::Inside => {
                self.reach(next, place);
                if letter == '/' {
                    self.reach(next, place + 1);
                }
            }
            _ => {}
        }
    }

    /// Marks `place` and every place that is reached from it without a letter.
    fn reach(&self, at: &mut [bool], place: usize) {
        let mut place = place;
        loop {
            if let Some(mark) = at.get_mut(place) {
                *mark = true;
            }
            match self.tokens.get(place) {
                Some(Token::Star | Token::Everything) => place += 1,
                Some(Token::Folders) => {
                    if let Some(inside) = at.get_mut(place + 1) {
                        *inside = true;
                    }
                    place += 2;
                }
                _ => return,
            }
        }
    }
}

fn tokens(text: &str, over: Over) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let at_folder = rest.len() == text.len()
            || text
                .get(..text.len() - rest.len())
                .is_some_and(|before| before.ends_with('/'));
        if let Some(after) = rest.strip_prefix("**/").filter(|_| at_folder) {
            tokens.extend([Token::Folders, Token::Inside]);
            rest = after;
            continue;
        }
        if letter == '*' {
            let after = rest.trim_start_matches('*');
            let several = rest.len() - after.len() > 1 || over == Over::Names;
            tokens.push(if several {
                Token::Everything
            } else {
                Token::Star
            });
            rest = after;
            continue;
        }
        if let Some((class, after)) = class(rest) {
            tokens.push(class);
            rest = after;
            continue;
        }
        tokens.push(match letter {
            '?' => Token::Any,
            other => Token::Letter(other),
        });
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    tokens
}

/// Returns the class in brackets that `text` begins with, and what follows it.
fn class(text: &str) -> Option<(Token, &str)> {
    let inner = text.strip_prefix('[')?;
    let (negated, inner) = match inner.strip_prefix(['!', '^']) {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let (letters, after) = inner
        .split_once(']')
        .filter(|(letters, _)| !letters.is_empty())?;
    let letters: Vec<char> = letters.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = letters.as_slice();
    loop {
        rest = match rest {
            [from, '-', to, rest @ ..] => {
                ranges.push((*from, *to));
                rest
            }
            [one, rest @ ..] => {
                ranges.push((*one, *one));
                rest
            }
            [] => return Some((Token::Class { ranges, negated }, after)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(over: Over, glob: &str, text: &str) -> bool {
        Globs::new([glob], over)
            .expect("few patterns")
            .matches(text)
    }

    #[test]
    fn a_star_over_paths_stays_in_its_folder() {
        let check = |glob, yes: &[&str], no: &[&str]| {
            for path in yes {
                assert!(matches(Over::Paths, glob, path), "{glob} {path}");
            }
            for path in no {
                assert!(!matches(Over::Paths, glob, path), "{glob} {path}");
            }
        };
        check(
            "src/*.rs",
            &["src/a.rs", "src/.rs"],
            &["src/a/b.rs", "a/src/a.rs", "src/a.r"],
        );
        check(
            "src/**/*.rs",
            &["src/a.rs", "src/a/b/c.rs"],
            &["src.rs", "srcx/a.rs"],
        );
        check(
            "**/test/**",
            &["test/a", "a/test/b/c"],
            &["test", "a/testb/c"],
        );
        check("*.{ts,tsx}", &["a.ts", "deep/in/a.tsx"], &["a.t", "a.ts/x"]);
        check("**/*", &["a", "a/b"], &[]);
        check(
            "./docs/[a-c]?.md",
            &["docs/ab.md"],
            &["docs/db.md", "docs/a.md"],
        );
        check("[!a].md", &["b.md"], &["a.md"]);
        check("文档/*", &["文档/说明.md"], &["文/说明.md"]);
    }

    #[test]
    fn a_star_over_names_is_any_text() {
        assert!(matches(Over::Names, "vendor-*", "vendor-a/b"));
        assert!(matches(Over::Names, "project/*", "project/pdf"));
        assert!(!matches(Over::Names, "vendor-*", "my-vendor-a"));
        assert!(matches(Over::Names, "{a,b{1,2}}", "b2"));
        assert!(matches(Over::Names, "odd{", "odd{"));
    }

    #[test]
    fn a_glob_that_cannot_be_meant_is_told() {
        for wrong in ["", " ", "[a", "a[]", "[a][b", "{a", "a{b,c", "{a,[b}"] {
            assert!(glob_problem(wrong).is_some(), "{wrong}");
        }
        assert!(glob_problem(&"{a,b}".repeat(9)).is_some());
        for right in [
            "a",
            "*",
            "[a]",
            "[!a-c]*",
            "{a,b}",
            "project/*",
            "周报?",
            "a]",
            "a}",
        ] {
            assert_eq!(glob_problem(right), None, "{right}");
        }
    }

    #[test]
    fn braces_without_end_are_refused_and_stars_without_end_are_cheap() {
        let bomb = "{a,b}".repeat(9);
        assert_eq!(Globs::new([bomb.as_str()], Over::Paths), None);
        let wide = format!("{{{}}}", ["a"; 257].join(","));
        assert_eq!(Globs::new([wide.as_str()], Over::Paths), None);
        assert_eq!(Globs::new(["x".repeat(2_000).as_str()], Over::Paths), None);
        let stars = "*a".repeat(200);
        assert!(!matches(Over::Names, &stars, &"a".repeat(190)));
    }
}
